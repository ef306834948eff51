"""Every operation against SuiteSparse:GraphBLAS, one table: operation by matrix. Products of matrices are in `compare.py`, but for
those of hypersparse ones.

    pip install suitesparse-graphblas numpy
    cargo build --release --example compare_suitesparse
    python tests/suitesparse/operations.py [--rounds 5] [--only MATRIX,...] [--operations NAME,...] [--times]

Measured as in `compare.py`: rounds of both sides alternate, results are allocated within the time and freed outside of it,
what is assigned to is copied before. Theirs is the time until GrB_wait returns. Results are compared by the number of
entries, the sum of values, and the sum of values with weights by position. Needs a C compiler for what is done element by element.
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
from elements import compiled, each

MATRICES = "rmat-16 grid-1024 stencil7-101 hyper-20".split()
NULL, WAIT = ffi.NULL, lib.GrB_MATERIALIZE
# What is compared elsewhere, by the beginnings of matrices' names: C = A·Aᵀ of these is too large to be read whole, as it is here.
ELSEWHERE = {"mxm": ("rmat", "stencil")}
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
        self.a, self.b, self.small, self.region, self.listed, self.few, self.mask = (
            self.matrix(name) for name in ("a", "b", "small", "region", "listed", "few", "mask"))
        self.wide, self.high, self.half, self.part = (self.vector(name) for name in ("wide", "high", "half", "part"))
        self.gone, self.set, self.appended = (self.read(name) for name in ("gone", "set", "appended"))
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


def changed(f, kind="Matrix"):
    """An operation on a copy of A, or of the vector as long as A is wide: f(operands, c)."""
    def prepare(o):
        def copy():
            c = ffi.new(f"GrB_{kind} *")
            check(getattr(lib, f"GrB_{kind}_dup")(c, (o.a if kind == "Matrix" else o.wide)[0]))
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


D, F, MASKED = lib.GrB_DESC_T0, "FP64", lib.GrB_DESC_RS
HALF = lambda o: (o.middle[0][1] - o.middle[0][0] + 1, o.middle[1][1] - o.middle[1][0] + 1)
RANGE = lambda o: (index(o.middle[0]), lib.GxB_RANGE, index(o.middle[1]), lib.GxB_RANGE)
LISTS = lambda o: (*o.list("rows"), *o.list("columns"))
FEW = lambda o: (*o.list("few_rows"), *o.list("few_columns"))
COLUMNS = lambda o: o.list("columns")
counts = lambda a, b: lambda o: (len(o.lists[a]), len(o.lists[b]))
OPERATIONS |= {
    "ewise_add": fresh("Matrix", lambda o, c: lib.GrB_Matrix_eWiseAdd_BinaryOp(c, NULL, NULL, lib.GrB_PLUS_FP64, o.a[0], o.b[0], NULL)),
    "ewise_add masked": changed(lambda o, c: lib.GrB_Matrix_eWiseAdd_BinaryOp(
        c, o.mask[0], NULL, lib.GrB_PLUS_FP64, o.a[0], o.b[0], MASKED)),
    "ewise_mult": fresh("Matrix", lambda o, c: lib.GrB_Matrix_eWiseMult_BinaryOp(c, NULL, NULL, lib.GrB_TIMES_FP64, o.a[0], o.b[0], NULL)),
    "ewise_union": fresh("Matrix", lambda o, c: lib.GxB_Matrix_eWiseUnion(
        c, NULL, NULL, lib.GrB_MINUS_FP64, o.a[0], scalar(2.0), o.b[0], scalar(3.0), NULL)),
    "apply": fresh("Matrix", lambda o, c: lib.GrB_Matrix_apply(c, NULL, NULL, lib.GrB_AINV_FP64, o.a[0], NULL)),
    "apply masked": changed(lambda o, c: lib.GrB_Matrix_apply(c, o.mask[0], NULL, lib.GrB_AINV_FP64, o.a[0], MASKED)),
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
    "subassign row": changed(lambda o, c: lib.GxB_Row_subassign(
        c, NULL, lib.GrB_PLUS_FP64, o.wide[0], o.row, lib.GrB_ALL, o.n, NULL)),
    "subassign column": changed(lambda o, c: lib.GxB_Col_subassign(
        c, NULL, lib.GrB_PLUS_FP64, o.high[0], lib.GrB_ALL, o.m, o.column, NULL)),
    "subassign scalar": changed(lambda o, c: lib.GxB_Matrix_subassign_FP64(c, NULL, lib.GrB_PLUS_FP64, 7.5, *FEW(o), NULL)),
    "accumulate": changed(lambda o, c: lib.GrB_Matrix_apply(c, NULL, lib.GrB_PLUS_FP64, lib.GrB_IDENTITY_FP64, o.b[0], NULL)),
    "resize down": changed(lambda o, c: lib.GrB_Matrix_resize(c, o.m // 2, o.n // 2)),
    "resize up": changed(lambda o, c: lib.GrB_Matrix_resize(c, o.m * 2, o.n * 2)),
    "diag extract": fresh("Vector", lambda o, c: lib.GxB_Vector_diag(c, o.a[0], 0, NULL), shape=lambda o: min(o.m, o.n)),
    "concat": fresh("Matrix", lambda o, c: lib.GxB_Matrix_concat(c, o.tiles, 2, 2, NULL)),
    "scale rows": fresh("Matrix", lambda o, c: lib.GrB_mxm(
        c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.diagonals[0][0], o.a[0], NULL)),
    "scale columns": fresh("Matrix", lambda o, c: lib.GrB_mxm(
        c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.a[0], o.diagonals[1][0], NULL)),
    "set elements": changed(lambda o, c: each("set", c, o.set)),
    "append elements": fresh("Matrix", lambda o, c: each("set", c, o.appended)),
    "remove elements": changed(lambda o, c: each("drop", c, o.gone)),
    "vector ewise_add": fresh("Vector", lambda o, c: lib.GrB_Vector_eWiseAdd_BinaryOp(
        c, NULL, NULL, lib.GrB_PLUS_FP64, o.wide[0], o.half[0], NULL), shape=lambda o: o.n),
    "vector ewise_mult": fresh("Vector", lambda o, c: lib.GrB_Vector_eWiseMult_BinaryOp(
        c, NULL, NULL, lib.GrB_TIMES_FP64, o.wide[0], o.half[0], NULL), shape=lambda o: o.n),
    "vector apply": fresh("Vector", lambda o, c: lib.GrB_Vector_apply(c, NULL, NULL, lib.GrB_AINV_FP64, o.wide[0], NULL), shape=lambda o: o.n),
    "vector select": fresh("Vector", lambda o, c: lib.GrB_Vector_select_FP64(
        c, NULL, NULL, lib.GrB_VALUEGT_FP64, o.wide[0], 0.5, NULL), shape=lambda o: o.n),
    "vector reduce": number(lambda o, x: lib.GrB_Vector_reduce_FP64(x, NULL, lib.GrB_PLUS_MONOID_FP64, o.wide[0], NULL)),
    "vector extract": fresh("Vector", lambda o, c: lib.GrB_Vector_extract(
        c, NULL, NULL, o.wide[0], *COLUMNS(o), NULL), shape=lambda o: len(o.lists["columns"])),
    "vector assign": changed(lambda o, c: lib.GrB_Vector_assign(c, NULL, NULL, o.part[0], *COLUMNS(o), NULL), "Vector"),
    "vector assign scalar": changed(lambda o, c: lib.GrB_Vector_assign_FP64(c, NULL, NULL, 7.5, *COLUMNS(o), NULL), "Vector"),
    "mxm": fresh("Matrix", lambda o, c: lib.GrB_mxm(
        c, NULL, NULL, lib.GrB_PLUS_TIMES_SEMIRING_FP64, o.a[0], o.a[0], lib.GrB_DESC_T1), shape=lambda o: (o.m, o.m)),
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


@operation("get elements")
def get(o):
    return lambda: None, lambda _: each("get", o.a[0], o.gone) + each("get", o.a[0], o.set)


class Tuples:
    """Rows, columns and values of a matrix."""

    def __init__(self, a):
        count = ffi.new("GrB_Index *")
        check(lib.GrB_Matrix_nvals(count, a))
        self.i, self.j, self.values = (np.empty(count[0], t) for t in (np.uint64, np.uint64, np.float64))
        x = ffi.cast("double *", ffi.from_buffer(self.values))
        check(lib.GrB_Matrix_extractTuples_FP64(index(self.i), index(self.j), x, count, a))


@operation("tuples")
def tuples(o):
    return lambda: None, lambda _: Tuples(o.a[0])


@operation("argmin rows")
def argmin(o):
    """As SuiteSparse's own GrB.argmin: which entries are their rows' minima, and of these the least column."""
    def run(_):
        least, diagonal, equal, c = (ffi.new(f"GrB_{kind} *") for kind in ("Vector", "Matrix", "Matrix", "Vector"))
        check(lib.GrB_Vector_new(least, lib.GrB_FP64, o.m))
        check(lib.GrB_Matrix_reduce_Monoid(least[0], NULL, NULL, lib.GrB_MIN_MONOID_FP64, o.a[0], NULL))
        check(lib.GrB_Matrix_diag(diagonal, least[0], 0))
        check(lib.GrB_Matrix_new(equal, lib.GrB_BOOL, o.m, o.n))
        check(lib.GrB_mxm(equal[0], NULL, NULL, lib.GxB_ANY_EQ_FP64, diagonal[0], o.a[0], NULL))
        check(lib.GrB_Matrix_select_BOOL(equal[0], NULL, NULL, lib.GrB_VALUEEQ_BOOL, equal[0], True, NULL))
        check(lib.GrB_Vector_new(c, lib.GrB_INT64, o.m))
        check(lib.GrB_mxv(c[0], NULL, NULL, lib.GxB_MIN_FIRSTJ_INT64, equal[0], o.wide[0], NULL))
        for between in (least, diagonal, equal):
            free(between)
        return [c]
    return lambda: None, run


def sums(i, j, values):
    weights = (i * np.uint64(7) + j * np.uint64(13)) % np.uint64(1009)
    return np.array([len(i), values.sum(), (values * weights).sum()])


def measure(c):
    """Entries, sum, weighted sum."""
    if isinstance(c, float):
        return 0, c, c
    if isinstance(c, Tuples):
        return tuple(sums(c.i, c.j, c.values))
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
        total += sums(i, j, values)
    return tuple(total)


def compare(o, other, name, options):
    copy, run = OPERATIONS[name](o)

    def once(measured=False):
        prepared = copy()
        start = time.perf_counter()
        c = run(prepared)
        returned = time.perf_counter() - start
        objects = c if isinstance(c, list) else []
        for one in objects:
            wait(one)
        seconds = time.perf_counter() - start
        made = measure(c) if measured else None
        for one in objects:
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
    compiled()
    with tempfile.TemporaryDirectory() as directory:
        other = Other(options.program, directory, options)
        for matrix in matrices:
            o = Operands(pathlib.Path(directory), other.ask("operands", matrix))
            for name in names:
                if matrix.startswith(ELSEWHERE.get(name, ())):
                    continue
                waited, _, own, equal = compare(o, other, name, options)
                ratios[name, matrix] = waited / own, own, waited
                differing += not equal
            o.close()
    print(f"SuiteSparse:GraphBLAS {ss.__version__}, {options.threads} threads each, medians of {options.rounds} rounds; "
          f"SuiteSparse's time / ours{', in brackets ours/theirs in ms' if options.times else ''}\n")
    print(f"| operation | {' | '.join(matrices)} | geometric mean |\n| --- |{' --: |' * (len(matrices) + 1)}")
    for name in names:
        row = [ratios.get((name, m)) for m in matrices]
        if not any(row):
            continue
        text = lambda r, a, b: f"{r:.2f} ({1e3 * a:.3f}/{1e3 * b:.3f})" if options.times else f"{r:.2f}"
        shown = [text(*r) if r else "" for r in row]
        print(f"| {name} | {' | '.join(shown)} | {mean([r[0] for r in row if r]):.2f} |")
    everything = [r[0] for r in ratios.values()]
    by_matrix = [f"{mean([r[0] for (_, of), r in ratios.items() if of == m]):.2f}" for m in matrices]
    print(f"| all | {' | '.join(by_matrix)} | {mean(everything):.2f} |")
    print(f"\nbelow 1: {sum(r < 1 for r in everything)} of {len(everything)}; results that differ: {differing}")


if __name__ == "__main__":
    main()
