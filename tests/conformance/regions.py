"""SuiteSparse's side of extract, assign, tiles, diagonals, kronecker, ewise_union, sort and single elements."""
from cases import TYPES, Operand
from library import binary, check, ffi, find, lib, type_of, unary


class Regions:
    """What `graphblas.Run` does besides."""

    def part(self, shape):
        """The arguments for rows and columns of a part of this shape."""
        return *self.list("I", shape[0]), *self.list("J", shape[1])

    def shape(self, role):
        o = self.case.operand(role)
        return (o.ncols, o.nrows) if role == "A" and self.case.has("ta") else (o.nrows, o.ncols)

    def extract(self, head, d):
        form = self.case.form
        if form == "vector":
            check(lib.GrB_Vector_extract(*head, self.get("A"), *self.list("J", self.shape("A")[1]), d))
        elif form == "column":
            check(lib.GrB_Col_extract(*head, self.get("A"), *self.list("I", self.shape("A")[0]), int(self.case.at), d))
        elif form == "row":
            # A row is a column of the transpose.
            check(lib.GrB_Descriptor_set(d, lib.GrB_INP0, lib.GxB_DEFAULT if self.case.has("ta") else lib.GrB_TRAN))
            check(lib.GrB_Col_extract(*head, self.get("A"), *self.list("J", self.shape("A")[1]), int(self.case.at), d))
        else:
            check(lib.GrB_Matrix_extract(*head, self.get("A"), *self.part(self.shape("A")), d))

    def assign(self, head, d):
        form, shape, sub = self.case.form, self.shape("C"), self.case.has("sub")
        where = "GxB_{}_subassign" if sub else "GrB_{}_assign"
        if form.startswith("empty"):
            s = self.keep("Scalar")
            check(lib.GrB_Scalar_new(s, type_of(self.case.operand("C").scalar)))
            vector = form == "empty_vector"
            function = lib.GrB_Vector_assign_Scalar if vector else lib.GrB_Matrix_assign_Scalar
            check(function(*head, s[0], *(self.list("J", shape[1]) if vector else self.part(shape)), d))
            return
        if form.startswith("scalar"):
            suffix, value = self.thunk()
            vector = form == "scalar_vector"
            function = find(where.format("Vector" if vector else "Matrix") + "_" + suffix)
            check(function(*head, value, *(self.list("J", shape[1]) if vector else self.part(shape)), d))
            return
        function = getattr(lib, where.format({"row": "Row", "column": "Col", "vector": "Vector", "matrix": "Matrix"}[form]))
        a, at = self.get("A"), int(self.case.at or 0)
        if form == "row":
            check(function(*head, a, at, *self.list("J", shape[1]), d))
        elif form == "column":
            check(function(*head, a, *self.list("I", shape[0]), at, d))
        elif form == "vector":
            check(function(*head, a, *self.list("J", shape[1]), d))
        else:
            check(function(*head, a, *self.part(shape), d))

    def ewise_union(self, head, d):
        scalar = self.case.operand("A").scalar
        fills = []
        for role in "st":
            s = self.keep("Scalar")
            check(lib.GrB_Scalar_new(s, type_of(scalar)))
            value = self.case.operands[role].entries[0][2]
            check(find(f"GrB_Scalar_setElement_{TYPES[scalar][0]}")(s[0], value))
            fills.append(s[0])
        function = getattr(lib, f"GxB_{self.kind()}_eWiseUnion")
        check(function(*head, binary(self.case.f, scalar), self.get("A"), fills[0], self.get("B"), fills[1], d))

    def kronecker(self, head, d):
        check(lib.GrB_Matrix_kronecker_BinaryOp(*head, self.either(), self.get("A"), self.get("B"), d))

    def scale(self, head, d):
        """A product with a diagonal matrix: every sum has one term. The vector is B."""
        v = self.case.operand("B")
        diagonal = self.make(Operand(v.scalar, "m", v.ncols, v.ncols, [(j, j, x) for _, j, x in v.entries]))
        ring = self.semiring(f"any_{self.case.f}", v.scalar, v.scalar)
        a = self.get("A")
        if self.case.form == "rows":
            # A is the second operand there.
            if self.case.has("ta"):
                check(lib.GrB_Descriptor_set(d, lib.GrB_INP0, lib.GxB_DEFAULT))
                check(lib.GrB_Descriptor_set(d, lib.GrB_INP1, lib.GrB_TRAN))
            check(lib.GrB_mxm(*head, ring, diagonal, a, d))
        else:
            check(lib.GrB_mxm(*head, ring, a, diagonal, d))

    def made_then(self, kind, make, head, d):
        """What has no mask, accumulator and replace of its own, written with these."""
        c = self.case.operand("C")
        made = self.make(Operand(c.scalar, c.kind, c.nrows, c.ncols, []))
        make(made)
        # A was read as it should be.
        check(lib.GrB_Descriptor_set(d, lib.GrB_INP0, lib.GxB_DEFAULT))
        check(getattr(lib, f"GrB_{kind}_apply")(*head, unary("identity", c.scalar), made, d))

    def diag(self, head, d):
        k = int(self.case.k)
        self.made_then("Matrix", lambda c: check(lib.GxB_Matrix_diag(c, self.get("A"), k, ffi.NULL)), head, d)

    def diag_extract(self, head, d):
        # The transpose's k-th diagonal is the −k-th.
        k = int(self.case.k) * (-1 if self.case.has("ta") else 1)
        self.made_then("Vector", lambda c: check(lib.GxB_Vector_diag(c, self.get("A"), k, ffi.NULL)), head, d)

    def resize(self, _, __):
        c = self.case.operand("C")
        if c.kind == "v":
            check(lib.GrB_Vector_resize(self.get("A"), c.ncols))
        else:
            check(lib.GrB_Matrix_resize(self.get("A"), c.nrows, c.ncols))
        return self.get("A")

    def reshape(self, _, __):
        c, made = self.case.operand("C"), ffi.new("GrB_Matrix *")
        by_columns = self.case.form == "columns"
        check(lib.GxB_Matrix_reshapeDup(made, self.get("A"), by_columns, c.nrows, c.ncols, ffi.NULL))
        self.kept.append((lib.GrB_Matrix_free, made))
        return made[0]

    def concat(self, head, _):
        height, width = (int(n) for n in self.case.tiles.split("x"))
        tiles = ffi.new("GrB_Matrix[]", [self.get(str(n)) for n in range(height * width)])
        check(lib.GxB_Matrix_concat(head[0], tiles, height, width, ffi.NULL))

    def split(self, _, __):
        """The tile that the case asks for."""
        heights, widths = ([e[1] for e in self.case.operands[role].entries] for role in "IJ")
        tiles = ffi.new("GrB_Matrix[]", len(heights) * len(widths))
        sizes = (ffi.new("GrB_Index[]", heights), ffi.new("GrB_Index[]", widths))
        check(lib.GxB_Matrix_split(tiles, len(heights), len(widths), *sizes, self.get("A"), ffi.NULL))
        for n in range(len(tiles)):
            pointer = ffi.new("GrB_Matrix *", tiles[n])
            self.kept.append((lib.GrB_Matrix_free, pointer))
        return tiles[int(self.case.tile)]

    def sort(self, head, d):
        f = binary(self.case.f, self.case.operand("A").scalar)
        values, columns = (head[0], ffi.NULL) if self.case.has("values") else (ffi.NULL, head[0])
        check(getattr(lib, f"GxB_{self.kind()}_sort")(values, columns, f, self.get("A"), d))

    def update(self, _, __):
        """Elements of A set to U's values, then D's removed, or the other way."""
        a, kind = self.get("A"), self.kind()
        place = (lambda e: (e[1],)) if kind == "Vector" else (lambda e: e[:2])
        suffix = TYPES[self.case.operand("A").scalar][0]
        for role in "DU" if self.case.has("removed") else "UD":
            for e in self.case.operands[role].entries:
                if role == "U":
                    check(find(f"GrB_{kind}_setElement_{suffix}")(a, e[2], *place(e)))
                else:
                    check(getattr(lib, f"GrB_{kind}_removeElement")(a, *place(e)))
        return a
