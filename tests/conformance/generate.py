"""Writes random cases with the results of SuiteSparse:GraphBLAS: see README.md.

    pip install suitesparse-graphblas
    python3 tests/conformance/generate.py --seed 1 --cases 3000 target/conformance.bin
    OPLUS_CONFORMANCE=target/conformance.bin cargo test --test conformance
"""
import argparse
import collections
import random
import sys

from cases import write
from graphblas import VERSION, solve
from random_cases import OPERATIONS, Generator


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, help="from the clock if not given, and printed")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--operations", default="", help="only these, by commas")
    parser.add_argument("--small", action="store_true", help="small dimensions, for a compact file")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"SuiteSparse:GraphBLAS {VERSION}, seed {seed}, {options.cases} cases", flush=True)
    generator = Generator(random.Random(seed), options.small)
    wanted = options.operations.split(",") if options.operations else None
    made, cases = collections.Counter(), []
    for number in range(options.cases):
        case = generator.case(wanted[number % len(wanted)] if wanted else None)
        try:
            cases.append(solve(case))
        except Exception as e:
            sys.exit(f"case {number}: {case.text()}: {type(e).__name__} {e}\n{case.operands}")
        made[case.op] += 1
    write(options.output, cases)
    print(", ".join(f"{op} {made[op]}" for op in OPERATIONS))


main()
