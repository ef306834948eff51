"""Random cases of operators alone, value by value and of every type, SuiteSparse's edges among the values."""
import struct

from cases import Case, Operand

BITS = ("bor", "band", "bxor", "bxnor")
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
FLOATS = ("f32", "f64")
COMPLEX = ("c32", "c64")
NUMBERS = INTEGERS + FLOATS
ELEMENTARY = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "ceil", "floor", "round", "trunc", "signum",
              "isinf", "isnan", "isfinite", "exp2", "expm1", "log2", "log10", "log1p", "asin", "acos", "atan", "asinh", "acosh", "atanh")
FLOATING = ("cbrt", "erf", "erfc", "lgamma", "tgamma", "frexpx", "frexpe")
# Names: types. `lor` and the like of numbers, `bshift` by an i8.
UNARY = {"bnot": INTEGERS, "lnot": NUMBERS, **dict.fromkeys(ELEMENTARY, FLOATS + COMPLEX), **dict.fromkeys(FLOATING, FLOATS)}
BOOL = ("bool",)
BINARY = {**dict.fromkeys(BITS + ("bget", "bset", "bclr", "bshift"), INTEGERS), "pow": NUMBERS + COMPLEX + BOOL,
          **dict.fromkeys(("rminus", "rdiv"), NUMBERS + COMPLEX), **dict.fromkeys(("iseq", "isne"), NUMBERS + COMPLEX + BOOL),
          **dict.fromkeys(("isgt", "islt", "isge", "isle"), NUMBERS + BOOL), **dict.fromkeys(("lor", "land", "lxor"), NUMBERS),
          **dict.fromkeys(("atan2", "hypot", "fmod", "remainder", "copysign", "ldexp"), FLOATS)}
TESTS = ("isinf", "isnan", "isfinite")
EDGES = {"f64": [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e308, -1e308, 5e-324, 2.5e-308, 709.7, 1e-9, 171.5],
         "f32": [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 3e38, -3e38, 1e-45, 2e-38, 88.7, 1e-5, 34.5]}
LENGTH = 24


class Functions:
    def argument(self, scalar, f):
        rng = self.rng
        if scalar == "bool":
            return self.chance(0.5)
        if scalar in INTEGERS:
            bits = int(scalar[1:])
            low, high = (0, (1 << bits) - 1) if scalar[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
            # Powers beyond 2^53 are rounded there and exact here: README.md, differences.
            if self.chance(0.5) or f == "pow" and bits == 64:
                return rng.randint(max(low, -4), 9)
            return rng.choice([low, low + 1, high, high - 1, 0, bits, bits - 1, bits + 1, max(low, -bits), max(low, 1 - bits),
                               rng.randint(low, high)]) if self.chance(0.7) else rng.randint(low, high)
        if scalar in FLOATS:
            if self.chance(0.3):
                return rng.choice(EDGES[scalar])
            # Whole numbers and halves; anything.
            return rng.randint(-12, 12) / 2 if self.chance(0.4) else self.single(rng.gauss(0, 1) * 10 ** rng.uniform(-4, 2))
        # Finite, small, and not beside a cut, which a rounded zero would be on either side of.
        part = lambda: self.single(rng.choice([0.5, -1.0, 2.0, 3.25, rng.uniform(0.1, 4), -rng.uniform(0.1, 4)]))
        return complex(part(), part())

    def single(self, x):
        """A value of either precision."""
        return struct.unpack("<f", struct.pack("<f", x))[0]

    def make_function(self, words):
        rng = self.rng
        unary = self.chance(0.5)
        f, types = rng.choice(list((UNARY if unary else BINARY).items()))
        scalar = rng.choice(types)
        words["f"] = f
        values = lambda t: Operand(t, "v", 1, LENGTH, [(0, j, self.argument(t, f)) for j in range(LENGTH)])
        operands = {"A": values(scalar)}
        # An exponent that is no int is undefined there: README.md, differences.
        exponents = [(0, j, float(rng.randint(-200, 200))) for j in range(LENGTH)]
        if not unary:
            operands["B"] = values("i8" if f == "bshift" else scalar)
            if f == "ldexp":
                operands["B"].entries = exponents
        operands["C"] = Operand("bool" if f in TESTS else scalar, "v", 1, LENGTH, [])
        return Case(words, operands)
