"""Random cases of extract, assign, tiles, diagonals, kronecker, ewise_union, sort and single elements."""
from cases import Case, Operand
from random_types import COMPLEX, FLOATS, MIXED, SHAPED, TYPES


class Regions:
    """What `random_cases.Generator` makes besides."""

    def indices(self, n, used, twice=False):
        """None for all of n, or a list: a range, a stride, anything; an index more than once if `twice`."""
        rng = self.rng
        if n == 0 or self.chance(0.2):
            return [] if n == 0 and self.chance(0.5) else None
        if self.chance(0.06):
            return []
        if n > 1000:
            chosen = sorted(set(used))[: rng.randint(1, 20)] + [n - 1]
            rng.shuffle(chosen)
            return chosen
        form = rng.random()
        if form < 0.3:
            start = rng.randrange(n)
            return list(range(start, rng.randint(start + 1, n)))
        if form < 0.45:
            return list(range(n))[:: rng.choice([-1, 2, -2, 3])]
        chosen = rng.sample(range(n), rng.randint(1, n))
        if twice and self.chance(0.5):
            chosen += rng.choices(chosen, k=rng.randint(1, 5))
        return chosen

    def listed(self, role, indices, n):
        """The operand of a list."""
        return {} if indices is None else {role: Operand("u64", "v", 1, max(n, 1), [(0, i, 0) for i in indices])}

    def shaped(self, operation):
        """The operators of each type."""
        operators = SHAPED[operation].items()
        return {t: found for t in TYPES if (found := [f for f, types in operators if t in types])}

    def make_extract(self, words):
        rng = self.rng
        form = words["form"] = rng.choice(["matrix", "matrix", "matrix", "vector", "row", "column"])
        scalar, (m, n) = rng.choice(TYPES), self.shape()
        m = 1 if form == "vector" else m
        ta = form != "vector" and self.chance(0.3)
        if ta:
            words["ta"] = ""
        if form in ("row", "column"):
            m, n = max(m, 1), max(n, 1)
        a = self.container(scalar, "v" if form == "vector" else "m", *((n, m) if ta else (m, n)), "wild")
        used = [(e[1], e[0]) if ta else e[:2] for e in a.entries]
        rows, columns = ([e[k] for e in used] for k in (0, 1))
        i, j = self.indices(m, rows, True), self.indices(n, columns, True)
        operands = {"A": a}
        count = lambda list, n: n if list is None else len(list)
        if form in ("matrix", "column"):
            operands |= self.listed("I", i, m)
        if form != "column":
            operands |= self.listed("J", j, n)
        if form in ("row", "column"):
            lines = rows if form == "row" else columns
            words["at"] = str(rng.choice(lines) if lines else rng.randrange(m if form == "row" else n))
        shape = {"matrix": (count(i, m), count(j, n)), "column": (1, count(i, m))}.get(form, (1, count(j, n)))
        return self.finish(words, operands, scalar, "m" if form == "matrix" else "v", shape, "wild")

    def make_assign(self, words):
        rng = self.rng
        form = words["form"] = rng.choice(["matrix", "matrix", "row", "column", "vector", "scalar", "scalar", "scalar_vector",
                                           "empty", "empty_vector"])
        value, empty = form.startswith("scalar"), form.startswith("empty")
        sub = self.chance(0.5) and not empty
        if sub:
            words["sub"] = ""
        scalar, (m, n) = rng.choice(TYPES), self.shape()
        vector = form.endswith("vector")
        if form in ("row", "column"):
            m, n = max(m, 1), max(n, 1)
        m = 1 if vector else m
        # A value at every index of 2⁴⁰, and lists longer than what is there, are for other tests.
        if value:
            m, n = min(m, 40), min(n, 40)
        some = [rng.randrange(30) * (x // 31) if (x := max(m, n)) > 1000 else 0 for _ in range(9)]
        twice = value or empty
        i = None if vector or form == "row" else self.indices(m, [s for s in some if s < m] or [0], twice)
        j = None if form == "column" else self.indices(n, [s for s in some if s < n] or [0], twice)
        operands = {}
        count = lambda list, n: n if list is None else len(list)
        height, width = count(i, m), count(j, n)
        style = rng.choice(["tame", "wild"])
        if form == "matrix":
            ta = self.chance(0.3)
            if ta:
                words["ta"] = ""
            operands["A"] = self.container(scalar, "m", *((width, height) if ta else (height, width)), style)
        elif form == "column":
            operands["A"] = self.container(scalar, "v", 1, height, style)
            words["at"] = str(rng.randrange(n))
        elif form == "row":
            operands["A"] = self.container(scalar, "v", 1, width, style)
            words["at"] = str(rng.randrange(m))
        elif form == "vector":
            operands["A"] = self.container(scalar, "v", 1, width, style)
        elif value:
            operands["s"] = Operand(scalar, "v", 1, 1, [(0, 0, self.value(scalar, style))])
        operands |= self.listed("I", i, m) | self.listed("J", j, n)
        kind = "v" if vector else "m"
        mask_of = (kind, (height, width) if sub else (m, n))
        if form == "row":
            mask_of = ("v", (1, width if sub else n))
        elif form == "column":
            mask_of = ("v", (1, height if sub else m))
        return self.finish(words, operands, scalar, kind, (m, n), style, mask_of=mask_of)

    def make_ewise_union(self, words):
        case = self.two(words, self.shaped("ewise_union"))
        scalar = case.operands["A"].scalar
        for role in "st":
            case.operands[role] = Operand(scalar, "v", 1, 1, [(0, 0, self.value(scalar, "wild"))])
        return case

    def make_kronecker(self, words):
        rng = self.rng
        operators = self.shaped("kronecker")
        scalar = rng.choice(list(operators))
        words["f"] = rng.choice(operators[scalar])
        (m, n), (p, q) = self.shape(), self.shape()
        # One dimension of 2⁴⁰ in a result at most: SuiteSparse has dimensions up to 2⁶⁰.
        m, n, p, q = (x if x > 1000 and y <= 1000 else min(x, 12) for x, y in zip((m, n, p, q), (p, q, 0, 0)))
        ta, tb = self.chance(0.3), self.chance(0.3)
        for flag, on in (("ta", ta), ("tb", tb)):
            if on:
                words[flag] = ""
        other, style = scalar, self.exact(words, scalar)
        if self.chance(0.1):
            scalar, words["f"], other = rng.choice(MIXED["kronecker"])
        a = self.container(scalar, "m", *((n, m) if ta else (m, n)), style)
        b = self.container(other, "m", *((q, p) if tb else (p, q)), style)
        a.entries, b.entries = a.entries[:40], b.entries[:40]
        shape = (m * p, n * q)
        if 0 in shape:
            # Not 0 beside 2⁵⁰: README.md, faults of SuiteSparse.
            return self.make_diag({"op": "diag"})
        return self.finish(words, {"A": a, "B": b}, scalar, "m", shape, "wild")

    def exact(self, words, scalar):
        """Products of complex numbers are of finite ones: README.md, differences."""
        return "tame" if scalar in COMPLEX and words["f"] == "times" else "wild"

    def make_scale(self, words):
        operators, (m, n), ta = self.shaped("scale"), self.shape(), self.chance(0.3)
        scalar, rows = self.rng.choice(list(operators)), self.chance(0.5)
        words |= {"form": "rows" if rows else "columns", "f": self.rng.choice(operators[scalar])}
        if ta:
            words["ta"] = ""
        style = self.exact(words, scalar)
        a = self.container(scalar, "m", *((n, m) if ta else (m, n)), style)
        v = self.container(scalar, "v", 1, m if rows else n, style)
        return self.finish(words, {"A": a, "B": v}, scalar, "m", (m, n), "wild")

    def offset(self, m, n):
        m, n = min(m, 50), min(n, 50)
        return self.rng.choice([0, 1, -1, self.rng.randint(-m - 2, n + 2)])

    def make_diag(self, words):
        scalar, n = self.rng.choice(TYPES), self.dimension()
        k = self.offset(n, n)
        words["k"] = str(k)
        a, size = self.container(scalar, "v", 1, n, "wild"), n + abs(k)
        return self.finish(words, {"A": a}, scalar, "m", (size, size), "wild")

    def make_diag_extract(self, words):
        scalar, (m, n), ta = self.rng.choice(TYPES), self.shape(), self.chance(0.3)
        if ta:
            words["ta"] = ""
        k = self.offset(m, n)
        words["k"] = str(k)
        down, right = (-k, 0) if k < 0 else (0, k)
        length = max(0, min(m - down, n - right))
        a = self.container(scalar, "m", *((n, m) if ta else (m, n)), "wild")
        return self.finish(words, {"A": a}, scalar, "v", (1, length), "wild")

    def make_resize(self, words):
        scalar, kind = self.rng.choice(TYPES), "v" if self.chance(0.3) else "m"
        (m, n), (p, q) = self.shape(), self.shape()
        if kind == "v":
            m = p = 1
        a = self.container(scalar, kind, m, n, "wild")
        return Case(words, {"A": a, "C": Operand(scalar, kind, p, q, [])})

    def make_reshape(self, words):
        scalar, (m, n) = self.rng.choice(TYPES), self.shape()
        words["form"] = self.rng.choice(("rows", "columns"))
        # SuiteSparse refuses most hypersparse ones (INVALID_VALUE, or out of memory).
        m, n = min(m, 5000), min(n, 5000)
        a = self.container(scalar, "m", m, n, "wild")
        # Some of the rows' length is moved to the columns', or the other way.
        moved = [d for d in (1, 2, 3, 4, 5, 7, 8, m) if d and m % d == 0]
        back = [d for d in (2, 3, 4, 6, n) if d and n % d == 0]
        if back and self.chance(0.5):
            d = self.rng.choice(back)
            p, q = m * d, n // d
        else:
            d = self.rng.choice(moved)
            p, q = m // d, n * d
        return Case(words, {"A": a, "C": Operand(scalar, "m", p, q, [])})

    def make_concat(self, words):
        scalar = self.rng.choice(TYPES)
        height, width = self.rng.randint(1, 3), self.rng.randint(1, 3)
        heights, widths = ([self.rng.randint(0, 12) for _ in range(n)] for n in (height, width))
        words["tiles"] = f"{height}x{width}"
        operands = {"C": Operand(scalar, "m", sum(heights), sum(widths), [])}
        for r in range(height):
            for c in range(width):
                operands[str(r * width + c)] = self.container(scalar, "m", heights[r], widths[c], "wild")
        # One matrix is several tiles.
        shape = lambda n: (heights[n // width], widths[n % width])
        like = [n for n in range(1, height * width) if shape(n) == shape(0)]
        if like and self.chance(0.5):
            again = self.rng.sample(like, self.rng.randint(1, len(like)))
            words["same"] = ",".join(f"{n}:0" for n in again)
            for n in again:
                del operands[str(n)]
        return Case(words, operands)

    def make_split(self, words):
        scalar = self.rng.choice(TYPES)
        heights, widths = ([self.rng.randint(0, 12) for _ in range(self.rng.randint(1, 3))] for _ in range(2))
        for sizes in (heights, widths):
            # Beside a tile of no rows, that one has rows.
            sizes[0] = max(sizes[0], 1)
            if self.chance(0.1):
                sizes[self.rng.randrange(len(sizes))] = 1 << 40
            self.rng.shuffle(sizes)
        tile = self.rng.randrange(len(heights) * len(widths))
        words["tile"] = str(tile)
        a = self.container(scalar, "m", sum(heights), sum(widths), "wild")
        operands = {"A": a} | self.listed("I", heights, max(heights) + 1) | self.listed("J", widths, max(widths) + 1)
        shape = (heights[tile // len(widths)], widths[tile % len(widths)])
        return Case(words, operands | {"C": Operand(scalar, "m", *shape, [])})

    def make_sort(self, words):
        operators, (m, n) = self.shaped("sort"), self.shape()
        scalar = self.rng.choice(list(operators))
        kind = "v" if self.chance(0.3) else "m"
        m, n = (1 if kind == "v" else m), min(n, 700)
        m = min(m, 700)
        words["f"] = self.rng.choice(operators[scalar])
        # NaN is anywhere there: README.md, differences.
        a = self.container(scalar, kind, m, n, self.rng.choice(["tame", "ends" if scalar in FLOATS else "wild"]))
        values = self.chance(0.5)
        if values:
            words["values"] = ""
        return Case(words, {"A": a, "C": Operand(scalar if values else "u64", kind, m, n, [])})

    def make_update(self, words):
        scalar, kind = self.rng.choice(TYPES), "v" if self.chance(0.3) else "m"
        m, n = self.shape() if kind == "m" else (1, self.dimension())
        make = lambda: self.container(scalar, kind, m, n, "wild")
        a, set, removed = make(), make(), make()
        # Some of one place.
        taken = {e[:2] for e in removed.entries}
        removed.entries += [e for e in set.entries if e[:2] not in taken and self.chance(0.3)]
        # One position several times: the last counts.
        set.entries += [(i, j, self.value(scalar, "wild")) for i, j, _ in set.entries if self.chance(0.2)]
        self.rng.shuffle(set.entries)
        if self.chance(0.4):
            # What is removed is set afterwards, if it is.
            words["removed"] = ""
        operands = {"A": a, "U": set, "D": removed, "C": Operand(scalar, kind, a.nrows, n, [])}
        return Case(words, operands)
