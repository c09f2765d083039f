#!/usr/bin/env bash
# The linker keeps one copy of an inline function that several files define. If two instruction sets
# shared one, an old processor could meet new instructions. So every such function of a variant must
# live in the namespace of its variant. The lowest one's (and functions of recorded numbers, which are
# compiled like it) may be shared, for every processor has it. Constant data may be shared too.
#    Usage: variants.sh BUILD_FOLDER
set -euo pipefail

checked=0
for folder in "$1"/src/CMakeFiles/functions_*.dir; do
    variant=$(basename "$folder" .dir)
    variant=${variant#functions_}
    symbols=$(find "$folder" -name '*.o' -exec nm {} +)  # mangled: nm -C leaves some names as they are
    test -n "$symbols"  # an empty folder shows nothing
    shared=$(grep -E ' W ' <<< "$symbols" | grep -v "4dtau${#variant}$variant" || true)
    case $variant in x86_64_v2 | recorded | baseline) shared= ;; esac
    if [ -n "$shared" ]; then
        echo "variant $variant shares inline functions with others:"
        echo "$shared"
        exit 1
    fi
    checked=$((checked + 1))
done
test "$checked" -gt 0
echo "$checked variants share no inline function"
