#!/usr/bin/env bash
# Runs the tests that exercise the core with a module that was built with -DDTAU_SANITIZE=ON. The package
# must be installed or built in place too: its dtau._recorder, which takes longest to compile, computes
# what the core is compared with, and needs no check of its own.
#    Usage: sanitized.sh BUILD_FOLDER masks [pytest arguments]    # of contacts: before everything else
#           sanitized.sh BUILD_FOLDER pairs [pytest arguments]    # of calls, 3 minutes a robot: before a version
#           [FUZZ_CASES=1500] sanitized.sh BUILD_FOLDER rest [pytest arguments]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 which=$2
shift 2

# The kernels, too, must have the sanitizer's checks in them.
kernels=$(find "$build/src" -path '*functions_*/functions/*.o')
test -n "$kernels"
for object in $kernels; do
    nm -u "$object" | grep -c __asan_report > /dev/null || { echo "$object is not instrumented"; exit 1; }
done

# The package as in the sources, with the sanitized module in place of the released one.
package=$(mktemp -d)
fuzz=
trap 'kill $fuzz 2> /dev/null || true; rm -rf "$package"' EXIT
cp -r python/dtau "$package/dtau"
cp "$(python -c 'import dtau._recorder; print(dtau._recorder.__file__)')" "$package/dtau/"
cp "$build"/src/*.so "$package/dtau/"  # they find the sanitized library, which _recorder shares, in $build
cp -r tests pyproject.toml "$package"

runtime=$(g++ -print-file-name=libasan.so)
cd "$package"
# A test asks for more memory than there is: the allocator must say no, as it does elsewhere.
export PYTHONPATH=$package ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export DTAU_RESULT_CACHE_LIMIT=0  # results in memory that the sanitizer watches
preload="$runtime $(g++ -print-file-name=libstdc++.so)"
run() { LD_PRELOAD=$preload python "$@"; }
run -c "import dtau; assert dtau.__file__.startswith('$package'), 'an editable install is in the way'"
case $which in
    masks)
        run -m pytest -q -p no:cacheprovider "$@" tests/constraints/test_{mixed_contacts,contradictions,impulses}.py
        exit ;;
    pairs)
        run -m pytest -q -p no:cacheprovider "$@" tests/batch/test_pairs_of_calls.py
        exit ;;
esac
# Not by run(): its process number would be a shell's, which can be killed without the program.
LD_PRELOAD=$preload python tests/fuzz/fuzz.py --cases "${FUZZ_CASES:-1500}" --longest 120 > "$package/fuzz.txt" 2>&1 &
fuzz=$!
# What is large for a large robot would take minutes here; for small ones it goes through the same code. Tests
# of arithmetic alone are left to the run without sanitizers.
export DTAU_LAWS=0-2  # of the core's cases
run -m pytest -q -p no:cacheprovider \
    -k "not ((chain or quadruped or tree or forest) and (second_derivatives or hessian or time_derivatives)) and not (chain and is_not_finite) and not moving_a_ and not agree_to_rounding and not is_all_of_its_states" \
    "$@" tests/dynamics/test_dynamics.py tests/manifold/test_manifold.py tests/derivatives/test_derivatives.py \
    tests/batch/test_{invariance,errors,core,buffers,instruction_sets,arguments_that_change,batch_laws}.py \
    tests/constraints/test_{constrained_dynamics,positions,gaits}.py \
    "tests/derivatives/test_laws.py::test_robots_with_contacts[constrained_dynamics-quadruped]" \
    "tests/derivatives/test_laws.py::test_robots_with_contacts[impulse_dynamics-joints that mimic others]" \
    tests/model/test_{model,building,urdf,spatial}.py
wait "$fuzz" || { cat "$package/fuzz.txt"; exit 1; }
tail -n 1 "$package/fuzz.txt"
