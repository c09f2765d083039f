// Finds the compiled tree of a dtau.Model: compiled_tree().
#include <atomic>

#include "python/call.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

// The slot in which the class dtau.Model keeps the tree. Reading it by its descriptor takes a quarter
// of the time of PyObject_GetAttr, which looks for it.
struct TreeSlot {
    nb::object model, descriptor;  // the class, and its slot
    descrgetfunc get;
};
std::atomic<const TreeSlot*> tree_slot = nullptr;  // set once

nb::object read_tree(nb::handle model, PyObject* attribute) {
    const TreeSlot* const slot = tree_slot.load(std::memory_order_acquire);
    return nb::steal(unless_ended([&] {
        return slot && model.type().is(slot->model)
                   ? slot->get(slot->descriptor.ptr(), model.ptr(), slot->model.ptr())
                   : PyObject_GetAttr(model.ptr(), attribute);
    }));
}

// Keeps the slot of the first model; of threads that find it at once, the first wins. Objects that only
// look like a model have none.
void find_tree_slot(nb::handle model, PyObject* attribute) {
    nb::object slot = nb::steal(PyObject_GetAttr(model.type().ptr(), attribute));
    if (!slot.is_valid()) return PyErr_Clear();
    if (!Py_IS_TYPE(slot.ptr(), &PyMemberDescr_Type)) return;
    nb::object owner = slot.attr("__objclass__");  // not a subclass
    void* const get = PyType_GetSlot(&PyMemberDescr_Type, Py_tp_descr_get);
    const auto* const found =
        new TreeSlot{std::move(owner), std::move(slot), reinterpret_cast<descrgetfunc>(get)};
    const TreeSlot* none = nullptr;
    if (!tree_slot.compare_exchange_strong(none, found)) delete found;
}

}  // namespace

TreeReference compiled_tree(nb::handle model) {
    static constinit KeptObject name;
    PyObject* const attribute = name.get([] { return PyUnicode_InternFromString("_tree"); });
    nb::object tree = read_tree(model, attribute);
    static std::atomic<PyTypeObject*> known = nullptr;
    const CompiledTree* const compiled = instance_of<CompiledTree>(tree, known);
    if (!compiled)
        throw type_error("model: expected a dtau.Model, got " + str(nb::type_name(model.type())));
    if (!tree_slot.load(std::memory_order_relaxed)) find_tree_slot(model, attribute);
    return {std::move(tree), *compiled};
}

}  // namespace dtau
