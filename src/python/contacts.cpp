// Binds CompiledContacts: reads the contacts of Python's classes, and checks them.
#include <climits>
#include <string>
#include <typeinfo>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include "call/contacts.hpp"
#include "python/bindings.hpp"
#include "python/call.hpp"
#include "python/lock.hpp"
#include "python/messages.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

template <class X> X attribute(nb::handle object, const char* name) {
    return nb::cast<X>(object.attr(name));
}

// The attributes that all kinds have.
template <class Kind> Kind begun(nb::handle given) {
    Kind contact;
    contact.axes = attribute<std::string>(given, "axes");
    contact.kp = attribute<double>(given, "kp");
    contact.kd = attribute<double>(given, "kd");
    contact.name = attribute<std::string>(given, "name");
    return contact;
}

std::optional<Vector3> vector(nb::handle given) {
    if (given.is_none()) return {};
    return nb::cast<Vector3>(given);
}

Pose pose(nb::handle given) {
    const nb::object rows = given.attr("rotation").attr("ravel")().attr("tolist")();
    const nb::object translation = given.attr("translation").attr("tolist")();
    return {nb::cast<std::array<double, 9>>(rows), nb::cast<Vector3>(translation)};
}

bool is_a(nb::handle given, const char* kind) {
    const nb::object of = nb::module_::import_("dtau.model.contact_kinds").attr(kind);
    const int found = PyObject_IsInstance(given.ptr(), of.ptr());
    if (found < 0) throw nb::python_error();
    return found == 1;
}

Contact read_contact(nb::handle given) {
    if (is_a(given, "Loop")) {
        Loop loop = begun<Loop>(given);
        loop.frame_a = attribute<std::string>(given, "frame_a");
        loop.frame_b = attribute<std::string>(given, "frame_b");
        if (!nb::try_cast(given.attr("rows"), loop.rows)) loop.rows = INT_MAX;  // more than an int
        if (!given.attr("hinge").is_none()) loop.hinge = attribute<std::string>(given, "hinge");
        loop.placement = pose(given.attr("placement"));
        return loop;
    }
    if (is_a(given, "PointContact")) {
        PointContact contact = begun<PointContact>(given);
        contact.frame = attribute<std::string>(given, "frame");
        contact.position = vector(given.attr("position"));
        contact.direction = vector(given.attr("direction"));
        return contact;
    }
    FrameContact contact = begun<FrameContact>(given);
    contact.frame = attribute<std::string>(given, "frame");
    if (const nb::object placement = given.attr("placement"); !placement.is_none())
        contact.placement = pose(placement);
    contact.acceleration = attribute<std::string>(given, "acceleration");
    return contact;
}

// Reads a PointContact, a FrameContact or a Loop of dtau, whose constructors check the types.
Contact contact_of(nb::handle given) {
    try {
        return read_contact(given);
    } catch (const std::bad_cast&) {
        throw type_error("contacts: expected attributes as constructors leave them, got " +
                         shown(given));
    }
}

// Keeps the tree alive, but not the model, which names the frames.
void make_contacts(CompiledContacts* self, const CompiledTree& tree, nb::handle model,
                   nb::tuple contacts) {
    std::vector<Contact> given;
    for (nb::handle contact : contacts) given.push_back(contact_of(contact));
    const FrameOfName frame = [&](const std::string& name) -> const Frame& {
        return named_frame(model, nb::str(name.data(), name.size()), tree);
    };
    const std::vector<ContactDescription> described = describe_contacts(tree, given, frame);
    interruptible([&] { new (self) CompiledContacts(tree, described); });
}

}  // namespace

void define_contacts(nb::module_& m) {
    nb::class_<CompiledContacts>(m, "Contacts")
        .def("__init__", &make_contacts, nb::keep_alive<1, 2>(), nb::arg("tree"), nb::arg("model"),
             nb::arg("contacts"),
             nb::sig("def __init__(self, tree: Tree, model: object, contacts: tuple[object, ...]) "
                     "-> None"));
    m.def(
        "check_contact", [](nb::handle contact) { check_contact(contact_of(contact)); },
        nb::arg("contact"));
}

}  // namespace dtau
