#!/usr/bin/env python3
"""Which lines of the kernels' templates no test runs on the emulated driver.

    tests/emulator/coverage.py run cargo test --test cuda_products    as often as there are programs to count
    tests/emulator/coverage.py report [--lines] [NAME ...]            lines of each template, and how many were never run

NAME is a part of a template's path. A line that macros expand in several places counts as run if one of them is. Needs gcov,
which comes with g++. As EMU_CXX this file is the emulator's compiler: kernels are compiled to count, by the second of two calls for
each.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

COUNTING = ["--coverage", "-fprofile-update=single"]


def compiler(arguments):
    if "-DEMU_GLOBAL=" in arguments:
        # What counts is a library that would be left out.
        arguments = [a for a in arguments if a != "-nostdlib"] + COUNTING
    os.execvp("c++", ["c++", *arguments])


def run(command):
    flags = os.environ.get("OPLUS_EMULATOR_FLAGS", "") + " -DEMU_COVERAGE"
    # A folder of its own by these flags, and no kernels of other runs.
    variables = {"EMU_CXX": os.path.abspath(__file__), "OPLUS_EMULATOR_FLAGS": flags}
    sys.exit(subprocess.run(command, env={**os.environ, **variables}).returncode)


def counted(target):
    """Of each file how often each line ran."""
    files = collections.defaultdict(collections.Counter)
    for notes in pathlib.Path(target).glob("emulator/*/kernels/*.gcno"):
        # Without data none of it ran.
        data = notes.with_suffix(".gcda")
        of = data if data.exists() else notes
        made = subprocess.run(["gcov", "--json-format", "--stdout", of.name], cwd=of.parent, capture_output=True, check=True)
        for line in made.stdout.splitlines():
            for file in json.loads(line)["files"]:
                for at in file["lines"]:
                    files[file["file"]][at["line_number"]] += at["count"]
    return files


def ranges(numbers):
    out = []
    for n in sorted(numbers):
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def report(arguments):
    parser = argparse.ArgumentParser(prog="coverage.py report")
    parser.add_argument("--lines", action="store_true", help="which lines, too")
    parser.add_argument("--target", default=os.environ.get("CARGO_TARGET_DIR", "target"), help="cargo's target folder")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    files = counted(options.target)
    if not files:
        sys.exit(f"nothing was counted under {options.target}/emulator")
    for name, lines in sorted(files.items()):
        if name.endswith((".cu", ".cuh")) and (not options.names or any(part in name for part in options.names)):
            never = [at for at, count in lines.items() if count == 0]
            print(f"{name}: {len(lines)} lines, {len(never)} never run" + (f": {ranges(never)}" if options.lines and never else ""))


if __name__ == "__main__":
    mode, rest = (sys.argv[1:] + [""])[0], sys.argv[2:]
    if mode == "run" and rest:
        run(rest)
    elif mode == "report":
        report(rest)
    elif mode.startswith("-") and mode not in ("-h", "--help"):
        compiler(sys.argv[1:])
    else:
        sys.exit(__doc__)
