"""Times SuiteSparse:GraphBLAS and oplus in turn on the same matrices, compares what comes out and prints both.

    pip install suitesparse-graphblas numpy
    cargo build --release --example compare_suitesparse
    python tests/suitesparse/compare.py [--rounds 5] [--only NAME,...] [--operations NAME,...] [--data DIR]

Both sides are warm, use the same number of threads, allocate their results within the time and free them outside of it.
Rounds alternate: one run here, one there, so that what else the machine does meets both. SuiteSparse may leave the rows
of a result unsorted; `sorted` is the time to return and finish with GrB_wait. oplus' rows are always sorted.
"""
import argparse
import collections
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

# A team that spins after its work would take the other side's cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import numpy as np
import suitesparse_graphblas as ss
from suitesparse_graphblas import ffi, lib

ss.initialize()
MATRICES = """stencil5-1024 stencil9-1024 stencil7-101 stencil27-48 rmat-14 rmat-15 rmat-16 band-2 band-15 uniform-4
uniform-16 grid-1024""".split()
FILES = """wiki-Vote p2p-Gnutella31 ca-CondMat email-Enron facebook_combined cit-HepPh com-dblp web-NotreDame rail507
cage9 socfb-MIT USA-road-d.NY usroads as-22july06 bcsstk33_graph bcsstk17_pattern crystk01_pattern wave vibrobox_graph
finan512 delaunay_n16 4elt bcsstk13 bcsstk16 SiH4 memplus orani678 pilot87 lp_dfl001""".split()
PRODUCTS = [("plus_times", "f64"), ("min_plus", "f64"), ("plus_times", "f32"), ("min_plus", "f32"), ("lor_land", "bool")]
OPERATIONS = (
    [("square", *p) for p in PRODUCTS]
    + [(f"{op}:{density}", *p) for op in ("mxv", "vxm") for density in ("full", "1%", "0.01%") for p in PRODUCTS]
    + [(f"full:{columns}", *p) for columns in (4, 32) for p in PRODUCTS]
    + [("triangles", "plus_pair", "u64"), ("triangle_sum", "plus_pair", "u64"), ("search", "any_pair", "bool")]
)
# Vertices that a search begins at.
SOURCES = 64
# Calls of each side after the first, before those that are timed.
WARM = 4
TYPES = {"f64": ("FP64", np.float64), "f32": ("FP32", np.float32), "i32": ("INT32", np.int32), "bool": ("BOOL", np.bool_), "u64": ("BOOL", np.bool_)}


def check(info):
    if info not in (lib.GrB_SUCCESS, lib.GrB_NO_VALUE):
        raise RuntimeError(f"GraphBLAS: {info}")


def import_rows(a, suffix, shape, offsets, indices, values):
    """A matrix of compressed rows."""
    ctype = {"FP64": "double *", "FP32": "float *", "INT32": "int32_t *", "BOOL": "bool *"}[suffix]
    check(getattr(lib, f"GrB_Matrix_import_{suffix}")(
        a, getattr(lib, f"GrB_{suffix}"), *shape, ffi.cast("GrB_Index *", ffi.from_buffer(offsets)),
        ffi.cast("GrB_Index *", ffi.from_buffer(indices)), ffi.cast(ctype, ffi.from_buffer(values)),
        len(offsets), len(indices), len(values), lib.GrB_CSR_FORMAT))


class Case:
    """SuiteSparse's copies of what the other side wrote."""

    def __init__(self, directory):
        self.directory, self.kept = directory, {}

    def read(self, name):
        words = np.fromfile(self.directory / f"{name}.bin", dtype=np.uint64)
        rows, columns, entries = (int(w) for w in words[:3])
        offsets, rest = words[3 : 4 + rows], words[4 + rows :]
        return rows, columns, offsets, rest[:entries], rest[entries:].view(np.float64)

    def matrix(self, name, scalar):
        if (name, scalar) not in self.kept:
            rows, columns, offsets, indices, values = self.read(name)
            suffix, dtype = TYPES[scalar]
            a = ffi.new("GrB_Matrix *")
            if scalar in ("bool", "u64"):
                # Equal values are stored once in SuiteSparse: its best case.
                row_of = np.repeat(np.arange(rows, dtype=np.uint64), np.diff(offsets).astype(np.int64))
                one = ffi.new("GrB_Scalar *")
                check(lib.GrB_Scalar_new(one, lib.GrB_BOOL))
                check(lib.GrB_Scalar_setElement_BOOL(one[0], True))
                check(lib.GrB_Matrix_new(a, lib.GrB_BOOL, rows, columns))
                i, j = (ffi.cast("GrB_Index *", ffi.from_buffer(v)) for v in (row_of, indices))
                check(lib.GxB_Matrix_build_Scalar(a[0], i, j, one[0], len(indices)))
            else:
                import_rows(a, suffix, (rows, columns), offsets, indices, values.astype(dtype))
            check(lib.GrB_Matrix_wait(a[0], lib.GrB_MATERIALIZE))
            self.kept[name, scalar] = a
        return self.kept[name, scalar][0]

    def vector(self, name, scalar):
        if (name, scalar) not in self.kept:
            _, n, _, indices, values = self.read(name)
            suffix, dtype = TYPES[scalar]
            # Of a full vector half the booleans are true, frontiers are.
            v = values > 0.5 if scalar == "bool" and len(indices) == n else values.astype(dtype)
            ctype = {"f64": "double *", "f32": "float *", "bool": "bool *"}[scalar]
            x = ffi.new("GrB_Vector *")
            check(lib.GrB_Vector_new(x, getattr(lib, f"GrB_{suffix}"), n))
            check(getattr(lib, f"GrB_Vector_build_{suffix}")(
                x[0], ffi.cast("GrB_Index *", ffi.from_buffer(indices)), ffi.cast(ctype, ffi.from_buffer(v)),
                len(indices), getattr(lib, f"GrB_FIRST_{suffix}")))
            check(lib.GrB_Vector_wait(x[0], lib.GrB_MATERIALIZE))
            self.kept[name, scalar] = x
        return self.kept[name, scalar][0]

    def full(self, columns, scalar):
        """A matrix with an entry everywhere, of so many columns: what the other side makes too."""
        name = f"full-{columns}"
        if (name, scalar) not in self.kept:
            n = self.read("a")[1]
            suffix, dtype = TYPES[scalar]
            numbers = np.arange(n * columns, dtype=np.uint64) * 7919 % 1000
            v = (numbers >= 500) if scalar == "bool" else ((numbers + 1) / 1000).astype(dtype)
            offsets = np.arange(n + 1, dtype=np.uint64) * columns
            indices = np.tile(np.arange(columns, dtype=np.uint64), n)
            a = ffi.new("GrB_Matrix *")
            import_rows(a, suffix, (n, columns), offsets, indices, v)
            check(lib.GrB_Matrix_wait(a[0], lib.GrB_MATERIALIZE))
            self.kept[name, scalar] = a
        return self.kept[name, scalar][0]

    def search(self):
        """Breadth-first search from many vertices, a product a level: entries reached, and the sum of their levels."""
        a, n = self.matrix("a", "bool"), self.read("a")[1]
        frontier, visited = ffi.new("GrB_Matrix *"), ffi.new("GrB_Matrix *")
        entries, reached, levels, level = ffi.new("GrB_Index *"), SOURCES, 0, 0
        for matrix in (frontier, visited):
            check(lib.GrB_Matrix_new(matrix, lib.GrB_BOOL, SOURCES, n))
        if self.bitmap:
            check(lib.GxB_Matrix_Option_set_INT32(visited[0], lib.GxB_SPARSITY_CONTROL, lib.GxB_BITMAP | lib.GxB_FULL))
        for matrix in (frontier, visited):
            for s in range(SOURCES):
                check(lib.GrB_Matrix_setElement_BOOL(matrix[0], True, s, s * n // SOURCES))
            check(lib.GrB_Matrix_wait(matrix[0], lib.GrB_MATERIALIZE))
        while True:
            level += 1
            check(lib.GrB_mxm(frontier[0], visited[0], ffi.NULL, lib.GxB_ANY_PAIR_BOOL, frontier[0], a, lib.GrB_DESC_RSC))
            check(lib.GrB_Matrix_nvals(entries, frontier[0]))
            if entries[0] == 0:
                break
            reached, levels = reached + entries[0], levels + level * entries[0]
            check(lib.GrB_Matrix_assign_BOOL(visited[0], frontier[0], ffi.NULL, True, lib.GrB_ALL, SOURCES, lib.GrB_ALL, n,
                                             lib.GrB_DESC_S))
        for matrix in (frontier, visited):
            lib.GrB_Matrix_free(matrix)
        return reached, float(levels)

    def prepare_search(self):
        """As `prepare`; what is visited is held the way that is faster."""
        def timed():
            start = time.perf_counter()
            self.search()
            return time.perf_counter() - start

        took = []
        for self.bitmap in (False, True):
            took.append(min(timed(), timed()))
        self.bitmap = took[1] < took[0]

        def run(measure):
            start = time.perf_counter()
            made = self.search()
            seconds = time.perf_counter() - start
            return made if measure else None, seconds, seconds

        return run

    def prepare(self, operation, semiring, scalar):
        """A function that runs once: (entries, sum) or None, seconds to return, seconds with wait."""
        if operation == "search":
            return self.prepare_search()
        suffix = TYPES[scalar][0]
        ring = {"plus_times": f"GrB_PLUS_TIMES_SEMIRING_{suffix}", "min_plus": f"GrB_MIN_PLUS_SEMIRING_{suffix}",
                "lor_land": "GrB_LOR_LAND_SEMIRING_BOOL", "plus_pair": "GxB_PLUS_PAIR_UINT64", "any_pair": "GxB_ANY_PAIR_BOOL"}[semiring]
        ring = getattr(lib, ring)
        ctype = lib.GrB_UINT64 if scalar == "u64" else getattr(lib, f"GrB_{suffix}")
        kind, _, density = operation.partition(":")
        null, vectors = ffi.NULL, kind in ("mxv", "vxm")
        a = self.matrix("lower" if kind.startswith("triangle") else "a", scalar)
        dims = ffi.new("GrB_Index[2]")
        check(lib.GrB_Matrix_nrows(dims, a))
        check(lib.GrB_Matrix_ncols(dims + 1, a))
        rows, columns = dims[0], dims[1]
        x = self.vector(f"{'right' if kind == 'mxv' else 'left'}-{density}", scalar) if vectors else None
        many = self.full(int(density), scalar) if kind == "full" else None
        new, wait, free = ((lib.GrB_Vector_new, lib.GrB_Vector_wait, lib.GrB_Vector_free) if vectors
                           else (lib.GrB_Matrix_new, lib.GrB_Matrix_wait, lib.GrB_Matrix_free))
        nvals, reduce = ((lib.GrB_Vector_nvals, lib.GrB_Vector_reduce_FP64) if vectors
                         else (lib.GrB_Matrix_nvals, lib.GrB_Matrix_reduce_FP64))
        descriptor = null if rows == columns else lib.GrB_DESC_T1
        total = ffi.new("uint64_t *")

        def run(measure):
            c = ffi.new("GrB_Vector *" if vectors else "GrB_Matrix *")
            start = time.perf_counter()
            if kind == "mxv":
                check(new(c, ctype, rows))
                info = lib.GrB_mxv(c[0], null, null, ring, a, x, null)
            elif kind == "vxm":
                check(new(c, ctype, columns))
                info = lib.GrB_vxm(c[0], null, null, ring, x, a, null)
            elif kind == "full":
                check(new(c, ctype, rows, int(density)))
                info = lib.GrB_mxm(c[0], null, null, ring, a, many, null)
            elif kind == "square":
                check(new(c, ctype, rows, rows))
                info = lib.GrB_mxm(c[0], null, null, ring, a, a, descriptor)
            else:
                check(new(c, ctype, rows, rows))
                info = lib.GrB_mxm(c[0], a, null, ring, a, a, lib.GrB_DESC_S)
                if kind == "triangle_sum":
                    check(lib.GrB_Matrix_reduce_UINT64(total, null, lib.GrB_PLUS_MONOID_UINT64, c[0], null))
            returned = time.perf_counter() - start
            check(info)
            check(wait(c[0], lib.GrB_MATERIALIZE))
            waited = time.perf_counter() - start
            made = None
            if measure:
                entries, value = ffi.new("GrB_Index *"), ffi.new("double *")
                check(nvals(entries, c[0]))
                check(reduce(value, null, lib.GrB_PLUS_MONOID_FP64, c[0], null))
                made = (0, float(total[0])) if kind == "triangle_sum" else (entries[0], value[0])
            free(c)
            return made, returned, waited

        return run


class Other:
    """The other side's program."""

    def __init__(self, program, directory, options):
        command = [program, "--directory", str(directory), "--threads", str(options.threads)]
        command += ["--data", options.data] if options.data else []
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.child.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.child.stdin.flush()
        reply = self.child.stdout.readline().split()
        if not reply:
            raise RuntimeError(f"no reply to {words}")
        return reply


def compare(other, case, row, options):
    """Medians of both sides' seconds (returned, waited, ours), and whether results agree."""
    run = case.prepare(*row)
    (theirs, first, _), reply = run(True), other.ask("run", *row, 1)
    ours = (int(reply[0]), float(reply[1]))
    # What a side keeps of a matrix is made in its first few calls, of which it is little where they take long.
    if first < 0.1:
        for _ in range(WARM):
            run(False)
        other.ask("run", *row, WARM)
    scale = 1e-4 if row[2] == "f32" else 1e-9
    equal = theirs[0] == ours[0] and math.isclose(theirs[1], ours[1], rel_tol=scale)
    # Short operations are repeated within a round.
    times = max(1, min(9, int(0.01 / max(first, 1e-9))))
    returned, waited, own = [], [], []
    for _ in range(options.rounds):
        seconds = [run(False)[1:] for _ in range(times + 1)][1 if times > 1 else 0 :]
        returned += [s[0] for s in seconds]
        waited += [s[1] for s in seconds]
        time.sleep(0.001)
        seconds = other.ask("run", *row, times + (times > 1))[2:]
        own += [float(s) for s in seconds[1 if times > 1 else 0 :]]
    text = "equal" if equal else f"DIFFER: {theirs}, {ours}"
    return *(statistics.median(s) for s in (returned, waited, own)), text


def mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="target/release/examples/compare_suitesparse")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="matrices, by commas")
    parser.add_argument("--operations", default="", help="beginnings of `operation semiring type`, by commas")
    parser.add_argument("--data", help="folder of .mtx files")
    options = parser.parse_args()
    wanted = [tuple(o.split()) for o in options.operations.split(",") if o]
    names = options.only.split(",") if options.only else MATRICES + (FILES if options.data else [])
    lib.GxB_Global_Option_set_INT32(lib.GxB_GLOBAL_NTHREADS, options.threads)
    groups = collections.defaultdict(list)
    print(f"SuiteSparse:GraphBLAS {ss.__version__}, {options.threads} threads each, medians of {options.rounds} rounds in milliseconds")
    print("| matrix | operation | semiring | type | oplus | returned | sorted | ratio | ratio sorted | results |")
    print("| --- | --- | --- | --- | --: | --: | --: | --: | --: | --- |")
    with tempfile.TemporaryDirectory() as directory:
        other = Other(options.program, directory, options)
        for name in names:
            rows, columns, entries, products = (int(w) for w in other.ask("matrix", name))
            case = Case(pathlib.Path(directory))
            for row in OPERATIONS:
                if row[0].startswith(("triangle", "search")) and rows != columns:
                    continue
                if wanted and not any(all(a.startswith(b) for a, b in zip(row, w)) for w in wanted):
                    continue
                returned, waited, own, text = compare(other, case, row, options)
                ratios = (returned / own, waited / own)
                groups[row[0], row[1], row[2]].append((*ratios, name))
                times = " | ".join(f"{1e3 * s:.3f}" for s in (own, returned, waited))
                print(f"| {name} | {' | '.join(row)} | {times} | {ratios[0]:.2f} | {ratios[1]:.2f} | {text} |", flush=True)
            for a in case.kept.values():
                (lib.GrB_Vector_free if "Vector" in str(ffi.typeof(a)) else lib.GrB_Matrix_free)(a)
    print("\n| operation | semiring | type | matrices | geometric mean | sorted | least | where |\n| --- | --- | --- | --: | --: | --: | --: | --- |")
    for group, ratios in groups.items():
        least = min(ratios)
        means = [mean([r[i] for r in ratios]) for i in (0, 1)]
        print(f"| {' | '.join(group)} | {len(ratios)} | {means[0]:.2f} | {means[1]:.2f} | {least[0]:.2f} | {least[2]} |")
    everything = [r for ratios in groups.values() for r in ratios]
    print(f"\nall {len(everything)}: {mean([r[0] for r in everything]):.2f}, sorted {mean([r[1] for r in everything]):.2f}; "
          f"below 1: {sum(r[0] < 1 for r in everything)}, sorted {sum(r[1] < 1 for r in everything)}")


if __name__ == "__main__":
    main()
