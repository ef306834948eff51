"""Runs cases by SuiteSparse:GraphBLAS."""
import copy

from cases import TYPES, Operand
from library import NULL, POSITIONAL, VERSION, binary, check, ffi, find, index_operator, lib, monoid, type_of, unary
from regions import Regions

__all__ = ["VERSION", "solve"]


class Run(Regions):
    """One case's objects; `with` frees them."""

    def __init__(self, case):
        self.case, self.kept, self.objects = case, [], {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for free, pointer in reversed(self.kept):
            free(pointer)

    def keep(self, kind):
        pointer = ffi.new(f"GrB_{kind} *")
        self.kept.append((getattr(lib, f"GrB_{kind}_free"), pointer))
        return pointer

    def make(self, o):
        suffix, ctype, _ = TYPES[o.scalar]
        kind, n = "Vector" if o.kind == "v" else "Matrix", len(o.entries)
        pointer, values = self.keep(kind), ffi.new(f"{ctype}[]", [e[2] for e in o.entries])
        columns = ffi.new("GrB_Index[]", [e[1] for e in o.entries])
        if kind == "Vector":
            check(lib.GrB_Vector_new(pointer, type_of(o.scalar), o.ncols))
            lists = (columns,)
        else:
            check(lib.GrB_Matrix_new(pointer, type_of(o.scalar), o.nrows, o.ncols))
            lists = (ffi.new("GrB_Index[]", [e[0] for e in o.entries]), columns)
        if n:
            check(find(f"GrB_{kind}_build_{suffix}")(pointer[0], *lists, values, n, NULL))
        return pointer[0]

    def get(self, role):
        """The role's object; roles that are the same share it."""
        name, operand = self.case.alias(role), self.case.operand(role)
        if name not in self.objects:
            self.objects[name] = self.make(operand) if operand else NULL
        # Faults up to 10.5.1, README.md: full masks, and positions in hypersparse operands.
        form = lib.GxB_SPARSE | lib.GxB_HYPERSPARSE if role == "M" else None
        if role in "AB" and (self.case.ring or "").endswith(("firsti", "secondj", "firsti1", "secondj1")):
            form = lib.GxB_SPARSE
        if operand and form:
            option = getattr(lib, f"GxB_{self.kind(role)}_Option_set_INT32")
            check(option(self.objects[name], lib.GxB_SPARSITY_CONTROL, form))
        return self.objects[name]

    def read(self, thing, scalar, kind):
        """The object's entries, sorted."""
        suffix, ctype, _ = TYPES[scalar]
        n, rows, columns = ffi.new("GrB_Index *"), ffi.new("GrB_Index *", 1), ffi.new("GrB_Index *")
        if kind == "v":
            check(lib.GrB_Vector_size(columns, thing))
            check(lib.GrB_Vector_nvals(n, thing))
        else:
            check(lib.GrB_Matrix_nrows(rows, thing))
            check(lib.GrB_Matrix_ncols(columns, thing))
            check(lib.GrB_Matrix_nvals(n, thing))
        i, j, x = ffi.new("GrB_Index[]", n[0]), ffi.new("GrB_Index[]", n[0]), ffi.new(f"{ctype}[]", n[0])
        if kind == "v":
            check(find(f"GrB_Vector_extractTuples_{suffix}")(j, x, n, thing))
        else:
            check(find(f"GrB_Matrix_extractTuples_{suffix}")(i, j, x, n, thing))
        entries = sorted(zip(list(i), list(j), list(x)), key=lambda e: e[:2])
        return Operand(scalar, kind, rows[0], columns[0], entries)

    def descriptor(self):
        case = self.case
        mask = case.mask.split(",") if case.mask else []
        # The matrix is the second operand where the scalar is the first.
        first = lib.GrB_INP1 if case.op == "apply_first" else lib.GrB_INP0
        d = self.keep("Descriptor")
        check(lib.GrB_Descriptor_new(d))
        for field, on, value in (
            (lib.GrB_MASK, "structural" in mask, lib.GrB_STRUCTURE),
            (lib.GrB_MASK, "complement" in mask, lib.GrB_COMP),
            (lib.GrB_OUTP, case.has("replace"), lib.GrB_REPLACE),
            (first, case.has("ta"), lib.GrB_TRAN),
            (lib.GrB_INP1, case.has("tb"), lib.GrB_TRAN),
        ):
            if on:
                check(lib.GrB_Descriptor_set(d[0], field, value))
        return d[0]

    def semiring(self, name, scalar, out):
        add, multiply = name.split("_")
        s = self.keep("Semiring")
        add_of = "i64" if multiply in POSITIONAL else out
        check(lib.GrB_Semiring_new(s, monoid(add, add_of), binary(multiply, out if multiply == "pair" else scalar)))
        return s[0]

    def list(self, role, n):
        """Indices and their number; all n of them where the case has no list."""
        if role not in self.case.operands:
            return lib.GrB_ALL, n
        indices = [e[1] for e in self.case.operands[role].entries]
        return ffi.new("GrB_Index[]", indices), len(indices)

    def thunk(self):
        """SuiteSparse's suffix and the value of the case's scalar."""
        s = self.case.operands["s"]
        return TYPES[s.scalar][0], s.entries[0][2]

    def result(self):
        case, operand = self.case, self.case.operand
        c_operand = operand("C")
        accum = binary(case.accum, c_operand.scalar) if case.accum else NULL
        if case.op == "reduce":
            return self.sum(self.get("A"), operand("A"))
        c = self.get("C")
        if case.op == "build":
            a = operand("A")
            kind = "Vector" if a.kind == "v" else "Matrix"
            lists = [ffi.new("GrB_Index[]", [e[k] for e in a.entries]) for k in ((1,) if a.kind == "v" else (0, 1))]
            values = ffi.new(f"{TYPES[a.scalar][1]}[]", [e[2] for e in a.entries])
            build = find(f"GrB_{kind}_build_{TYPES[a.scalar][0]}")
            check(build(c, *lists, values, len(a.entries), binary(case.f, a.scalar)))
        else:
            made = getattr(self, case.op)((c, self.get("M"), accum), self.descriptor())
            c = c if made is None else made
            if case.op == "mxm_reduce":
                return self.sum(c, c_operand)
        return self.read(c, c_operand.scalar, c_operand.kind)

    def sum(self, thing, of):
        """Of all entries."""
        suffix, ctype, _ = TYPES[of.scalar]
        value, kind = ffi.new(f"{ctype} *"), "Vector" if of.kind == "v" else "Matrix"
        check(find(f"GrB_{kind}_reduce_{suffix}")(value, NULL, monoid(self.case.f, of.scalar), thing, NULL))
        return Operand(of.scalar, "v", 1, 1, [(0, 0, value[0])])

    def kind(self, role="A"):
        return "Vector" if self.case.operand(role).kind == "v" else "Matrix"

    def product(self, function, head, d):
        case = self.case
        side = "B" if case.ring.endswith("_second") else "A"
        ring = self.semiring(case.ring, case.operand(side).scalar, case.operand("C").scalar)
        check(function(*head, ring, self.get("A"), self.get("B"), d))

    def mxm_reduce(self, head, d):
        """Of a product in a matrix of its own."""
        c = self.case.operand("C")
        made = self.make(Operand(c.scalar, "m", c.nrows, c.ncols, []))
        self.product(lib.GrB_mxm, (made, head[1], NULL), d)
        return made

    def mxm(self, head, d):
        self.product(lib.GrB_mxm, head, d)

    def mxv(self, head, d):
        self.product(lib.GrB_mxv, head, d)

    def vxm(self, head, d):
        self.product(lib.GrB_vxm, head, d)

    def ewise_add(self, head, d):
        f = binary(self.case.f, self.case.operand("A").scalar)
        check(getattr(lib, f"GrB_{self.kind()}_eWiseAdd_BinaryOp")(*head, f, self.get("A"), self.get("B"), d))

    def either(self):
        """The operator, of the type of what it takes its values from."""
        return binary(self.case.f, self.case.operand("B" if self.case.f == "second" else "A").scalar)

    def ewise_mult(self, head, d):
        f = self.either()
        check(getattr(lib, f"GrB_{self.kind()}_eWiseMult_BinaryOp")(*head, f, self.get("A"), self.get("B"), d))

    def apply(self, head, d):
        f = unary(self.case.f, self.case.operand("A").scalar)
        check(getattr(lib, f"GrB_{self.kind()}_apply")(*head, f, self.get("A"), d))

    def function(self, head, d):
        """An operator value by value."""
        scalar = self.case.operand("A").scalar
        if self.case.operand("B"):
            check(lib.GrB_Vector_eWiseMult_BinaryOp(*head, binary(self.case.f, scalar), self.get("A"), self.get("B"), d))
        else:
            check(lib.GrB_Vector_apply(*head, unary(self.case.f, scalar), self.get("A"), d))

    def cast(self, head, d):
        # The identity of the output's type: the input is cast to it.
        f = unary("identity", self.case.operand("C").scalar)
        check(getattr(lib, f"GrB_{self.kind()}_apply")(*head, f, self.get("A"), d))

    def apply_first(self, head, d):
        suffix, value = self.thunk()
        f = binary(self.case.f, self.case.operand("A").scalar)
        check(find(f"GrB_{self.kind()}_apply_BinaryOp1st_{suffix}")(*head, f, value, self.get("A"), d))

    def apply_second(self, head, d):
        suffix, value = self.thunk()
        f = binary(self.case.f, self.case.operand("A").scalar)
        check(find(f"GrB_{self.kind()}_apply_BinaryOp2nd_{suffix}")(*head, f, self.get("A"), value, d))

    def apply_index(self, head, d):
        suffix, value = self.thunk()
        if self.case.f == "diagindex":
            value = -value  # j - (i + s) there, j - i + s in the standard and here: README.md, differences.
        f = index_operator(self.case.f, self.case.operand("A").scalar)
        check(find(f"GrB_{self.kind()}_apply_IndexOp_{suffix}")(*head, f, self.get("A"), value, d))

    def select(self, head, d):
        suffix, value = self.thunk()
        f = index_operator(self.case.f, self.case.operand("A").scalar)
        check(find(f"GrB_{self.kind()}_select_{suffix}")(*head, f, self.get("A"), value, d))

    def reduce_rows(self, head, d):
        check(lib.GrB_Matrix_reduce_Monoid(*head, monoid(self.case.f, self.case.operand("A").scalar), self.get("A"), d))

    def transpose(self, head, d):
        check(lib.GrB_transpose(*head, self.get("A"), d))

    def extract_rows(self, head, d):
        rows, n = self.list("I", None)
        columns = self.case.operand("C").ncols
        check(lib.GrB_Matrix_extract(*head, self.get("A"), rows, n, lib.GrB_ALL, columns, d))


def lying(case):
    """With rows for vectors, as they are stored here, where positions count: there a vector is a column."""
    if case.op == "apply_index" or case.op == "select" and not case.f.startswith("value"):
        case = copy.deepcopy(case)
        for role, operand in case.operands.items():
            operand.kind = "v" if role == "s" else "m"
    return case


def solve(case):
    """The case with SuiteSparse's result as R."""
    case.operands.pop("R", None)
    with Run(lying(case)) as run:
        found = run.result()
    if case.op not in ("reduce", "mxm_reduce"):
        found.kind = case.operand("C").kind
    case.operands["R"] = found
    return case
