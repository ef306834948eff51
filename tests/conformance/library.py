"""The C functions of the wheel `suitesparse-graphblas`, and its operators by the names that cases have."""
import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import suitesparse_graphblas as ss
from cases import TYPES
from suitesparse_graphblas import ffi, lib

ss.initialize()
# What the library has compiled in is enough; nothing is compiled while it runs.
lib.GxB_Global_Option_set_INT32(lib.GxB_JIT_C_CONTROL, lib.GxB_JIT_OFF)
VERSION = ss.__version__
NULL = ffi.NULL
LOGICAL = {"lor", "land", "lxor", "lxnor"}
POSITIONAL = {"secondi", "firsti", "secondj", "firsti1", "secondi1", "secondj1"}
BITWISE = {"bor", "band", "bxor", "bxnor"}


def check(info):
    if info not in (lib.GrB_SUCCESS, lib.GrB_NO_VALUE):
        raise RuntimeError(f"GraphBLAS: {info}")


def find(name):
    """What the standard has, or SuiteSparse beyond it."""
    return getattr(lib, name, None) or getattr(lib, name.replace("GrB_", "GxB_", 1))


def type_of(scalar):
    return find(f"GrB_{TYPES[scalar][0]}")


def binary(name, scalar):
    """The operator on operands of `scalar`."""
    suffix = TYPES[scalar][0]
    if name in POSITIONAL:
        return getattr(lib, f"GxB_{name.upper()}_INT64")
    if name == "pair":
        return find(f"GrB_ONEB_{suffix}")
    if name in LOGICAL and scalar == "bool":
        return getattr(lib, f"GrB_{name.upper()}")
    return find(f"GrB_{name.upper()}_{suffix}")


def monoid(name, scalar):
    suffix = TYPES[scalar][0]
    if name == "any" or name in BITWISE or scalar.startswith("c"):
        return getattr(lib, f"GxB_{name.upper()}_{suffix}_MONOID")
    return getattr(lib, f"GrB_{name.upper()}_MONOID_{suffix}")


def unary(name, scalar):
    if name == "lnot" and scalar == "bool":
        return lib.GrB_LNOT
    if name == "one":
        return getattr(lib, f"GxB_ONE_{TYPES[scalar][0]}")
    return find(f"GrB_{name.upper()}_{TYPES[scalar][0]}")


def index_operator(name, scalar):
    if name.startswith("value"):
        return find(f"GrB_{name.upper()}_{TYPES[scalar][0]}")
    return getattr(lib, f"GrB_{name.upper()}_INT64" if name.endswith("index") else f"GrB_{name.upper()}")
