"""Every operation but products of matrices against SuiteSparse:GraphBLAS, one table: operation by matrix.

    pip install suitesparse-graphblas numpy
    cargo build --release --example compare_suitesparse
    python tests/suitesparse/operations.py [--rounds 5] [--only MATRIX,...] [--operations NAME,...] [--times]

Measured as in `compare.py`: rounds of both sides alternate, results are allocated within the time and freed outside of it,
what is assigned to is copied before. Theirs is the time until GrB_wait returns. Results are compared by the number of
entries, the sum of values, and the sum of values with weights by position.
"""
import argparse
import math
import os
import pathlib
import statistics
import tempfile
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import numpy as np
import suitesparse_graphblas as ss
from suitesparse_graphblas import ffi, lib

from compare import Other, check, mean

MATRICES = "rmat-16 grid-1024 stencil7-101 hyper-20".split()
NULL, WAIT = ffi.NULL, lib.GrB_MATERIALIZE
OPERATIONS = {}


def operation(name):
    def keep(f):
        OPERATIONS[name] = f
        return f
    return keep


def index(array):
    return ffi.cast("GrB_Index *", ffi.from_buffer(np.ascontiguousarray(array)))


def free(c):
    (lib.GrB_Vector_free if "Vector" in str(ffi.typeof(c)) else lib.GrB_Matrix_free)(c)


def wait(c):
    check((lib.GrB_Vector_wait if "Vector" in str(ffi.typeof(c)) else lib.GrB_Matrix_wait)(c[0], WAIT))


class Operands:
    """SuiteSparse's copies of what the other side wrote."""

    def __init__(self, directory, reply):
        self.m, self.n, self.nnz, self.row, self.column = (int(w) for w in reply)
        self.directory, self.kept = directory, []
        self.a, self.b, self.small, self.region, self.listed, self.few = (
            self.matrix(name) for name in ("a", "b", "small", "region", "listed", "few"))
        self.wide, self.high = self.vector("wide"), self.vector("high")
        names = ("rows", "columns", "few_rows", "few_columns")
        self.lists = {name: np.fromfile(directory / f"{name}.list", dtype=np.uint64) for name in names}
        middle = lambda n: np.array([n // 4, n // 4 * 3 - 1, 1], dtype=np.uint64)
        self.middle = middle(self.m), middle(self.n)
        self.sorted, self.shuffled = self.read("a"), self.read("shuffled")
        self.diagonals = self.new("Matrix"), self.new("Matrix")
        for diagonal, v in zip(self.diagonals, (self.high, self.wide)):
            check(lib.GrB_Matrix_diag(diagonal, v[0], 0))
            wait(diagonal)
        self.tiles = ffi.new("GrB_Matrix[4]")
        heights, widths = (np.array([k // 2, k - k // 2], dtype=np.uint64) for k in (self.m, self.n))
        self.cuts = heights, widths
        check(lib.GxB_Matrix_split(self.tiles, 2, 2, index(heights), index(widths), self.a[0], NULL))
        for k in range(4):
            wait(self.tiles + k)

    def new(self, kind):
        self.kept.append(ffi.new(f"GrB_{kind} *"))
        return self.kept[-1]

    def read(self, name):
        words = np.fromfile(self.directory / f"{name}.coo", dtype=np.uint64)
        m, n, count = (int(w) for w in words[:3])
        rows, columns, values = words[3 : 3 + count], words[3 + count : 3 + 2 * count], words[3 + 2 * count :]
        return m, n, rows.copy(), columns.copy(), values.view(np.float64).copy()

    def matrix(self, name):
        a = self.new("Matrix")
        build(a, self.read(name))
        wait(a)
        return a

    def vector(self, name):
        _, n, _, columns, values = self.read(name)
        x = self.new("Vector")
        check(lib.GrB_Vector_new(x, lib.GrB_FP64, n))
        check(lib.GrB_Vector_build_FP64(
            x[0], index(columns), ffi.cast("double *", ffi.from_buffer(values)), len(values), lib.GrB_FIRST_FP64))
        wait(x)
        return x

    def list(self, name):
        return index(self.lists[name]), len(self.lists[name])

    def close(self):
        for c in self.kept:
            free(c)
        for k in range(4):
            lib.GrB_Matrix_free(self.tiles + k)


def build(c, coo):
    m, n, rows, columns, values = coo
    check(lib.GrB_Matrix_new(c, lib.GrB_FP64, m, n))
    values = ffi.cast("double *", ffi.from_buffer(values))
    check(lib.GrB_Matrix_build_FP64(c[0], index(rows), index(columns), values, len(rows), lib.GrB_PLUS_FP64))


def fresh(kind, f, ctype="FP64", shape=None):
    """An operation with a new result: f(operands, c)."""
    def prepare(o):
        def run():
            c = ffi.new(f"GrB_{kind} *")
            if kind == "Matrix":
                m, n = shape(o) if shape else (o.m, o.n)
                check(lib.GrB_Matrix_new(c, getattr(lib, f"GrB_{ctype}"), m, n))
            else:
                check(lib.GrB_Vector_new(c, getattr(lib, f"GrB_{ctype}"), shape(o) if shape else o.m))
            check(f(o, c[0]))
            return [c]
        return lambda: None, lambda _: run()
    return prepare


def changed(f):
    """An operation on a copy of A: f(operands, c)."""
    def prepare(o):
        def copy():
            c = ffi.new("GrB_Matrix *")
            check(lib.GrB_Matrix_dup(c, o.a[0]))
            wait(c)
            return c
        def run(c):
            check(f(o, c[0]))
            return [c]
        return copy, run
    return prepare


def number(f):
    def prepare(o):
        def run(_):
            value = ffi.new("double *")
            check(f(o, value))
            return value[0]
        return lambda: None, run
    return prepare


D, F = lib.GrB_DESC_T0, "FP64"
HALF = lambda o: (o.middle[0][1] - o.middle[0][0] + 1, o.middle[1][1] - o.middle[1][0] + 1)
RANGE = lambda o: (index(o.middle[0]), lib.GxB_RANGE, index(o.middle[1]), lib.GxB_RANGE)
LISTS = lambda o: (*o.list("rows"), *o.list("columns"))
FEW = lambda o: (*o.list("few_rows"), *o.list("few_columns"))
counts = lambda a, b: lambda o: (len(o.lists[a]), len(o.lists[b]))
OPERATIONS |= {
    "ewise_add": fresh("Matrix", lambda o, c: lib.GrB_Matrix_eWiseAdd_BinaryOp(c, NULL, NULL, lib.GrB_PLUS_FP64, o.a[0], o.b[0], NULL)),
    "ewise_mult": fresh("Matrix", lambda o, c: lib.GrB_Matrix_eWiseMult_BinaryOp(c, NULL, NULL, lib.GrB_TIMES_FP64, o.a[0], o.b[0], NULL)),
    "ewise_union": fresh("Matrix", lambda o, c: lib.GxB_Matrix_eWiseUnion(
        c, NULL, NULL, lib.GrB_MINUS_FP64, o.a[0], scalar(2.0), o.b[0], scalar(3.0), NULL)),
    "apply": fresh("Matrix", lambda o, c: lib.GrB_Matrix_apply(c, NULL, NULL, lib.GrB_AINV_FP64, o.a[0], NULL)),
    "apply bound": fresh("Matrix", lambda o, c: lib.GrB_Matrix_apply_BinaryOp2nd_FP64(c, NULL, NULL, lib.GrB_TIMES_FP64, o.a[0], 2.5, NULL)),
    "apply index": fresh("Matrix", lambda o, c: lib.GrB_Matrix_apply_IndexOp_INT64(c, NULL, NULL, lib.GrB_ROWINDEX_INT64, o.a[0], 1, NULL), "INT64"),
    "cast": fresh("Matrix", lambda o, c: lib.GrB_Matrix_apply(c, NULL, NULL, lib.GrB_IDENTITY_FP32, o.a[0], NULL), "FP32"),
    "select": fresh("Matrix", lambda o, c: lib.GrB_Matrix_select_FP64(c, NULL, NULL, lib.GrB_VALUEGT_FP64, o.a[0], 0.5, NULL)),
    "tril": fresh("Matrix", lambda o, c: lib.GrB_Matrix_select_INT64(c, NULL, NULL, lib.GrB_TRIL, o.a[0], 0, NULL)),
    "triu": fresh("Matrix", lambda o, c: lib.GrB_Matrix_select_INT64(c, NULL, NULL, lib.GrB_TRIU, o.a[0], 1, NULL)),
    "reduce rows": fresh("Vector", lambda o, c: lib.GrB_Matrix_reduce_Monoid(c, NULL, NULL, lib.GrB_PLUS_MONOID_FP64, o.a[0], NULL)),
    "reduce columns": fresh("Vector", lambda o, c: lib.GrB_Matrix_reduce_Monoid(c, NULL, NULL, lib.GrB_PLUS_MONOID_FP64, o.a[0], D), shape=lambda o: o.n),
    "reduce": number(lambda o, x: lib.GrB_Matrix_reduce_FP64(x, NULL, lib.GrB_PLUS_MONOID_FP64, o.a[0], NULL)),
    "reduce max": number(lambda o, x: lib.GrB_Matrix_reduce_FP64(x, NULL, lib.GrB_MAX_MONOID_FP64, o.a[0], NULL)),
    "transpose": fresh("Matrix", lambda o, c: lib.GrB_transpose(c, NULL, NULL, o.a[0], NULL), shape=lambda o: (o.n, o.m)),
    "kronecker": fresh("Matrix", lambda o, c: lib.GrB_Matrix_kronecker_BinaryOp(
        c, NULL, NULL, lib.GrB_TIMES_FP64, o.a[0], o.small[0], NULL), shape=lambda o: (2 * o.m, 2 * o.n)),
    "extract range": fresh("Matrix", lambda o, c: lib.GrB_Matrix_extract(c, NULL, NULL, o.a[0], *RANGE(o), NULL), shape=HALF),
    "extract list": fresh("Matrix", lambda o, c: lib.GrB_Matrix_extract(c, NULL, NULL, o.a[0], *LISTS(o), NULL), shape=counts("rows", "columns")),
    "extract few": fresh("Matrix", lambda o, c: lib.GrB_Matrix_extract(c, NULL, NULL, o.a[0], *FEW(o), NULL), shape=counts("few_rows", "few_columns")),
    "extract row": fresh("Vector", lambda o, c: lib.GrB_Col_extract(c, NULL, NULL, o.a[0], lib.GrB_ALL, o.n, o.row, D), shape=lambda o: o.n),
    "extract column": fresh("Vector", lambda o, c: lib.GrB_Col_extract(c, NULL, NULL, o.a[0], lib.GrB_ALL, o.m, o.column, NULL)),
    "assign range": changed(lambda o, c: lib.GrB_Matrix_assign(c, NULL, NULL, o.region[0], *RANGE(o), NULL)),
    "assign list": changed(lambda o, c: lib.GrB_Matrix_assign(c, NULL, NULL, o.listed[0], *LISTS(o), NULL)),
    "assign few": changed(lambda o, c: lib.GrB_Matrix_assign(c, NULL, NULL, o.few[0], *FEW(o), NULL)),
    "assign scalar": changed(lambda o, c: lib.GrB_Matrix_assign_FP64(c, NULL, NULL, 7.5, *FEW(o), NULL)),
    "assign row": changed(lambda o, c: lib.GrB_Row_assign(c, NULL, NULL, o.wide[0], o.row, lib.GrB_ALL, o.n, NULL)),
    "assign column": changed(lambda o, c: lib.GrB_Col_assign(c, NULL, NULL, o.high[0], lib.GrB_ALL, o.m, o.column, NULL)),
    "subassign range": changed(lambda o, c: lib.GxB_Matrix_subassign(c, NULL, lib.GrB_PLUS_FP64, o.region[0], *RANGE(o), NULL)),
    "accumulate": changed(lambda o, c: lib.GrB_Matrix_apply(c, NULL, lib.GrB_PLUS_FP64, lib.GrB_IDENTITY_FP64, o.b[0], NULL)),
    "resize down": changed(lambda o, c: lib.GrB_Matrix_resize(c, o.m // 2, o.n // 2)),
    "resize up": changed(lambda o, c: lib.GrB_Matrix_resize(c, o.m * 2, o.n * 2)),
    "diag extract": fresh("Vector", lambda o, c: lib.GxB_Vector_diag(c, o.a[0], 0, NULL), shape=lambda o: min(o.m, o.n)),
    "concat": fresh("Matrix", lambda o, c: lib.GxB_Matrix_concat(c, o.tiles, 2, 2, NULL)),
    "scale rows": fresh("Matrix", lambda o, c: lib.GrB_mxm(
        c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.diagonals[0][0], o.a[0], NULL)),
    "scale columns": fresh("Matrix", lambda o, c: lib.GrB_mxm(
        c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.a[0], o.diagonals[1][0], NULL)),
    "mxv": fresh("Vector", lambda o, c: lib.GrB_mxv(c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.a[0], o.wide[0], NULL)),
    "vxm": fresh("Vector", lambda o, c: lib.GrB_vxm(c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.high[0], o.a[0], NULL), shape=lambda o: o.n),
}


def scalar(value, kept={}):
    if value not in kept:
        kept[value] = ffi.new("GrB_Scalar *")
        check(lib.GrB_Scalar_new(kept[value], lib.GrB_FP64))
        check(lib.GrB_Scalar_setElement_FP64(kept[value][0], value))
        check(lib.GrB_Scalar_wait(kept[value][0], WAIT))
    return kept[value][0]


def building(which):
    def prepare(o):
        def run(_):
            c = ffi.new("GrB_Matrix *")
            build(c, getattr(o, which))
            return [c]
        return lambda: None, run
    return prepare


OPERATIONS["build"], OPERATIONS["build sorted"] = building("shuffled"), building("sorted")


@operation("diag")
def diag(o):
    def run(_):
        c = ffi.new("GrB_Matrix *")
        check(lib.GrB_Matrix_diag(c, o.wide[0], 0))
        return [c]
    return lambda: None, run


@operation("split")
def split(o):
    def run(_):
        tiles = ffi.new("GrB_Matrix[4]")
        check(lib.GxB_Matrix_split(tiles, 2, 2, index(o.cuts[0]), index(o.cuts[1]), o.a[0], NULL))
        run.tiles = tiles  # The array lives as long as what points into it.
        return [tiles + k for k in range(4)]
    return lambda: None, run


@operation("sort")
def sort(o):
    def run(_):
        c, p = ffi.new("GrB_Matrix *"), ffi.new("GrB_Matrix *")
        check(lib.GrB_Matrix_new(c, lib.GrB_FP64, o.m, o.n))
        check(lib.GrB_Matrix_new(p, lib.GrB_INT64, o.m, o.n))
        check(lib.GxB_Matrix_sort(c[0], p[0], lib.GrB_LT_FP64, o.a[0], NULL))
        return [c, p]
    return lambda: None, run


def measure(c):
    """Entries, sum, weighted sum."""
    if isinstance(c, float):
        return 0, c, c
    total = np.zeros(3)
    for c in c:
        vector, count = "Vector" in str(ffi.typeof(c)), ffi.new("GrB_Index *")
        check((lib.GrB_Vector_nvals if vector else lib.GrB_Matrix_nvals)(count, c[0]))
        n = count[0]
        i, j, values = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n)
        x = ffi.cast("double *", ffi.from_buffer(values))
        if vector:
            check(lib.GrB_Vector_extractTuples_FP64(index(i), x, count, c[0]))
        else:
            check(lib.GrB_Matrix_extractTuples_FP64(index(i), index(j), x, count, c[0]))
        weights = (i * np.uint64(7) + j * np.uint64(13)) % np.uint64(1009)
        total += n, values.sum(), (values * weights).sum()
    return tuple(total)


def compare(o, other, name, options):
    copy, run = OPERATIONS[name](o)

    def once(measured=False):
        prepared = copy()
        start = time.perf_counter()
        c = run(prepared)
        returned = time.perf_counter() - start
        if not isinstance(c, float):
            for one in c:
                wait(one)
        seconds = time.perf_counter() - start
        made = measure(c) if measured else None
        if not isinstance(c, float):
            for one in c:
                free(one)
        return made, seconds, returned

    theirs, first, _ = once(True)
    reply = [float(w) for w in other.ask("operate", 1, name)]
    scale = 1e-4 if name == "cast" else 1e-9
    equal = theirs[0] == reply[0] and all(
        math.isclose(x, y, rel_tol=scale, abs_tol=1e-6) for x, y in zip(theirs[1:], reply[1:3]))
    if not equal:
        print(f"{name}: DIFFER: {theirs}, {reply[:3]}")
    times = max(1, min(9, int(0.02 / max(first, 1e-9))))
    waited, returned, own = [], [], []
    for _ in range(options.rounds):
        both = [once()[1:] for _ in range(times + 1)][1:]
        waited += [b[0] for b in both]
        returned += [b[1] for b in both]
        time.sleep(0.001)
        own += [float(s) for s in other.ask("operate", times + 1, name)[3:]][1:]
    return (*(statistics.median(s) for s in (waited, returned, own)), equal)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="target/release/examples/compare_suitesparse")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default=",".join(MATRICES), help="matrices, by commas")
    parser.add_argument("--operations", default="", help="beginnings of names, by commas")
    parser.add_argument("--data", help="folder of .mtx files")
    parser.add_argument("--times", action="store_true", help="milliseconds beside the ratios: ours/theirs")
    options = parser.parse_args()
    lib.GxB_Global_Option_set_INT32(lib.GxB_GLOBAL_NTHREADS, options.threads)
    wanted = [w for w in options.operations.split(",") if w]
    names = [n for n in OPERATIONS if not wanted or any(n.startswith(w) for w in wanted)]
    matrices, ratios, differing = options.only.split(","), {}, 0
    with tempfile.TemporaryDirectory() as directory:
        other = Other(options.program, directory, options)
        for matrix in matrices:
            o = Operands(pathlib.Path(directory), other.ask("operands", matrix))
            for name in names:
                waited, _, own, equal = compare(o, other, name, options)
                ratios[name, matrix] = waited / own, own, waited
                differing += not equal
            o.close()
    print(f"SuiteSparse:GraphBLAS {ss.__version__}, {options.threads} threads each, medians of {options.rounds} rounds; "
          f"SuiteSparse's time / ours{', in brackets ours/theirs in ms' if options.times else ''}\n")
    print(f"| operation | {' | '.join(matrices)} | geometric mean |\n| --- |{' --: |' * (len(matrices) + 1)}")
    for name in names:
        row = [ratios[name, m] for m in matrices]
        shown = [f"{r:.2f} ({1e3 * a:.3f}/{1e3 * b:.3f})" if options.times else f"{r:.2f}" for r, a, b in row]
        print(f"| {name} | {' | '.join(shown)} | {mean([r[0] for r in row]):.2f} |")
    everything = [r[0] for r in ratios.values()]
    by_matrix = [f"{mean([ratios[n, m][0] for n in names]):.2f}" for m in matrices]
    print(f"| all | {' | '.join(by_matrix)} | {mean(everything):.2f} |")
    print(f"\nbelow 1: {sum(r < 1 for r in everything)} of {len(everything)}; results that differ: {differing}")


if __name__ == "__main__":
    main()
