"""Random cases: operation × types × semiring × mask × accumulator × replace × transposes × shapes × aliasing."""
from cases import Case, Operand
from random_functions import Functions
from random_regions import Regions
from random_types import (ACCUMULATORS, BINARY, BUILDS, COMPARISONS, COMPLEX, FLOATS, INDEXED, MIXED, MONOIDS, PREDICATES, REAL, RINGS,
                          SUMMED, TYPES, UNARY, WRITTEN, result)

HUGE = 1 << 40
OPERATIONS = {"mxm": 10, "mxv": 5, "vxm": 5, "mxm_reduce": 1, "ewise_add": 4, "ewise_mult": 4, "apply": 2, "apply_first": 2,
              "apply_second": 2, "apply_index": 2, "select": 4, "reduce_rows": 3, "reduce": 2, "transpose": 3,
              "extract_rows": 3, "build": 3, "cast": 3, "extract": 6, "assign": 12,
              "ewise_union": 3, "kronecker": 3, "diag": 2, "diag_extract": 2, "resize": 2, "concat": 2, "split": 2,
              "sort": 2, "update": 3, "scale": 2, "reshape": 2, "function": 8}
# What most cases of values hold, and what some hold as well. Sums and products of the fractions are exact, so that no
# order of summation shows.
COMMON = {"f64": [-3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 4.0, 6.5]}
RARE = {"f64": [float("nan"), float("inf"), float("-inf"), -0.0, 1e300, 5e-324], "f32": [float("nan"), float("inf"), -0.0, 1e30]}
SOME = {"special": [float("nan"), float("inf"), float("-inf"), -0.0], "above": [float("inf"), 1e30],
        "ends": [float("inf"), float("-inf"), -0.0, 1e30, 1e-45]}
# Products of any number of them are exact; of a matrix's f32 as well.
UNITS = {"f64": [-2.0, -1.0, 0.5, 1.0, 1.0, 2.0, 0.0], "f32": [-1.0, 1.0, 1.0, 1.0, 0.5, 2.0, 0.0]}
# Complex numbers are finite where there are products or lengths: ∞ is for C99 to make something of, README.md, differences. The
# axes' lengths are exact, and so are products of any number of turns.
PLANE = [complex(a, b) for a in (0, 0.5, -1, 3) for b in (0, 1, -2, 0.25)]
AXES = [complex(1, 0), complex(0, 1), complex(-2, 0), complex(0, -0.5), complex(0.5, 0), complex(3, 4), complex(-8, 6), 0j]
TURNS = [complex(1, 0), complex(0, 1), complex(-1, 0), complex(0, -2), complex(0.5, 0), complex(0, 1)]
LIMITS = {"i8": (-128, 127), "u8": (0, 255), "i16": (-(1 << 15), (1 << 15) - 1), "u16": (0, 65535),
          "i32": (-(1 << 31), (1 << 31) - 1), "u32": (0, (1 << 32) - 1), "i64": (-(1 << 63), (1 << 63) - 1),
          "u64": (0, (1 << 64) - 1)}


class Generator(Regions, Functions):
    """Cases from a `random.Random`; `size` bounds dimensions and entries: small, usual or large."""

    def __init__(self, rng, size="usual"):
        self.rng, self.small, self.large = rng, size == "small", size == "large"

    def chance(self, p):
        return self.rng.random() < p

    def dimension(self):
        r = self.rng.random()
        if r < 0.05:
            return 0
        if r < 0.12:
            return 1
        if r < 0.15:
            return HUGE
        if r < 0.18 and not self.small or r < 0.6 and self.large:
            return self.rng.randint(200, 700)
        return self.rng.randint(2, 9 if self.small else 40)

    def value(self, scalar, style):
        rng = self.rng
        if scalar == "bool":
            return rng.random() < 0.6
        if scalar in FLOATS:
            if style == "units":
                return rng.choice(UNITS[scalar])
            if style == "wild" and self.chance(0.25):
                return rng.choice(RARE[scalar])
            if style in SOME and self.chance(0.25):
                return rng.choice(SOME[style])
            if style == "nonzero":
                return rng.choice(COMMON["f64"]) or 8.0
            return rng.choice(COMMON["f64"])
        if scalar.startswith("c"):
            if style == "wild" and self.chance(0.25):
                part = lambda: rng.choice([float("nan"), float("inf"), float("-inf"), -0.0, 2.0])
                return complex(part(), part())
            return rng.choice({"units": TURNS, "axes": AXES}.get(style, PLANE))
        low, high = LIMITS[scalar]
        if style == "wild" and self.chance(0.3):
            return rng.choice([low, high, low + 1, high - 1, 0, rng.randint(low, high)])
        return rng.randint(max(low, 0 if style == "positive" else -4), 6)

    def shape(self):
        """Two dimensions; never 0 and 2⁴⁰: README.md, faults of SuiteSparse."""
        m, n = self.dimension(), self.dimension()
        if self.chance(0.3):
            m = n
        return (min(m, 40), min(n, 40)) if 0 in (m, n) else (m, n)

    def positions(self, nrows, ncols):
        """Sorted positions of one of several patterns."""
        rng = self.rng
        if nrows == 0 or ncols == 0:
            return []
        some = lambda n: rng.randrange(n) if n <= 1000 else rng.randrange(30) * (n // 31)
        form = rng.random()
        if form < 0.08:
            return []
        cells = nrows * ncols
        if form < 0.16 and cells <= 150:
            return [(i, j) for i in range(nrows) for j in range(ncols)]
        most = 40 if self.small else 9000 if self.large else 250
        n = rng.randint(1, max(1, min(most, int(min(cells, HUGE) * rng.choice([0.1, 0.3, 0.7])) + 1)))
        found = {(some(nrows), some(ncols)) for _ in range(n)}
        if form > 0.93 and ncols <= 700:
            row = some(nrows)
            found |= {(row, j) for j in range(min(ncols, 200))}
        elif form > 0.86 and nrows <= 700:
            column = some(ncols)
            found |= {(i, column) for i in range(min(nrows, 200))}
        return sorted(found)

    def container(self, scalar, kind, nrows, ncols, style):
        places = self.positions(1 if kind == "v" else nrows, ncols)
        same = self.value(scalar, style) if self.chance(0.15) else None
        nrows = 1 if kind == "v" else nrows
        return Operand(scalar, kind, nrows, ncols,
                       [(i, j, self.value(scalar, style) if same is None else same) for i, j in places])

    def finish(self, words, operands, out, kind, shape, style, plain=False, mask_of=None):
        """With output, mask, accumulator and replace, and now and then roles that are one object. `mask_of` is the mask's
        kind and shape where they are not the output's."""
        rng = self.rng
        aliases = {}
        # Roles that have the output's shape and type can be the output.
        like = [r for r in "AB" if r in operands and (operands[r].kind, (operands[r].nrows, operands[r].ncols)) == (kind, shape)
                and operands[r].scalar == out]
        if "B" in operands and self.chance(0.12) and self.equal(operands["A"], operands["B"]):
            aliases["B"] = "A"
        if like and self.chance(0.25):
            aliases["C"] = aliases.get(rng.choice(like), "A") if "B" in aliases else rng.choice(like)
        else:
            operands["C"] = self.container(out, kind, *shape, style)
            if self.chance(0.3):
                operands["C"].entries = []
        if not plain and self.chance(0.6):
            mask = [w for w, p in (("structural", 0.5), ("complement", 0.4)) if self.chance(p)] or ["valued"]
            words["mask"] = ",".join(mask)
            # Anything of the right shape can be the mask, the output too.
            mask_kind, mask_shape = mask_of or (kind, shape)
            able = [r for r in "ABC" if r in operands and operands[r].kind == mask_kind
                    and (operands[r].nrows, operands[r].ncols) == mask_shape]
            if able and self.chance(0.2):
                role = rng.choice(able)
                aliases["M"] = aliases.get(role, role)
            else:
                operands["M"] = self.container(rng.choice(TYPES), mask_kind, *mask_shape, "wild")
                self.without_minus_zero(operands["M"])
        if not plain:
            if self.chance(0.4):
                words["accum"] = rng.choice(ACCUMULATORS[out])
            if self.chance(0.35):
                words["replace"] = ""
        if "B" in aliases:
            del operands["B"]
        if aliases.get("M") in ("A", "B", "C") and "structural" not in words.get("mask", ""):
            self.without_minus_zero(operands.get(aliases["M"], operands.get("A")))
        if aliases:
            words["same"] = ",".join(f"{k}:{v}" for k, v in aliases.items())
        return Case(words, operands)

    def without_minus_zero(self, mask):
        """-0.0 is true to SuiteSparse: README.md, differences."""
        if mask.scalar in FLOATS + COMPLEX:
            mask.entries = [(i, j, 0.0 if v == 0 else v) for i, j, v in mask.entries]

    def equal(self, a, b):
        return (a.kind, a.nrows, a.ncols, a.scalar) == (b.kind, b.nrows, b.ncols, b.scalar)

    def case(self, operation=None):
        operation = operation or self.rng.choices(list(OPERATIONS), OPERATIONS.values())[0]
        return getattr(self, f"make_{operation}")({"op": operation})

    def product(self, words, kinds, summed=False):
        rng = self.rng
        scalar = other = rng.choice(list(SUMMED) if summed else TYPES)
        ring = words["ring"] = rng.choice(RINGS[scalar])
        if summed:
            ring, words["f"] = SUMMED[scalar]
            words["ring"] = ring
        elif self.chance(0.04):
            scalar, ring, other = rng.choice(MIXED["product"])
            words["ring"] = ring
        saturating = ring in ("min_plus", "max_plus", "min_times", "max_times")
        if scalar in FLOATS:
            # Plus: anything whose sum is the same in any order; times: powers of two. Min and max: no sum of nothing but
            # NaN, README.md, differences; so no ∞ − ∞, ∞ · 0 and 0 / 0.
            add, multiply = ring.split("_")
            by_multiply = {"plus": "above", "minus": "tame", "times": "tame", "div": "nonzero"}
            wild = {"plus": "special", "times": "units"}.get(add) or by_multiply.get(multiply, "ends")
            style = wild if wild in ("units", "nonzero") else rng.choice(["tame", wild])
        elif scalar in COMPLEX:
            wild = ring in ("plus_first", "plus_second", "lor_ne", "plus_pair")
            style = "units" if ring.startswith("times") else rng.choice(["tame", "wild"]) if wild else "tame"
        else:
            # Integers of these saturate here and wrap there: README.md, differences.
            style = "tame" if saturating else rng.choice(["tame", "wild"])
        m, k, n = (self.dimension() for _ in range(3))
        if self.chance(0.3):
            m = k = n
        if 0 in (m, k, n):
            m, k, n = min(m, 9), min(k, 9), min(n, 9)
        if ring.endswith(("firsti", "secondj", "firsti1", "secondj1")):
            # Faults of SuiteSparse: README.md.
            m, k, n = min(m, 700), min(k, 700), min(n, 700)
        m, n = (1 if kinds[0] == "v" else m), (1 if kinds[1] == "v" else n)
        ta, tb = (kinds[x] == "m" and self.chance(0.35) for x in (0, 1))
        for flag, on in (("ta", ta), ("tb", tb)):
            if on:
                words[flag] = ""
        a = self.container(scalar, kinds[0], *((k, m) if ta else (m, k)), style)
        b = self.container(other, kinds[1], *((n, k) if tb else (k, n) if kinds[1] == "m" else (1, k)), style)
        kind = "m" if kinds == "mm" else "v"
        shape = (1, m) if kinds == "mv" else (m, n)
        out = other if ring.endswith("_second") else result(ring, scalar)
        return self.finish(words, {"A": a, "B": b}, out, kind, shape, style)

    def make_mxm_reduce(self, words):
        """The sum over all of a product, which is not written anywhere."""
        case = self.product(words, "mm", True)
        for word in ("accum", "replace"):
            case.words.pop(word, None)
        return case

    def make_mxm(self, words):
        return self.product(words, "mm")

    def make_mxv(self, words):
        return self.product(words, "mv")

    def make_vxm(self, words):
        return self.product(words, "vm")

    def two(self, words, operators):
        """`operators` are those of each type."""
        rng = self.rng
        scalar = rng.choice(list(operators))
        words["f"] = rng.choice(operators[scalar])
        kind = "v" if self.chance(0.3) else "m"
        m, n = self.shape() if kind == "m" else (1, self.dimension())
        ta, tb = (kind == "m" and self.chance(0.3) for _ in range(2))
        for flag, on in (("ta", ta), ("tb", tb)):
            if on:
                words[flag] = ""
        other = scalar
        if words["op"] in MIXED and self.chance(0.1):
            scalar, words["f"], other = rng.choice(MIXED[words["op"]])
        style = self.styled(words, scalar)
        a = self.container(scalar, kind, *((n, m) if ta else (m, n)), style)
        b = self.container(other, kind, *((n, m) if tb else (m, n)), style)
        out = "bool" if words["f"] in COMPARISONS else other if (words["f"], scalar != other) == ("second", True) else scalar
        return self.finish(words, {"A": a, "B": b}, out, kind, (m, n), style)

    def styled(self, words, scalar):
        """Of complex numbers, what lengths are exact of, and no ∞ where parts meet."""
        if scalar in COMPLEX and words.get("f") in ("abs", "times", "div", "minv"):
            return "axes" if words["f"] == "abs" else "tame"
        return self.rng.choice(["tame", "wild"])

    def make_ewise_add(self, words):
        return self.two(words, {t: [f for f in all if f not in COMPARISONS] for t, all in BINARY.items()})

    def make_ewise_mult(self, words):
        return self.two(words, BINARY)

    def one(self, words, scalar, out, kind=None, transposable=True):
        rng = self.rng
        kind = kind or ("v" if self.chance(0.3) else "m")
        m, n = self.shape() if kind == "m" else (1, self.dimension())
        ta = kind == "m" and transposable and self.chance(0.3)
        if ta:
            words["ta"] = ""
        style = self.styled(words, scalar)
        operands = {"A": self.container(scalar, kind, *((n, m) if ta else (m, n)), style)}
        return operands, out, kind, (m, n), style

    def make_apply(self, words):
        scalar = self.rng.choice(TYPES)
        words["f"] = self.rng.choice(UNARY[scalar])
        out = scalar.replace("c", "f") if scalar in COMPLEX and words["f"] in REAL else scalar
        return self.finish(words, *self.one(words, scalar, out))

    def make_cast(self, words):
        if self.chance(0.3):
            a, c = self.rng.choice(WRITTEN)
            words["written"] = ""
            return self.finish(words, *self.one(words, a, c))
        a, c = self.rng.choice(TYPES), self.rng.choice(TYPES)
        operands, out, kind, shape, style = self.one(words, a, c, transposable=False)
        return self.finish(words, operands, out, kind, shape, style, plain=True)

    def bound(self, words):
        scalar = self.rng.choice(TYPES)
        words["f"] = self.rng.choice(BINARY[scalar])
        operands, out, kind, shape, style = self.one(words, scalar, scalar)
        operands["s"] = Operand(scalar, "v", 1, 1, [(0, 0, self.value(scalar, style))])
        return self.finish(words, operands, "bool" if words["f"] in COMPARISONS else scalar, kind, shape, style)

    make_apply_first = make_apply_second = bound

    def thunk(self, shape):
        n = max(shape)
        n = min(n, 40) if n < HUGE else n
        return Operand("i64", "v", 1, 1, [(0, 0, self.rng.choice([0, 0, 1, -1, self.rng.randint(-n - 2, n + 2)]))])

    def make_apply_index(self, words):
        words["f"] = self.rng.choice(("rowindex", "colindex", "diagindex"))
        operands, out, kind, shape, style = self.one(words, self.rng.choice(INDEXED), "i64")
        operands["s"] = self.thunk(shape)
        return self.finish(words, operands, out, kind, shape, style)

    def make_select(self, words):
        scalar = self.rng.choice(TYPES)
        by_value = self.chance(0.5)
        words["f"] = self.rng.choice(PREDICATES[scalar][0 if by_value else 1])
        operands, out, kind, shape, style = self.one(words, scalar, scalar)
        operands["s"] = Operand(scalar, "v", 1, 1, [(0, 0, self.value(scalar, style))]) if by_value else self.thunk(shape)
        return self.finish(words, operands, out, kind, shape, style)

    def folded(self, words, kind):
        scalar = self.rng.choice(TYPES)
        words["f"] = self.rng.choice(MONOIDS[scalar])
        m, n = self.shape() if kind == "m" else (1, self.dimension())
        style = self.rng.choice(["tame", "special" if scalar in FLOATS and words["f"] == "plus" else "wild"])
        if words["f"] == "times" and scalar in FLOATS + COMPLEX:
            style = "units"
        if words["f"] == "times" and max(m, n) > 100:
            n = min(n, 20)
            m = min(m, 20)
        return scalar, m, n, style

    def make_reduce_rows(self, words):
        scalar, m, n, style = self.folded(words, "m")
        # SuiteSparse up to 10.5.1 reports DIMENSION_MISMATCH for sums over no columns under some masks.
        n = max(n, 1)
        ta = self.chance(0.4)
        if ta:
            words["ta"] = ""
        a = self.container(scalar, "m", *((n, m) if ta else (m, n)), style)
        return self.finish(words, {"A": a}, scalar, "v", (1, m), style)

    def make_reduce(self, words):
        kind = "v" if self.chance(0.3) else "m"
        scalar, m, n, style = self.folded(words, kind)
        a = self.container(scalar, kind, m, n, style)
        if words["f"] in ("min", "max") and all(v != v for _, _, v in a.entries):
            # Nothing but NaN: README.md, differences.
            a.entries = [(i, j, 1.0) for i, j, _ in a.entries]
        return Case(words, {"A": a})

    def make_transpose(self, words):
        (m, n), ta = self.shape(), self.chance(0.25)
        if ta:
            words["ta"] = ""
        scalar = self.rng.choice(TYPES)
        a = self.container(scalar, "m", *((m, n) if ta else (n, m)), "wild")
        return self.finish(words, {"A": a}, scalar, "m", (m, n), "wild")

    def make_extract_rows(self, words):
        rng = self.rng
        (m, n), ta = self.shape(), self.chance(0.3)
        if ta:
            words["ta"] = ""
        scalar = rng.choice(TYPES)
        a = self.container(scalar, "m", *((n, m) if ta else (m, n)), "wild")
        used = [e[1 if ta else 0] for e in a.entries] or [0]
        rows = [] if m == 0 or self.chance(0.1) else [rng.choice(used) if m > 1000 or self.chance(0.3) else rng.randrange(m)
                                                     for _ in range(rng.randint(1, 12 if self.small else 50))]
        if rows and m <= 700 and self.chance(0.2):
            rows = list(range(m))[:: rng.choice([1, -1, 2])]
        operands = {"A": a, "I": Operand("u64", "v", 1, max(m, 1), [(0, r, 0) for r in rows])}
        return self.finish(words, operands, scalar, "m", (len(rows), n), "wild")

    def make_build(self, words):
        rng = self.rng
        scalar = rng.choice(TYPES)
        words["f"] = rng.choice(BUILDS[scalar])
        kind = "v" if self.chance(0.3) else "m"
        m, n = self.shape() if kind == "m" else (1, self.dimension())
        a = self.container(scalar, kind, m, n, "tame")
        # In any order, some positions several times.
        entries = a.entries + [(i, j, self.value(scalar, "tame")) for i, j, _ in a.entries if self.chance(0.4)] * rng.choice([1, 1, 3])
        rng.shuffle(entries)
        a.entries = entries
        return Case(words, {"A": a, "C": Operand(scalar, kind, a.nrows, n, [])})
