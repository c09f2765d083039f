// Binds CompiledContacts: the Python layer passes frames and numbers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/tree.hpp"
#include "tree/compiled_contacts.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

using Ints = Rows<std::int32_t>;

void make_contacts(CompiledContacts* self, const CompiledTree& tree, Ints link,
                   Rows<double, 3, 3> rotation, Rows<double, 3> translation, Ints other_link,
                   Rows<double, 3, 3> other_rotation, Rows<double, 3> other_translation, Ints rows,
                   Ints hinge, Ints mixed, Ints spatial, Rows<double> kp, Rows<double> kd,
                   Ints positions, Ints loop) {
    const std::size_t n = link.shape(0);
    for (std::size_t size :
         {rotation.shape(0), translation.shape(0), other_link.shape(0), other_rotation.shape(0),
          other_translation.shape(0), rows.shape(0), hinge.shape(0), mixed.shape(0),
          spatial.shape(0), kp.shape(0), kd.shape(0), positions.shape(0), loop.shape(0)})
        if (size != n) throw nb::value_error("Contacts: arrays of different lengths");
    std::vector<ContactDescription> contacts(n);
    for (std::size_t k = 0; k < n; ++k)
        contacts[k] = {
            {link.data()[k], row<9>(rotation, k), row<3>(translation, k)},
            {other_link.data()[k], row<9>(other_rotation, k), row<3>(other_translation, k)},
            rows.data()[k],
            hinge.data()[k],
            mixed.data()[k] ? Axes::mixed : Axes::body,
            spatial.data()[k] != 0,
            kp.data()[k],
            kd.data()[k],
            positions.data()[k] != 0,
            loop.data()[k] != 0};
    interruptible([&] { new (self) CompiledContacts(tree, contacts); });
}

}  // namespace

void define_contacts(nb::module_& m) {
    nb::class_<CompiledContacts>(m, "Contacts")
        .def("__init__", &make_contacts, nb::keep_alive<1, 2>(), nb::arg("tree"), nb::arg("link"),
             nb::arg("rotation"), nb::arg("translation"), nb::arg("other_link"),
             nb::arg("other_rotation"), nb::arg("other_translation"), nb::arg("rows"),
             nb::arg("hinge"), nb::arg("mixed"), nb::arg("spatial"), nb::arg("kp"), nb::arg("kd"),
             nb::arg("positions"), nb::arg("loop"));
}

}  // namespace dtau
