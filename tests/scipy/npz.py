"""SciPy's side of `.npz`: writes random matrices, and checks what oplus wrote back.

    python3 tests/scipy/npz.py make DIR
    OPLUS_NPZ=DIR cargo test --features npz --test interop -- --ignored scipy
    python3 tests/scipy/npz.py check DIR
"""
import pathlib
import sys

import numpy as np
import scipy.sparse as sp

DTYPES = [bool, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]


def values(random, dtype, n):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return random.random(n) < 0.5
    if dtype.kind == "c":
        return (random.standard_normal(n) + 1j * random.standard_normal(n)).astype(dtype)
    if dtype.kind == "f":
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny, np.finfo(dtype).max], dtype)
        return np.where(random.random(n) < 0.2, random.choice(special, n), random.standard_normal(n).astype(dtype))
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)


def make(folder):
    """Every dtype in every format: sorted or not, empty, large, int64 indices, other byte order, repeated entries."""
    random, count = np.random.default_rng(), 0
    for dtype in DTYPES:
        for form in ["csr", "csc", "coo"]:
            for kind in ["sorted", "unsorted", "wide", "swapped", "repeated", "empty", "plain"]:
                if kind == "repeated" and np.dtype(dtype).kind in "bfc":
                    continue  # Or and the order of sums are not the question here.
                if kind == "swapped" and form == "coo":
                    continue  # SciPy does not load these itself.
                m, n = random.integers(0, 200, 2) if kind == "empty" else random.integers(1, 200, 2)
                if kind == "wide":
                    n = int(random.integers(1 << 33, 1 << 40)) if form == "coo" else int(random.integers(1 << 20, 1 << 31))
                    if form == "csc":
                        m, n = n % 100_000, m
                        m = max(m, 1)
                entries = 0 if kind == "empty" or m * n == 0 else int(random.integers(1, 500))
                places = np.unique(random.integers(0, m * n, entries)) if entries else np.zeros(0, np.int64)
                if kind == "repeated":
                    places = np.concatenate([places, places[: len(places) // 2 + 1]])
                places = random.permutation(places)
                data = values(random, dtype, len(places))
                array = sp.coo_array((data, (places // n if n else places, places % n if n else places)), shape=(m, n))
                if form != "coo" and kind in ("unsorted", "repeated"):
                    # SciPy's own conversion would add up what is repeated.
                    rows = form == "csr"
                    outer, inner = (array.row, array.col) if rows else (array.col, array.row)
                    order = np.argsort(outer, kind="stable")
                    offsets = np.concatenate([[0], np.cumsum(np.bincount(outer, minlength=m if rows else n))])
                    make_it = sp.csr_array if rows else sp.csc_matrix
                    array = make_it((array.data[order], inner[order], offsets), shape=(m, n))
                elif form != "coo":
                    array = array.asformat(form)
                if form != "coo" and (kind == "wide" or random.random() < 0.3):
                    array.indices, array.indptr = array.indices.astype(np.int64), array.indptr.astype(np.int64)
                if kind == "swapped":
                    array.data = array.data.astype(array.data.dtype.newbyteorder(">"))
                name = f"{count:03}-{form}-{kind}-{np.dtype(dtype).name}.npz"
                sp.save_npz(folder / name, array, compressed=kind != "plain")
                count += 1
    print(f"{count} files of SciPy")


def entries(array):
    """Row, column and bits of each entry, in order; those of one position added up, zeros kept."""
    array.data = array.data.astype(array.data.dtype.newbyteorder("="))
    array = sp.coo_array(array)
    array.sum_duplicates()
    order = np.lexsort((array.col, array.row))
    bits = np.ascontiguousarray(array.data[order]).view(np.uint8)
    return array.shape, array.data.dtype, array.row[order].tolist(), array.col[order].tolist(), bits.tobytes()


def check(folder):
    count = 0
    for path in sorted(folder.glob("*.npz")):
        if ".back." in path.name:
            continue
        expected = entries(sp.load_npz(path))
        for ending in ["back.npz", "plain.back.npz"]:
            back = sp.load_npz(path.with_suffix("." + ending))
            if entries(back) != expected:
                sys.exit(f"{path.name}: {ending} differs: {back!r} for {sp.load_npz(path)!r}")
            if back.format == "csr":
                back.check_format(full_check=True)
                assert back.has_canonical_format, path.name
        count += 1
    print(f"{count} files came back as they were")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
