"""Generate C or CUDA code for one model: `generate`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtau.codegen.casadi_interface import casadi_source
from dtau.codegen.check import check_prototype, check_source
from dtau.codegen.cuda import cuda_header, cuda_source
from dtau.codegen.cuda_check import cuda_check_prototype, cuda_check_source
from dtau.codegen.limit import Budget
from dtau.codegen.names import require_free_names
from dtau.codegen.recording import record, stack_bytes
from dtau.codegen.requests import NAME, Functions, requests
from dtau.codegen.source import head, header, source
from dtau.codegen.text import include
from dtau.model.model import Model
from dtau.support.checks import require, shown
from dtau.support.files import require_path, write_file
from dtau.support.options import Language, Scalar, require_option


@dataclass(frozen=True)
class GeneratedCode:
    """The files that `dtau.generate` wrote.

    Attributes
    ----------
    source, header : pathlib.Path
        The two files.
    operations : dict of str to int
        Number of operations of each function, by its name in C, including functions for CasADi:
        additions, multiplications, fused multiply-adds, divisions, roots and selections; without
        sines and cosines.
    stack : int
        Largest number of bytes that a function takes on the stack for temporaries passed between
        its pieces, in addition to the compiler's own. In CUDA, in a thread's local memory.
    """

    source: Path
    header: Path
    operations: dict[str, int]
    stack: int


# Of the source file and of the header
SUFFIXES: dict[str, tuple[str, str]] = {"c": (".c", ".h"), "cuda": (".cu", ".cuh")}


def generate(
    model: Model,
    functions: Functions,
    path: str | os.PathLike[str],
    *,
    language: Language = "c",
    scalar: Scalar = "double",
    prefix: str | None = None,
    parameters: Sequence[str] = (),
    casadi: int | None = None,
    limit: float = 120.0,
) -> GeneratedCode:
    """Generate C code for one model, which needs only <math.h>, or CUDA code.

    Parameters
    ----------
    model : Model
    functions : str, sequence of str, or mapping
        Names of functions of the package with arrays as arguments and results: values, derivatives,
        products, Hessians, time derivatives, linearizations, steps, contacts. Or a mapping from
        names in C to such names, or to pairs of a name and its options, ``{"feet":
        ("frame_jacobians", {"frames": ["LF_FOOT", "RF_FOOT"]})}``. Options are the function's
        keyword arguments; time derivatives need ``order``. An optional array can be an option too;
        it is then a constant.
    path : str or path-like
        The source file, ``*.c``; the header ``*.h`` is written to the same folder. In CUDA,
        ``*.cu`` and ``*.cuh``. Existing files are replaced.
    language : {"c", "cuda"}
        ``"c"``: functions of one state. ``"cuda"``: the same code as functions of a CUDA device,
        with a kernel for each, which computes one state per thread, and a function of the host,
        ``PREFIXNAME_launch(states, ..., stream)``. Their arrays are in the device's memory, with
        the states on the last axis.
    scalar : {"double", "float"}
        Type of all numbers.
    prefix : str, optional
        Prefix of all names in C; by default the name of the file and ``_``.
    parameters : sequence of str, optional
        Values that stay arguments of the functions that have them: ``"f_ext"``, external wrenches;
        ``"gravity"``, (3,) in m/s²; ``"active"``, which contacts are active; ``"positions"``, where
        they are held; ``"payload=LINK"``, the ten inertial parameters of a link's payload, in the
        order of `Inertia.parameters`, in the link's frame. By default there are no wrenches,
        gravity is the model's, all contacts are active and held at their own positions, and there
        is no payload.
    casadi : {0, 1, 2}, optional
        Write the functions that CasADi looks for by name, too, so that
        ``casadi.external("PREFIXcasadiNAME", library)`` loads each function: 0 values; 1 also
        Jacobians and adjoints; 2 also Jacobians of adjoints, which are Hessians. Sparsity patterns
        are exact for the robot. Derivatives by q are by its nq numbers, as derivatives of
        f(normalize(q)). Needs C and double precision.
    limit : float
        Largest expected time of a compiler for the source file, in seconds, at 4,000 operations
        (about 0.3 MB of C) per second; for CUDA, 500.

    Returns
    -------
    GeneratedCode
        The paths, and the numbers of operations.

    Raises
    ------
    ValueError
        If a function, an option or a parameter is unknown or missing or cannot be generated; a name
        is not valid in C, or is taken there or in the files, or a file's name cannot be included;
        joints have no inertia to accelerate but a function needs it; rows of contacts depend on
        each other in every state; or a compiler is expected to take longer than ``limit`` (the
        message gives the time).
    TypeError
        If an argument is of the wrong type.
    OSError
        If a file cannot be written.

    Warns
    -----
    ModelWarning
        If a compiler is expected to take longer than 30 s.

    Notes
    -----
    The core runs once with numbers that record their operations. So the generated algorithms are
    the core's, with the model's constants folded, and without zeros and repeated operations.
    Functions take the arrays in the order of the package's function, each as a pointer, then the
    results. A result with the name of an argument gets ``_out`` after its name. Functions compute
    one state, allocate nothing and can be called from any thread. ``PREFIXcheck()`` returns 0 if
    all of them give the numbers that the core gave when they were generated. Quaternions must have
    unit norm, which is not checked. Compile C with ``-O2`` and, for the machine that compiles,
    ``-march=native``.

    Examples
    --------
    >>> import dtau, pathlib, tempfile
    >>> model = dtau.robots.quadruped()
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> code = dtau.generate(model, "gravity_torque", folder / "legs.c")
    >>> print(*[line for line in code.header.read_text().splitlines() if "void legs" in line])
    void legs_gravity_torque(const double *q, double *tau);
    >>> list(code.operations)
    ['legs_gravity_torque']
    """
    require("model", model, Model)
    require_option("language", language, Language)
    require_option("scalar", scalar, Scalar)
    budget = Budget(limit, language)
    out = Path(require_path("path", path))
    suffix, header_suffix = SUFFIXES[language]
    if out.suffix != suffix:
        hint = "" if out.suffix != ".cu" else ", or language='cuda'"
        raise ValueError(f"path: expected a name that ends in {suffix}{hint}, got {str(path)!r}")
    beside = out.with_suffix(header_suffix)
    include(beside.name)
    if prefix is None:
        prefix = re.sub(r"^(?=\d)|\W", "_", out.stem, flags=re.ASCII) + "_"
    if not isinstance(prefix, str) or not NAME.fullmatch(prefix):
        raise ValueError(f"prefix: expected the beginning of names in C, got {shown(prefix)}")
    asked = requests(model, functions, parameters)
    if casadi is not None and (isinstance(casadi, bool) or casadi not in (0, 1, 2)):
        raise ValueError(f"casadi: expected 0, 1, 2 or None, got {shown(casadi)}")
    if casadi is not None and scalar != "double":
        raise ValueError("casadi: CasADi's numbers are double, and so must scalar be")
    device = language == "cuda"
    if casadi is not None and device:
        raise ValueError("casadi: CasADi calls functions of C: expected None with language='cuda'")
    require_free_names(prefix, asked, casadi, device=device)
    single = scalar == "float"
    written = [record(model, one, prefix, single=single, device=device) for one in asked]
    for function in written:
        budget.add(function.name, function.operations, function.text)
    if device:
        budget.require_within()
        check = cuda_check_source(model, written, prefix, scalar)
        above = cuda_header(model, written, prefix, scalar, cuda_check_prototype(prefix))
        text = cuda_source(written, beside.name, scalar, check)
    else:
        more = check_source(model, written, prefix, scalar)
        if casadi is not None:
            more += casadi_source(model, asked, prefix, casadi, budget)
        budget.require_within()
        above = header(model, written, prefix, scalar, check_prototype(prefix))
        text = source(written, beside.name, scalar, more)
    top = head(model, written, scalar, language)
    _write(beside, top + above)
    _write(out, top + text)
    return GeneratedCode(out, beside, budget.operations, stack_bytes(written, scalar))


def _write(path: Path, text: str) -> None:
    write_file(path, text.encode("ascii"))
