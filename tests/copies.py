"""Count the code that several files compile, of which the linker keeps one copy.

The other copies are time that the compiler spent for nothing. No more than 5 % of the bytes of an
instruction set's functions, or of the recorder's, may be such copies (test scalars do not count).
If there are more, this names the functions with the most; they belong in a list of
``src/functions/shared/``.

    python tests/copies.py BUILD_FOLDER
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

MOST = 0.05


def code(file: Path) -> list[tuple[str, int]]:
    """Return the functions of an object file with their bytes, one for each place."""
    table = subprocess.run(
        ["nm", "--format=sysv", str(file)], check=True, capture_output=True, text=True
    )
    places: dict[tuple[str, str], tuple[str, int]] = {}  # a constructor has two names in one place
    for line in table.stdout.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and fields[2] in "tTwW" and fields[4]:
            name, at, _, _, size, _, section = fields
            places.setdefault((section, at), (name, int(size, 16)))
    return list(places.values())


def main() -> int:
    """Print the share of copies for every list of functions in a build."""
    folders = sorted(Path(sys.argv[1], "src/CMakeFiles").glob("functions_*.dir"))
    if not folders:
        raise SystemExit(f"expected a build with kernels, got {sys.argv[1]}")
    too_many = False
    for folder in folders:
        total, largest = Counter[str](), Counter[str]()
        everything = 0
        for file in folder.rglob("*.o"):
            for name, size in code(file):
                everything += size
                if "_GLOBAL__N" not in name:  # anonymous namespaces: functions of one file
                    total[name] += size
                    largest[name] = max(largest[name], size)
        copies = total - largest
        if not everything:
            raise SystemExit(f"expected compiled files in {folder}")
        share = sum(copies.values()) / everything
        print(f"{folder.stem}: {everything} bytes of code, copies {share:.1%}")
        if share > MOST:
            too_many = True
            for name, size in copies.most_common(20):
                print(f"  {size}", subprocess.check_output(["c++filt", name], text=True).strip())
    return too_many


if __name__ == "__main__":
    sys.exit(main())
