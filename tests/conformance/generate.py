"""Writes random cases with the results of SuiteSparse:GraphBLAS: see README.md.

    pip install suitesparse-graphblas==10.5.1.1
    python3 tests/conformance/generate.py --seed 1 --cases 3000 target/conformance.bin
    OPLUS_CONFORMANCE=target/conformance.bin cargo test --test conformance
"""
import argparse
import collections
import random
import sys

from cases import write
from graphblas import VERSION
from random_cases import OPERATIONS, Generator
from solver import solved


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, help="from the system's randomness if not given, and printed")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--operations", default="", help="only these, by commas")
    parser.add_argument("--size", choices=("small", "usual", "large"), default="usual", help="small: for a compact file")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"SuiteSparse:GraphBLAS {VERSION}, seed {seed}, {options.cases} cases", flush=True)
    generator = Generator(random.Random(seed), options.size)
    wanted = options.operations.split(",") if options.operations else [None]
    cases, unsolved = solved([generator.case(wanted[n % len(wanted)]) for n in range(options.cases)])
    for case, reason in unsolved:
        sizes = {r: f"{o.nrows}×{o.ncols}" for r, o in case.operands.items()}
        print(f"not solved: {case.text()} {sizes}: {reason}")
    operations = f" --operations {options.operations}" if options.operations else ""
    made = f"generate.py --seed {seed} --cases {options.cases} --size {options.size}{operations}"
    write(options.output, made, cases)
    made = collections.Counter(case.op for case in cases)
    print(", ".join(f"{op} {made[op]}" for op in OPERATIONS), flush=True)
    # A fault of SuiteSparse now and then; more of them would be one of this program.
    if len(unsolved) > max(1, options.cases // 200):
        sys.exit(f"{len(unsolved)} cases were not solved")


main()
