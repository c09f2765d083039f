// Collects the warnings of one MuJoCo call: with_mujoco_warnings().
//
// MuJoCo has one warning handler for the whole process. The handler here is a C function: MuJoCo
// ends the process if a handler in Python raises, as any does at Ctrl-C. From the moment it is set
// until it is gone no Python code runs in the calling thread, so nothing can come in between. One
// call at a time: the caller holds a lock.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batch/system.hpp"
#include "python/bindings.hpp"
#include "python/lock.hpp"

namespace nb = nanobind;

namespace dtau {
namespace {

struct Collection {
    std::mutex mutex;
    std::vector<std::string>* texts = nullptr;  // null while no call is under way
    std::thread::id thread;                     // the thread that called
};
Collection collection;

void forget_other_threads() {
    if (collection.thread != std::this_thread::get_id()) collection.texts = nullptr;
    collection.mutex.unlock();
}
[[maybe_unused]] const int warnings_at_fork = at_forks(
    [] { collection.mutex.lock(); }, [] { collection.mutex.unlock(); }, forget_other_threads);

// The program's handlers, never released: a thread may be about to call them.
std::atomic<PyObject*> of_program = nullptr;  // None if it has none
std::atomic<PyObject*> write_log = nullptr;   // mujoco.mju_writeLog

// Whether a warning belongs to the call: it comes from the same thread, or from one that MuJoCo
// started for it, which Python does not know. The question needs no lock; the calling thread may have
// it while it waits for that thread.
bool is_of_call() {
    return collection.thread == std::this_thread::get_id() || !PyGILState_GetThisThreadState();
}

nb::object called_with(const char* text) {
    const nb::handle handler = of_program.load();
    const nb::str words = nb::steal<nb::str>(PyUnicode_DecodeUTF8(
        text, static_cast<Py_ssize_t>(std::char_traits<char>::length(text)), "replace"));
    if (!handler.is_none())
        return nb::hasattr(handler, "argtypes") ? handler(nb::bytes(text)) : handler(words);
    PySys_FormatStderr("WARNING: %U\n\n", words.ptr());
    return nb::handle(write_log.load())("WARNING", words);
}

// Passes a warning of another thread to the program's handler, or does what MuJoCo does without
// one.
void pass_on(const char* text) {
    const nb::gil_scoped_acquire lock;
    if (!lock.is_valid()) return;  // the interpreter has ended, and the program's handler with it
    try {
        called_with(text);
    } catch (nb::python_error& error) {
        error.restore();
        PyErr_WriteUnraisable(of_program);
    }
}

void hear(const char* text) {
    {
        const std::lock_guard guard(collection.mutex);
        if (collection.texts && is_of_call()) {
            try {
                collection.texts->emplace_back(text);
            } catch (const std::bad_alloc&) {  // loses one warning
            }
            return;
        }
    }
    unless_ended([text] { pass_on(text); });
}

void keep(std::atomic<PyObject*>& place, const nb::object& object) {
    if (place == object.ptr()) return;
    object.inc_ref();
    place = object.ptr();
}

// Installs the handler for as long as this object lives.
class Listening {
  public:
    Listening(const nb::object& mujoco, const nb::object& handler, std::vector<std::string>& texts)
        : get_(mujoco.attr("get_mju_user_warning")),
          set_(mujoco.attr("set_mju_user_warning")),
          handler_(handler) {
        keep(write_log, mujoco.attr("mju_writeLog"));
        const nb::object before = get_();
        if (!before.is(handler)) keep(of_program, before);
        set_(handler);
        outer_ = collect(&texts);
    }
    ~Listening() {
        collect(outer_);
        try {
            // Keeps another handler if the program has set one meanwhile.
            if (get_().is(handler_)) set_(nb::handle(of_program.load()));
        } catch (nb::python_error& error) {
            error.discard_as_unraisable("the handler of MuJoCo's warnings");
        }
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

  private:
    // Returns the previous target of texts: it belongs to a call of this thread that a finalizer
    // interrupted.
    static std::vector<std::string>* collect(std::vector<std::string>* texts) {
        const std::lock_guard guard(collection.mutex);
        collection.thread = std::this_thread::get_id();
        return std::exchange(collection.texts, texts);
    }

    nb::object get_, set_, handler_;
    std::vector<std::string>* outer_;
};

}  // namespace

void define_mujoco_warnings(nb::module_& m) {
    m.def("mujoco_warning_handler", [] { return reinterpret_cast<std::uintptr_t>(&hear); });
    m.def(
        "with_mujoco_warnings",
        [](const nb::object& mujoco, const nb::object& handler, const nb::object& function,
           const nb::object& argument) {
            std::vector<std::string> texts;
            nb::object result;
            {
                const Listening listening(mujoco, handler, texts);
                result = function(argument);
            }
            nb::list warnings;
            for (const std::string& text : texts)
                warnings.append(nb::bytes(text.data(), text.size()));
            return nb::make_tuple(result, warnings);
        },
        nb::arg("mujoco"), nb::arg("handler"), nb::arg("function"), nb::arg("argument"),
        nb::sig("def with_mujoco_warnings(mujoco: Any, handler: object, function: Any, "
                "argument: str) -> tuple[Any, list[bytes]]"));
}

}  // namespace dtau
