"""Elements read and written one by one in SuiteSparse, by a loop in C: Python would take longer than what is measured."""
import ctypes
import pathlib
import subprocess
import tempfile

import numpy as np
from suitesparse_graphblas import ffi, lib

from compare import check

SOURCE = """
#include <stddef.h>
#include <stdint.h>
typedef uint64_t u64;
typedef void *Matrix;
int get(int (*f)(double *, Matrix, u64, u64), Matrix a, const u64 *i, const u64 *j, const double *unused, size_t n, double *sum) {
  for (size_t e = 0; e < n; e++) {
    double x;
    const int info = f(&x, a, i[e], j[e]);
    if (info < 0) return info;
    if (info == 0) *sum += x;
  }
  return 0;
}
int set(int (*f)(Matrix, double, u64, u64), Matrix a, const u64 *i, const u64 *j, const double *x, size_t n, double *unused) {
  for (size_t e = 0; e < n; e++) {
    const int info = f(a, x[e], i[e], j[e]);
    if (info) return info;
  }
  return 0;
}
int drop(int (*f)(Matrix, u64, u64), Matrix a, const u64 *i, const u64 *j, const double *unused, size_t n, double *none) {
  for (size_t e = 0; e < n; e++) {
    const int info = f(a, i[e], j[e]);
    if (info) return info;
  }
  return 0;
}
"""
FUNCTIONS = {"get": "GrB_Matrix_extractElement_FP64", "set": "GrB_Matrix_setElement_FP64", "drop": "GrB_Matrix_removeElement"}


def compiled(kept=[]):
    if not kept:
        with tempfile.TemporaryDirectory() as folder:
            source, library = (pathlib.Path(folder) / name for name in ("elements.c", "elements.so"))
            source.write_text(SOURCE)
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
            kept.append(ctypes.CDLL(str(library)))
    return kept[0]


def each(what, a, coo):
    """`get`, `set` or `drop` of every place of `coo`: the sum of what was got, else 0, which is success."""
    _, _, rows, columns, values = coo
    pointer = lambda x: ctypes.c_void_p(int(ffi.cast("uintptr_t", x)))
    arrays = [ctypes.c_void_p(np.ascontiguousarray(v).ctypes.data) for v in (rows, columns, values)]
    total, function = ctypes.c_double(0.0), ffi.addressof(lib, FUNCTIONS[what])
    check(getattr(compiled(), what)(pointer(function), pointer(a), *arrays, ctypes.c_size_t(len(rows)), ctypes.byref(total)))
    return total.value
