"""Writes the cases of one of the files of kernels beside this one: make.py FILE FOLDER [STEM…]

Run by scripts/make_real_ptx, from the root of the repository. STEM: only the cases so called.
"""

import importlib
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/real"))


def portable(ptx):
    """The text without what depends on the place where it was made: names of sources become
    relative, and sections for debuggers, which repeat them, go. `.loc` lines stay."""
    def relative(match):
        path = match.group(2)
        if path.startswith(f"{ROOT}{os.sep}"):
            path = os.path.relpath(path, ROOT)
        return match.group(1) + '"' + path.rpartition("site-packages/")[2] + '"'

    ptx = re.sub(r'(\.file\s+\d+\s+)"([^"]*)"', relative, ptx)
    return re.sub(r"\t\.section\t\.debug_(?!str)\w+\s*\{[^}]*\}\n?", "", ptx)


def main():
    name, folder, *stems = sys.argv[1:]
    folder = pathlib.Path(folder)
    for problem in importlib.import_module(name).problems():
        stem = f"{problem.name}.sm_{problem.kernel.target}"
        if stems and stem not in stems:
            continue
        problem.kernel.ptx = portable(problem.kernel.ptx)
        problem.write(folder)
        print(stem, flush=True)


if __name__ == "__main__":
    main()
