"""Cases in memory and as bytes; the format is in README.md."""
import dataclasses
import struct

MAGIC = b"OPLUSCF2"
# Name: SuiteSparse's suffix, C's type, struct's letter, two of them for real and imaginary part.
TYPES = {
    "bool": ("BOOL", "bool", "?"),
    "i8": ("INT8", "int8_t", "b"),
    "u8": ("UINT8", "uint8_t", "B"),
    "i16": ("INT16", "int16_t", "h"),
    "u16": ("UINT16", "uint16_t", "H"),
    "i32": ("INT32", "int32_t", "i"),
    "u32": ("UINT32", "uint32_t", "I"),
    "i64": ("INT64", "int64_t", "q"),
    "u64": ("UINT64", "uint64_t", "Q"),
    "f32": ("FP32", "float", "f"),
    "f64": ("FP64", "double", "d"),
    "c32": ("FC32", "GxB_FC32_t", "ff"),
    "c64": ("FC64", "GxB_FC64_t", "dd"),
}
CODES = list(TYPES)


@dataclasses.dataclass
class Operand:
    """A matrix; a vector of length ncols; a scalar or a list of indices: a vector as well. Entries are (i, j, value)."""

    scalar: str
    kind: str
    nrows: int
    ncols: int
    entries: list

    def outside(self):
        """Entries beyond the shape."""
        rows = self.nrows if self.kind == "m" else 1
        return [e for e in self.entries if not (0 <= e[0] < rows and 0 <= e[1] < self.ncols)]

    def encode(self, role):
        width = "B" if max(self.nrows, self.ncols) <= 256 else "H" if max(self.nrows, self.ncols) <= 65536 else "Q"
        n, letter = len(self.entries), TYPES[self.scalar][2]
        head = struct.pack("<ccBBQQI", role.encode(), self.kind.encode(), CODES.index(self.scalar),
                           struct.calcsize(width), self.nrows, self.ncols, n)
        rows = struct.pack(f"<{n}{width}", *(e[0] for e in self.entries)) if self.kind == "m" else b""
        columns = struct.pack(f"<{n}{width}", *(e[1] for e in self.entries))
        values = [e[2] for e in self.entries]
        if len(letter) == 2:
            values = [part for v in values for part in (complex(v).real, complex(v).imag)]
        return head + rows + columns + struct.pack(f"<{len(values)}{letter[0]}", *values)


@dataclasses.dataclass
class Case:
    """Words (an empty string for a flag that is set) and operands by role: A, B, C, M; I and J lists, s a scalar; R is
    the result."""

    words: dict
    operands: dict

    def __getattr__(self, name):
        if name.startswith("_") or name in ("words", "operands"):
            raise AttributeError(name)
        return self.words.get(name)

    def has(self, flag):
        return flag in self.words

    def alias(self, role):
        """The role whose object `role` is."""
        return dict(p.split(":") for p in (self.words.get("same") or "").split(",") if p).get(role, role)

    def operand(self, role):
        return self.operands.get(self.alias(role))

    def text(self):
        return " ".join(k if v == "" else f"{k}={v}" for k, v in self.words.items())

    def encode(self):
        text = self.text().encode()
        body = b"".join(o.encode(role) for role, o in self.operands.items())
        return struct.pack("<HB", len(text), len(self.operands)) + text + body


def write(path, made, cases):
    """A file of cases; `made` says how they were."""
    with open(path, "wb") as file:
        head = struct.pack("<IH", len(cases), len(made.encode())) + made.encode()
        file.write(MAGIC + head + b"".join(c.encode() for c in cases))


def read(path):
    """How the file was made, and its cases as they were written."""
    data = memoryview(open(path, "rb").read())
    assert bytes(data[:8]) == MAGIC, path
    at = 14 + struct.unpack_from("<H", data, 12)[0]
    made = bytes(data[14:at]).decode()

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    cases = []
    for _ in range(struct.unpack_from("<I", data, 8)[0]):
        length, count = take("HB")
        words = dict((w + "=").split("=")[:2] for w in bytes(data[at : at + length]).decode().split())
        at += length
        operands = {}
        for _ in range(count):
            role, kind, code, width, nrows, ncols, n = take("ccBBQQI")
            letter = {1: "B", 2: "H", 8: "Q"}[width]
            rows = take(f"{n}{letter}") if kind == b"m" else (0,) * n
            columns = take(f"{n}{letter}")
            letter = TYPES[CODES[code]][2]
            values = take(f"{n * len(letter)}{letter[0]}")
            if len(letter) == 2:
                values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
            operands[role.decode()] = Operand(CODES[code], kind.decode(), nrows, ncols, list(zip(rows, columns, values)))
        cases.append(Case(words, operands))
    return made, cases
