"""Graph algorithms of oplus beside LAGraph's on SuiteSparse:GraphBLAS, on the same graphs, results compared.

    pip install suitesparse-graphblas numpy
    cargo build --release --example compare_suitesparse
    python tests/suitesparse/lagraph.py --lagraph LIBRARY [--rounds 5] [--only NAME,...] [--operations NAME,...] [--data DIR]

LIBRARY is LAGraph as a shared library over the libgraphblas of the Python package, so that there is one of it. No cmake is
needed: in LAGraph's sources (v1.2 has a search from many vertices, v1.1.4 has not), with GraphBLAS.h from the sources of
SuiteSparse:GraphBLAS 9.4 or newer in INCLUDE,

    sed 's/@LAGraph_DATE@/2024/;s/@LAGraph_VERSION_MAJOR@/1/;s/@LAGraph_VERSION_MINOR@/2/;s/@LAGraph_VERSION_SUB@/0/' \\
        config/LAGraph.h.in > include/LAGraph.h
    libs=$(python -c 'import os, suitesparse_graphblas as s; print(os.path.dirname(s.__path__[0]))')/suitesparse_graphblas.libs
    cc -c -O3 -DNDEBUG -std=gnu11 -fPIC -fopenmp -Iinclude -IINCLUDE -Isrc/utility -Isrc/algorithm -Iexperimental/utility \\
        -Ideps/json_h src/utility/*.c src/algorithm/*.c experimental/algorithm/LAGraph_MultiSourceBFS.c
    cc -shared *.o $libs/libgraphblas-*.so.* $libs/libgomp-*.so.* -lm -Wl,-rpath,$libs -o liblagraph.so

Measured as in `compare.py`: rounds alternate, both sides are warm, results are allocated within the time and freed outside
of it, theirs is the time until GrB_wait. What LAGraph's own benchmarks prepare is prepared: Aᵀ, degrees, the least
weight, the number of loops; here Aᵀ, and that a graph is one of both directions. Searches and shortest paths begin at eight
vertices in turn, times are for one; `together` is one search from 64. LAGraph's delta is the fastest of several for each graph.
It has no all-pairs shortest paths.

Levels, distances and numbers of triangles must be equal; of parents each must be an edge from the level before, as
LAGraph gives any of these. For `parents` oplus finds levels, too, as it has no search that does not; LAGraph does for `both`.
"""
import argparse
import collections
import ctypes
import os
import pathlib
import statistics
import tempfile
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import numpy as np
import suitesparse_graphblas as ss
from suitesparse_graphblas import ffi, lib

from compare import Case, Other, check, mean

GRAPHS = "rmat-14 rmat-15 rmat-16 grid-1024".split()
FILES = """wiki-Vote ca-CondMat email-Enron facebook_combined cit-HepPh com-dblp web-NotreDame cnr-2000 musae-github socfb-MIT
USA-road-d.NY usroads delaunay_n16""".split()
OPERATIONS = "levels parents both sssp-i32 sssp-f32 triangles together".split()
DELTAS = [1 << k for k in range(17, 1, -2)]
UNDIRECTED, DIRECTED = 0, 1


class LAGraph:
    """The library, by its C interface; messages of errors are raised."""

    def __init__(self, path):
        self.library, self.message = ctypes.CDLL(path), ctypes.create_string_buffer(1024)
        self("LAGraph_Init")

    def __call__(self, name, *arguments):
        info = getattr(self.library, name)(*arguments, self.message)
        if info < 0:
            raise RuntimeError(f"{name}: {info} {self.message.value.decode()}")

    def version(self):
        numbers, date = (ctypes.c_int * 3)(), ctypes.create_string_buffer(1024)
        self("LAGraph_Version", numbers, date)
        return ".".join(str(n) for n in numbers)

    def has(self, name):
        return hasattr(self.library, name)

    def graph(self, matrix, kind, *properties):
        """Takes the matrix."""
        graph = ctypes.c_void_p()
        self("LAGraph_New", ctypes.byref(graph), address(matrix), ctypes.c_int(kind))
        for cached in properties:
            self(f"LAGraph_Cached_{cached}", graph)
        return graph

    def delete(self, graph):
        self("LAGraph_Delete", ctypes.byref(graph))


def address(pointer):
    return ctypes.c_void_p(int(ffi.cast("uintptr_t", pointer)))


def scalar(suffix, value):
    s = ffi.new("GrB_Scalar *")
    check(lib.GrB_Scalar_new(s, getattr(lib, f"GrB_{suffix}")))
    check(getattr(lib, f"GrB_Scalar_setElement_{suffix}")(s[0], value))
    return s


class Graph:
    """LAGraph's copies of a graph that the other side wrote."""

    def __init__(self, lagraph, directory, reply):
        self.lagraph, self.directory = lagraph, directory
        self.n, self.entries, symmetric, searches, *sources = (int(w) for w in reply)
        self.sources, self.many = sources[:searches], sources
        kind = UNDIRECTED if symmetric else DIRECTED
        transposed = () if symmetric else ("AT",)
        case = Case(directory)
        self.kept = {name: case.matrix(*name) and case.kept[name] for name in
                     [("graph", "bool"), ("graph", "i32"), ("graph", "f32"), ("undirected", "bool")]}
        new = lambda name, *properties: lagraph.graph(self.kept[name], *properties)
        self.pattern = new(("graph", "bool"), kind, *transposed, "OutDegree")
        self.weights = {"i32": new(("graph", "i32"), kind, "EMin"),
                        "f32": new(("graph", "f32"), kind, "EMin")}
        self.undirected = new(("undirected", "bool"), UNDIRECTED, "OutDegree", "NSelfEdges")
        _, _, offsets, indices, _ = case.read("graph")
        rows = np.repeat(np.arange(self.n, dtype=np.uint64), np.diff(offsets).astype(np.int64))
        self.edges = rows * self.n + indices
        self.delta = {}

    def close(self):
        for graph in (self.pattern, *self.weights.values(), self.undirected):
            self.lagraph.delete(graph)

    def prepare(self, operation):
        """A function that runs once: seconds, and what came out, to be given to `free`."""
        call, kind = {"levels": (self.levels, "Vector"), "parents": (self.parents, "Vector"), "both": (self.both, "Vector"),
                      "together": (self.together, "Matrix"),
                      "triangles": (self.triangles, None)}.get(operation, (None, "Vector"))
        name, _, of = operation.partition("-")
        if name == "sssp":
            call = lambda made: self.paths(made, of, self.delta[of])
            self.tune(of)
        self.kind = kind

        def run():
            made = []
            start = time.perf_counter()
            call(made)
            for c in made if kind else []:
                check(getattr(lib, f"GrB_{kind}_wait")(c[0], lib.GrB_MATERIALIZE))
            return time.perf_counter() - start, made

        return run

    def free(self, made):
        for c in made if self.kind else []:
            getattr(lib, f"GrB_{self.kind}_free")(c)

    def new(self, made, kind="Vector"):
        made.append(ffi.new(f"GrB_{kind} *"))
        return address(made[-1])

    def levels(self, made):
        for s in self.sources:
            self.lagraph("LAGr_BreadthFirstSearch", self.new(made), None, self.pattern, ctypes.c_uint64(s))

    def parents(self, made):
        for s in self.sources:
            self.lagraph("LAGr_BreadthFirstSearch", None, self.new(made), self.pattern, ctypes.c_uint64(s))

    def both(self, made):
        for s in self.sources:
            level, parent = self.new(made), self.new(made)
            self.lagraph("LAGr_BreadthFirstSearch", level, parent, self.pattern, ctypes.c_uint64(s))

    def paths(self, made, of, delta, searches=None):
        delta = address(delta[0])
        for s in self.sources[:searches]:
            self.lagraph("LAGr_SingleSourceShortestPath", self.new(made), self.weights[of], ctypes.c_uint64(s), delta)

    def tune(self, of):
        """The delta that takes the least time, the large ones first; smaller ones are not tried where one took long."""
        least = None
        for number in DELTAS:
            delta, took = scalar({"i32": "INT32", "f32": "FP32"}[of], number), []
            for _ in range(2):
                made = []
                start = time.perf_counter()
                self.paths(made, of, delta, 2)
                took.append(time.perf_counter() - start)
                for c in made:
                    lib.GrB_Vector_free(c)
                if least and took[-1] > 3 * least[0]:
                    break
            if least is None or min(took) < least[0]:
                least, self.delta[of] = (min(took), number), delta
            elif min(took) > 3 * least[0]:
                break
        self.chosen = least[1]

    def triangles(self, made):
        count = ctypes.c_uint64()
        self.lagraph("LAGr_TriangleCount", ctypes.byref(count), self.undirected, None, None)
        made.append(count.value)

    def together(self, made):
        sources = ffi.new("GrB_Vector *")
        check(lib.GrB_Vector_new(sources, lib.GrB_UINT64, len(self.many)))
        for k, s in enumerate(self.many):
            check(lib.GrB_Vector_setElement_UINT64(sources[0], s, k))
        self.lagraph("LAGraph_MultiSourceBFS", self.new(made, "Matrix"), None, self.pattern, address(sources[0]))
        lib.GrB_Vector_free(sources)

    def listed(self, v):
        """A number for each vertex, −1 where there is none."""
        count = ffi.new("GrB_Index *")
        check(lib.GrB_Vector_nvals(count, v[0]))
        i, x = np.empty(count[0], np.uint64), np.empty(count[0], np.float64)
        check(lib.GrB_Vector_extractTuples_FP64(
            ffi.cast("GrB_Index *", ffi.from_buffer(i)), ffi.cast("double *", ffi.from_buffer(x)), count, v[0]))
        numbers = np.full(self.n, -1, np.int32)
        reached = x < 2**31 - 1
        numbers[i[reached]] = x[reached]
        return numbers

    def differs(self, operation, made):
        """What is wrong with the other side's result, if anything."""
        found = np.fromfile(self.directory / "found.bin", dtype=np.int32)
        if operation == "triangles":
            return None if found.view(np.uint64)[0] == made[0] else f"{made[0]} triangles, {found.view(np.uint64)[0]}"
        if operation == "together":
            v, row = made[0], ffi.new("GrB_Vector *")
            check(lib.GrB_Vector_new(row, lib.GrB_INT32, self.n))
            for k, ours in enumerate(found.reshape(len(self.many), self.n)):
                check(lib.GrB_Col_extract(row[0], ffi.NULL, ffi.NULL, v[0], lib.GrB_ALL, self.n, k, lib.GrB_DESC_T0))
                if not np.array_equal(self.listed(row), ours):
                    return f"levels of source {k}"
            lib.GrB_Vector_free(row)
            return None
        found = found.reshape(len(self.sources), -1, self.n)
        if operation == "both":
            for s, theirs, ours in zip(self.sources, map(self.listed, made[::2]), found):
                if not np.array_equal(theirs, ours[0]):
                    return f"levels from {s}"
            made = made[1::2]
        for s, theirs, ours in zip(self.sources, map(self.listed, made), found):
            if operation in ("parents", "both"):
                for who, parents in (("theirs", theirs), ("ours", ours[1])):
                    if not self.is_tree(s, ours[0], parents):
                        return f"parents from {s}, {who}"
            elif not np.array_equal(theirs, ours[0]):
                return f"{operation} from {s}"
        return None

    def is_tree(self, source, levels, parents):
        reached = np.flatnonzero(levels > 0)
        p = parents[reached]
        key = p.astype(np.uint64) * self.n + reached.astype(np.uint64)
        place = np.minimum(np.searchsorted(self.edges, key), len(self.edges) - 1)
        return (parents[source] == source and (p >= 0).all() and np.count_nonzero(parents >= 0) == len(reached) + 1
                and (levels[p] + 1 == levels[reached]).all() and (self.edges[place] == key).all())


def compare(other, graph, operation, options):
    """Medians of both sides' seconds, and whether results agree."""
    run = graph.prepare(operation)
    ask = lambda count: [float(s) for s in other.ask("algorithm", operation, count)]
    first, made = run()
    own_first = ask(1)[0]
    wrong = graph.differs(operation, made)
    graph.free(made)
    for _ in range(2 if first < 1 else 0):
        graph.free(run()[1])
    ask(2 if own_first < 1 else 1)
    # Short operations are repeated within a round, of what takes minutes there are fewer rounds.
    times = max(1, min(9, int(0.02 / max(first, 1e-9))))
    rounds = options.rounds if first < 10 else 1
    theirs, ours = [], []
    for _ in range(rounds):
        for _ in range(times):
            seconds, made = run()
            graph.free(made)
            theirs.append(seconds)
        time.sleep(0.001)
        ours += ask(times)
    return statistics.median(theirs), statistics.median(ours), f"DIFFER: {wrong}" if wrong else "equal", rounds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lagraph", required=True, help="LAGraph, a shared library")
    parser.add_argument("--program", default="target/release/examples/compare_suitesparse")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="graphs, by commas")
    parser.add_argument("--operations", default="", help="by commas")
    parser.add_argument("--data", help="folder of .mtx files")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else GRAPHS + (FILES if options.data else [])
    lagraph = LAGraph(os.path.abspath(options.lagraph))
    check(lib.GxB_Global_Option_set_INT32(lib.GxB_GLOBAL_NTHREADS, options.threads))
    lagraph("LAGraph_SetNumThreads", ctypes.c_int(1), ctypes.c_int(options.threads))
    operations = options.operations.split(",") if options.operations else OPERATIONS
    if "together" in operations and not lagraph.has("LAGraph_MultiSourceBFS"):
        print("not measured: together (this library has no LAGraph_MultiSourceBFS)")
        operations = [o for o in operations if o != "together"]
    print(f"LAGraph {lagraph.version()} on SuiteSparse:GraphBLAS {ss.__version__}, {options.threads} threads each, medians of "
          f"{options.rounds} rounds in milliseconds, eight searches each but for `together`, divided by eight")
    print("no all-pairs shortest paths in LAGraph")
    print("| graph | vertices | edges | algorithm | oplus | LAGraph | ratio | results |")
    print("| --- | --: | --: | --- | --: | --: | --: | --- |")
    groups = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as directory:
        other = Other(options.program, directory, options)
        for name in names:
            graph = Graph(lagraph, pathlib.Path(directory), other.ask("graph", name))
            for operation in operations:
                theirs, ours, results, rounds = compare(other, graph, operation, options)
                many = len(graph.sources) if operation not in ("triangles", "together") else 1
                note = f" (delta {graph.chosen})" if operation.startswith("sssp") else ""
                note += f" ({rounds} round)" if rounds < options.rounds else ""
                groups[operation].append((theirs / ours, name))
                print(f"| {name} | {graph.n} | {graph.entries} | {operation}{note} | {ours / many * 1e3:.3f} | "
                      f"{theirs / many * 1e3:.3f} | {theirs / ours:.2f} | {results} |", flush=True)
            graph.close()
    print("\n| algorithm | graphs | mean | least | of |\n| --- | --: | --: | --: | --- |")
    for operation, ratios in groups.items():
        least = min(ratios)
        print(f"| {operation} | {len(ratios)} | {mean([r[0] for r in ratios]):.2f} | {least[0]:.2f} | {least[1]} |")
    everything = [r[0] for ratios in groups.values() for r in ratios]
    print(f"\nall {len(everything)}: {mean(everything):.2f}; below 1: {sum(r < 1 for r in everything)}")


if __name__ == "__main__":
    main()
