"""Shrinks failed cases: tries ever smaller ones, solves them anew, and keeps those that still fail.

    python3 tests/conformance/shrink.py target/conformance.bin NUMBER [--device cpu] [--output smallest.bin]

The failure's message has the command of its case. Each round is one run of the replay over all one-step reductions.
"""
import argparse
import copy
import os
import subprocess
import tempfile

from cases import read, write
from solver import solved


def cut(entries):
    """Entries without a half, a quarter, …, one."""
    size = len(entries)
    while size:
        size //= 2
        step = max(size, 1)
        for at in range(0, len(entries), step):
            yield entries[:at] + entries[at + step :]
        if size <= 1:
            break


def smaller(case):
    """Cases with one thing less."""
    for word in ("mask", "accum", "replace", "same"):
        if case.has(word):
            less = copy.deepcopy(case)
            if word == "same":
                for role in (pair.partition(":")[0] for pair in case.same.split(",")):
                    less.operands[role] = copy.deepcopy(case.operand(role))
            elif word == "mask":
                less.operands.pop("M", None)
                pairs = [p for p in (less.same or "").split(",") if p and not p.startswith("M")]
                less.words["same"] = ",".join(pairs)
            del less.words[word]
            if less.same == "":
                del less.words["same"]
            yield less
    for role, operand in case.operands.items():
        if role in "Rs" or not operand.entries:
            continue
        if role == "I" and case.op != "build":
            # The list's length is the output's.
            continue
        for entries in cut(operand.entries):
            less = copy.deepcopy(case)
            less.operands[role].entries = entries
            yield less
        simple = [(i, j, type(v)(1)) for i, j, v in operand.entries]
        if simple != operand.entries:
            less = copy.deepcopy(case)
            less.operands[role].entries = simple
            yield less


def failing(cases, device):
    """Numbers of the cases that fail."""
    with tempfile.TemporaryDirectory() as folder:
        path, failed = os.path.join(folder, "cases.bin"), os.path.join(folder, "failed")
        write(path, "shrink.py", cases)
        environment = dict(os.environ, OPLUS_CONFORMANCE=path, OPLUS_CONFORMANCE_FAILED=failed, OPLUS_CONFORMANCE_KINDS="9999")
        name = device.partition(":")[0]
        subprocess.run(["cargo", "test", "-q", "--test", "conformance", f"{name}_agrees"], env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        with open(f"{failed}.{device}") as file:
            return [int(n) for n in file.read().split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("number", type=int)
    parser.add_argument("--device", default="cpu", help="reference, cpu or cuda:0")
    parser.add_argument("--output", default="target/smallest.bin")
    options = parser.parse_args()
    made, cases = read(options.file)
    case = cases[options.number]
    # What the replay draws by the number stays.
    case.words.setdefault("number", str(options.number))
    if not failing([case], options.device):
        raise SystemExit("the case does not fail")
    while True:
        candidates = solved(list(smaller(case))[:400])[0]
        found = failing(candidates, options.device) if candidates else []
        if not found:
            break
        case = candidates[found[0]]
        print(case.text(), {r: len(o.entries) for r, o in case.operands.items()}, flush=True)
    write(options.output, f"shrink.py from case {options.number} of {made}", [case])
    print(case.text())
    for role, o in case.operands.items():
        print(f"  {role}: {o.scalar} {o.nrows}×{o.ncols} {o.entries}")


main()
