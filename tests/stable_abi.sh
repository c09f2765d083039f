#!/usr/bin/env bash
# The bindings use only the stable ABI of CPython 3.12, on which the wheel for it and all later ones
# rests: the compiler reads them with the headers of such a Python, wherever one is found. An older
# Python compiles them with its whole interface, and would not tell.
#    Usage: stable_abi.sh    in an environment with nanobind and NumPy
set -euo pipefail
cd "$(dirname "$0")/.."

found=$(ls -d "$(python -c 'import sysconfig; print(sysconfig.get_path("include"))')" /usr/include/python3.* \
    /usr/local/include/python3.* "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/include/python3.* 2> /dev/null || true)
headers=
for folder in $found; do
    case $folder in *python3.1[2-9]) if [ -e "$folder/Python.h" ]; then headers=$folder; fi ;; esac
done
if [ -z "$headers" ]; then
    echo "no headers of CPython 3.12 or later here: not looked at"
    test -z "${CI:-}"  # where that is a failure, as a skipped test is
    exit
fi
includes=(-Iinclude -Isrc "-I$headers" "-I$(python -m nanobind --include_dir)"
    "-I$(python -c 'import numpy; print(numpy.get_include())')")
ls src/python/*.cpp src/interop/*.cpp | xargs -n 1 -P "$(nproc)" \
    "${CXX:-c++}" -std=c++20 -fsyntax-only -fvisibility=hidden -DPy_LIMITED_API=0x030C0000 "${includes[@]}"
echo "$(ls src/python/*.cpp src/interop/*.cpp | wc -l) files, read with $headers: the stable ABI alone"
