"""What cases have of each type: the tables of call.rs, product.rs, entrywise.rs, structure.rs and shape.rs. A type is drawn
first, each as often, then what it has: all of it of some types, and of the others some each, for every one is compiled."""

FLOATS, COMPLEX = ("f32", "f64"), ("c32", "c64")
TYPES = ("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64") + FLOATS + COMPLEX
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
ARITHMETIC = ("plus", "minus", "times", "div", "min", "max", "first", "second")
BITS = ("bor", "band", "bxor", "bxnor")
ACCUMULATORS = {"bool": ("lor", "lxor", "second"), "u8": ("plus", "minus"), "i32": ("plus", "minus", "min"),
                "f64": ("plus", "minus", "first", "second"), "c64": ("plus", "minus", "second"), "i64": ("plus", "minus"),
                "u64": ("plus", "min"), "i8": ("minus",), "i16": ("max",), "u16": ("plus",), "u32": ("min",),
                "f32": ("plus", "times"), "c32": ("plus",)}
RINGS = {
    "bool": ("lor_land", "land_lor", "lxor_land", "lor_first", "lxor_second", "lxnor_lor", "plus_pair", "any_pair", "min_secondi",
             "max_firsti1"),
    "u8": ("plus_times", "min_plus", "max_min", "times_plus", "lor_lt", "min_secondi1", "bor_band", "band_bor", "bxor_band",
           "bxnor_bor", "bor_bxor"),
    "i32": ("plus_times", "min_plus", "max_plus", "min_max", "min_times", "min_first", "min_second", "plus_first", "plus_minus",
            "min_div", "land_ge", "lxor_eq", "any_pair", "max_secondi", "min_secondj1"),
    "f64": ("plus_times", "min_plus", "max_plus", "min_max", "max_min", "min_times", "max_times", "min_first", "max_second",
            "plus_second", "min_minus", "min_div", "lor_lt", "plus_pair", "min_secondi", "min_secondj", "max_firsti"),
    "c64": ("plus_times", "plus_first", "plus_second", "times_second", "lor_ne", "plus_pair"),
    "i8": ("plus_times", "min_plus"), "i16": ("plus_times", "max_plus"), "u16": ("plus_times", "min_plus"),
    "u32": ("plus_times", "min_plus"), "i64": ("plus_times", "min_plus"), "u64": ("plus_times", "min_plus"),
    "f32": ("plus_times", "min_plus", "max_times"), "c32": ("plus_times", "plus_first"),
}
# The type of a product where it is not that of the operands, by multiply or by semiring.
RESULTS = {"plus_pair": "u64", "any_pair": "bool", "lor_ne": "bool", "lor_lt": "bool", "land_ge": "bool", "lxor_eq": "bool",
           **dict.fromkeys(("secondi", "secondj", "firsti", "firsti1", "secondi1", "secondj1"), "u64")}
# Operators that ewise_add, ewise_mult, apply_first and apply_second have; comparisons all but ewise_add.
BINARY = {
    "bool": ("lor", "land", "lxor", "lxnor", "first", "second") + COMPARISONS, "u8": ARITHMETIC + BITS + COMPARISONS,
    "i32": ARITHMETIC + ("bget", "bset", "bclr", "rminus", "iseq") + COMPARISONS,
    "f64": ARITHMETIC + ("rdiv", "fmod", "isgt", "copysign") + COMPARISONS,
    "c64": ("plus", "minus", "times", "div", "first", "second", "eq", "ne"),
    "i8": ("plus", "minus", "min", "lt"), "i16": ("times", "max", "div", "eq"), "u16": ("plus", "div", "gt"),
    "u32": ("minus", "second", "ne"), "i64": ("plus", "times", "min", "le"), "u64": ("plus", "max", "first", "ge"),
    "f32": ("plus", "minus", "times", "div", "min", "max", "lt"), "c32": ("plus", "minus", "times", "ne"),
}
UNARY = {
    "bool": ("identity", "lnot"), "u8": ("identity", "ainv", "minv", "bnot"), "i32": ("identity", "ainv", "abs", "minv", "lnot"),
    "f64": ("identity", "ainv", "abs", "minv", "sqrt", "floor", "signum"),
    "c64": ("identity", "ainv", "abs", "minv", "conj", "creal", "cimag", "round"), "i8": ("identity", "ainv", "abs"),
    "i16": ("ainv", "minv"), "u16": ("identity", "bnot"), "u32": ("lnot", "minv"), "i64": ("ainv", "abs"),
    "u64": ("identity", "bnot"), "f32": ("ainv", "abs", "minv", "sqrt"), "c32": ("ainv", "abs", "conj"),
}
REAL = ("abs", "creal", "cimag")
INDEXED = ("bool", "u16", "f32", "f64", "c32")
MONOIDS = {
    "bool": ("lor", "land", "lxor", "lxnor"), "u8": ("plus", "times", "min", "max") + BITS, "i32": ("plus", "times", "min", "max"),
    "f64": ("plus", "times", "min", "max"), "c64": ("plus", "times"), "i8": ("plus", "min"), "i16": ("times", "max"),
    "u16": ("plus", "bor"), "u32": ("min", "bxor"), "i64": ("plus", "max"), "u64": ("plus", "min"),
    "f32": ("plus", "times", "min", "max"), "c32": ("plus",),
}
# Of values, and of positions.
VALUES = tuple(f"value{f}" for f in COMPARISONS)
POSITIONS = ("tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt")
PREDICATES = {
    **dict.fromkeys(TYPES, (("valuene", "valuelt", "valuege"), ("triu",))), "c32": (("valuene",), ("triu",)),
    "c64": (VALUES[:2], POSITIONS), **dict.fromkeys(("bool", "u8", "i32", "f64"), (VALUES, POSITIONS)),
}
BUILDS = {
    "bool": ("lor", "lxor", "first", "second"), "c64": ("plus", "minus", "first", "second"),
    **dict.fromkeys(("u8", "i32", "f64"), ("plus", "minus", "first", "second", "min")), "i8": ("minus",), "i16": ("first",),
    "u16": ("plus",), "u32": ("second",), "i64": ("min",), "u64": ("plus",), "f32": ("plus",), "c32": ("plus",),
}
# By operation and operator, the types.
SHAPED = {
    "ewise_union": {"plus": ("u8", "i32", "i64", "f64", "c64"), "minus": ("u16", "i32", "f64", "c32"), "times": ("i8", "i32", "f64"),
                    "min": ("i16", "i32", "u64", "f32", "f64"), "second": ("bool", "i32", "u32", "f64")},
    "kronecker": {"times": ("u8", "i32", "u64", "f64", "c32"), "minus": ("i16", "i32", "f64"),
                  "first": ("bool", "i32", "u32", "f64", "c64"), "min": ("i8", "u16", "i32", "i64", "f32", "f64")},
    "scale": {"times": ("u16", "i32", "u32", "f32", "f64", "c64"), "minus": ("i8", "i32", "i64", "f64"),
              "second": ("bool", "u8", "i16", "i32", "u64", "f64", "c32")},
    "sort": {"lt": ("u8", "u16", "i32", "i64", "f32", "f64"), "gt": ("i8", "i16", "i32", "u32", "u64", "f64")},
}


# Operands of two types: by operation the type of A, its operator or semiring and the type of B.
MIXED = {
    "ewise_mult": (("i32", "bshift", "i8"), ("f64", "first", "u8"), ("bool", "second", "i32")),
    "kronecker": (("f64", "first", "bool"),), "product": (("f64", "plus_first", "bool"), ("bool", "plus_second", "i32")),
}
# Conversions into an output that there is: of the types that other operations make of these as well.
WRITTEN = (*((t, "bool") for t in ("i8", "u8", "i16", "u32", "i64", "f64", "c64")),
           *((t, "i64") for t in ("bool", "u16", "f32", "f64", "c32")), ("c32", "f32"), ("c64", "f64"), ("i32", "f64"), ("f64", "i32"))
# Sums over all of a product, by type: the semiring and the monoid.
SUMMED = {"i32": ("plus_times", "plus"), "f64": ("min_plus", "min"), "bool": ("lor_land", "lor")}


def result(ring, scalar):
    """The type of a product."""
    return RESULTS.get(ring) or RESULTS.get(ring.split("_")[1]) or scalar
