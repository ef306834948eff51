"""Times SuiteSparse:GraphBLAS on the matrices that `examples/compare_suitesparse.rs` wrote and prints both side by side.

    pip install suitesparse-graphblas python-graphblas scipy
    python tests/suitesparse/compare.py DIRECTORY [--runs 11] [--only NAME]

A = A² by plus_times, min_plus and lor_land, warm, the same number of threads. SuiteSparse may leave the rows of a
product unsorted ("jumbled"); `sorted` is the time with `wait`, which sorts them, as this library always does.
"""
import argparse
import math
import pathlib
import statistics
import time

import graphblas as gb
import numpy as np
import scipy.io
import suitesparse_graphblas as ss

SEMIRINGS = {"plus_times": gb.semiring.plus_times, "min_plus": gb.semiring.min_plus, "lor_land": gb.semiring.lor_land}


def square(a, semiring, runs, finish):
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        c = semiring(a @ a).new()
        c.wait("materialize" if finish else "complete")
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:]), statistics.median(seconds[1:]), c


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    loaded, ratios = {}, {}
    print(f"SuiteSparse:GraphBLAS {ss.__version__}; seconds, medians of {options.runs}; ratio = SuiteSparse / oplus")
    print(f"{'matrix':12} {'semiring':10} {'oplus':>9} {'unsorted':>9} {'sorted':>9} {'ratio':>7} {'sorted':>7}  results")
    for line in (options.directory / "oplus.tsv").read_text().splitlines():
        name, semiring, threads, best, median, nnz, total = line.split("\t")
        if options.only not in name:
            continue
        gb.ss.config["nthreads"] = int(threads)
        if name not in loaded:
            m = scipy.io.mmread(options.directory / f"{name}.mtx").tocsr()
            loaded = {name: m}
        m = loaded[name]
        if semiring == "lor_land":
            a = gb.Matrix.from_csr(m.indptr, m.indices, np.ones(m.nnz, bool), ncols=m.shape[1])
        else:
            a = gb.Matrix.from_csr(m.indptr, m.indices, m.data, ncols=m.shape[1])
        _, loose, _ = square(a, SEMIRINGS[semiring], options.runs, False)
        _, firm, c = square(a, SEMIRINGS[semiring], options.runs, True)
        sums = float(c.nvals) if semiring == "lor_land" else c.reduce_scalar(gb.monoid.plus).new().value
        equal = c.nvals == int(nnz) and math.isclose(sums, float(total), rel_tol=1e-9)
        ours = float(median)
        ratios.setdefault(semiring, []).append((loose / ours, firm / ours))
        verdict = "equal" if equal else f"DIFFER: nnz {c.nvals}, {nnz}; sum {sums}, {total}"
        print(f"{name:12} {semiring:10} {ours:9.4f} {loose:9.4f} {firm:9.4f} {loose/ours:7.2f} {firm/ours:7.2f}  {verdict}", flush=True)
    for semiring, pairs in ratios.items():
        means = [math.exp(statistics.fmean(math.log(p[i]) for p in pairs)) for i in (0, 1)]
        print(f"{semiring}: geometric mean {means[0]:.2f} unsorted, {means[1]:.2f} sorted")


main()
