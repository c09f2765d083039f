#!/usr/bin/env bash
# Calls from many threads under the thread sanitizer: the batch layer, the C++ library, and the package. The kernels are
# the installed build's: they share nothing, and would take long to compile with the sanitizer's checks.
# The batch layer is tried with some that have them.
#    Usage: thread_sanitized.sh BUILD_FOLDER    in an environment with the package, pytest, CMake and Ninja
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DDTAU_WERROR=ON -DDTAU_THREAD_SANITIZE=ON \
    -DDTAU_KERNELS="$(ls build/cp*/src/libkernels.a | head -n 1)" > /dev/null
ninja -C "$build" _core threads calls | tail -n 1

"$build/tests/batch/threads"
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
python -c 'import sys, dtau; dtau.robots.quadruped().save(sys.argv[1])' "$package/quadruped.dtau"
"$build/tests/batch/calls" "$package/quadruped.dtau"

# The package as in the sources, with the sanitized module in place of the released one. Python and NumPy are not
# compiled for the sanitizer: it sees their locks alone.
cp -r python/dtau "$package/dtau"
cp "$(python -c 'import dtau._recorder; print(dtau._recorder.__file__)')" "$package/dtau/"
cp "$build"/src/_core*.so "$package/dtau/"
cp -r tests pyproject.toml "$package"
cd "$package"
preload="$(g++ -print-file-name=libtsan.so) $(g++ -print-file-name=libstdc++.so)"
# glibc gives the memory of an ended thread's variables to the next one, by locks that the sanitizer does not see.
echo "race:_dl_deallocate_tls" > suppressions
export PYTHONPATH=$package TSAN_OPTIONS=halt_on_error=1:report_signal_unsafe=0:suppressions=$package/suppressions
run() { LD_PRELOAD=$preload python "$@"; }
run -c "import dtau; assert dtau.__file__.startswith('$package'), 'an editable install is in the way'"
run -m pytest -q -p no:cacheprovider tests/batch/test_concurrent_calls.py
