"""A C++ program that calls every function by its typed class and by its name: `program`."""

from __future__ import annotations

from collections.abc import Iterator

from dtau.registry import FUNCTIONS, POSE_FUNCTIONS, Array, Function

HEAD = """#include "typed.hpp"

int main(int, char** argv) {
    const dtau::Model model = dtau::Model::load(argv[1]);
    const auto prescribed = [&] {
        std::vector<bool> mask(model.nv(), false);
        mask[0] = mask[1] = true;
        return mask;
    };
"""
OPTIONS = {  # in the order of the members of CallArguments
    "frames": '.frames = {"LF_FOOT", "RF_FOOT"}',
    "frame": '.frames = {"LF_FOOT"}',
    "axes": '.axes = "mixed"',
    "f_ext_axes": '.f_ext_axes = "world"',
    "prescribed": ".prescribed = prescribed()",
    "symmetric": ".symmetric = true",
    "forces": ".forces = true",
    "contacts": (
        '.contacts = {dtau::PointContact{.frame = "LF_FOOT", .kd = 2.0}, '
        'dtau::FrameContact{.frame = "RH_FOOT"}}'
    ),
    "regularization": ".regularization = 1e-3",
    "order": ".order = 2",
}


def program() -> str:
    """Return the text of the program, which fails where results differ."""
    rows = [*FUNCTIONS.values(), *POSE_FUNCTIONS.values()]
    return HEAD + "".join(map(_check, rows)) + "}\n"


def _check(function: Function) -> str:
    name = "".join(word.capitalize() for word in function.name.split("_"))
    options = ", ".join(text for key, text in OPTIONS.items() if key in function.options)
    inputs = {x.name for x in function.inputs}
    results = [*function.results, *function.force_results]

    def optional(array: Array) -> bool:
        return array.optional or array in function.force_results

    def members() -> Iterator[str]:
        for x in function.inputs:
            if x.optional:
                yield f'.{x.name} = in("{x.name}")'
        for x in results:
            if optional(x):
                yield f'.{x.name}{"_out" * (x.name in inputs)} = out("{x.name}")'

    given = [f'in("{x.name}")' for x in function.inputs if not x.optional]
    given += [f'out("{x.name}")' for x in results if not optional(x)]
    given.append("n")
    if more := ", ".join(members()):
        given.append(f"{{{more}}}")
    model = "model, " if function.name in FUNCTIONS else ""
    return (
        f'    check<dtau::{name}>("{function.name}", {model}{{{options}}},\n'
        "        [](auto& call, const Named& in, const Named& out, std::ptrdiff_t n) {\n"
        f"            return call({', '.join(given)});\n        }});\n"
    )
