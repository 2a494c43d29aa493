"""A kernel, a launch on made-up data and the answer that numpy gives, written as a case.

The data are those of src/casefile/generate.h: the case holds a recipe, the same numbers are made here
for the reference. Numbers are double; a buffer's are rounded to its type first, as the kernel sees them.
"""

import dataclasses
import json
import struct

import numpy

NUMPY = {"f16": numpy.float16, "f32": numpy.float32, "i32": numpy.int32, "i8": numpy.int8}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i8": 1, "e4m3": 1, "e5m2": 1}


def random_bits(seed, index):
    def mix(state):
        state = state + numpy.uint64(0x9e3779b97f4a7c15)
        state = (state ^ (state >> numpy.uint64(30))) * numpy.uint64(0xbf58476d1ce4e5b9)
        state = (state ^ (state >> numpy.uint64(27))) * numpy.uint64(0x94d049bb133111eb)
        return state ^ (state >> numpy.uint64(31))

    return mix(mix(numpy.array([seed], dtype=numpy.uint64)) ^ index.astype(numpy.uint64))


def random_normal(seed, count):
    total = numpy.zeros(count, dtype=numpy.int64)
    for draw in range(3):
        bits = random_bits(seed, 3 * numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(draw))
        for part in range(4):
            total += ((bits >> numpy.uint64(16 * part)) & numpy.uint64(0xffff)).astype(numpy.int64)
    return (total - 6 * 0xffff) / 65536.0


def random_integers(seed, count, low, high):
    bits = random_bits(seed, numpy.arange(count, dtype=numpy.uint64))
    return (bits % numpy.uint64(high - low + 1)).astype(numpy.int64) + low


def rounded(numbers, dtype):
    """As the element type holds them. fp8 gets integers that it holds exactly."""
    if dtype != "bf16":
        return numbers.astype(NUMPY[dtype]).astype(float) if dtype in NUMPY else numbers
    bits = numbers.astype(numpy.float32).view(numpy.uint32)
    bits = bits + 0x7fff + ((bits >> 16) & 1) & 0xffff0000
    return bits.astype(numpy.uint32).view(numpy.float32).astype(float)


@dataclasses.dataclass
class Buffer:
    name: str
    dtype: str
    shape: tuple
    scale: float = 1.0
    seed: int = 0
    integers: bool = False
    constant: int | None = None
    fill: bool = True

    def numbers(self):
        count = int(numpy.prod(self.shape))
        if self.integers:
            made = random_integers(self.seed, count, -4, 4).astype(float)
        else:
            made = random_normal(self.seed, count) * self.scale
        return rounded(made, self.dtype).reshape(self.shape)

    def toml(self):
        lines = ["[[buffer]]", f'name = "{self.name}"', f'dtype = "{self.dtype}"',
                 f"shape = {list(self.shape)}"]
        if self.constant is not None:
            lines += ['data = "constant"', f"value = {self.constant}"]
        elif self.fill and self.integers:
            lines += ['data = "integers"', "low = -4", "high = 4", f"seed = {self.seed}"]
        elif self.fill:
            lines += ['data = "normal"', f"scale = {self.scale}", f"seed = {self.seed}"]
        return "\n".join(lines)

    def argument(self):
        return f'"{self.name}"'


@dataclasses.dataclass
class TensorMap:
    """A map of a whole two-dimensional buffer, its box and swizzle as Triton's metadata has them."""
    buffer: Buffer
    facts: dict

    def sizes(self):
        """What Triton passes behind the map: the shape, then the strides, in elements."""
        return [*(("i32", n) for n in self.buffer.shape), ("i64", self.buffer.shape[1]), ("i64", 1)]

    def toml(self):
        buffer = self.buffer
        swizzle = ("none", "32B", "64B", "128B")[self.facts["swizzle"]]
        return "\n".join(["[[tensor_map]]", f'name = "{buffer.name}_map"', f'buffer = "{buffer.name}"',
                          f"dims = {list(reversed(buffer.shape))}",
                          f"strides = [{buffer.shape[1] * BYTES[buffer.dtype]}]",
                          f"box = {list(reversed(self.facts['block_size']))}",
                          f'swizzle = "{swizzle}"'])

    def argument(self):
        return f'"{self.buffer.name}_map"'


@dataclasses.dataclass
class Kernel:
    name: str
    target: int
    ptx: str
    threads: int
    shared: int
    maps: list = dataclasses.field(default_factory=list)
    hidden: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Problem:
    name: str
    kernel: Kernel
    grid: tuple
    buffers: list
    args: list
    expected: dict
    maps: list = dataclasses.field(default_factory=list)
    rmse_ratio: float = 5e-3
    max_abs: float = 0.0
    expect: str = "clean"

    def toml(self, stem):
        args = [f"{{ {a[0]} = {a[1]} }}" if isinstance(a, tuple) else a.argument()
                for a in self.args + self.kernel.hidden]
        launch = ["[[launch]]", f'kernel = "{self.kernel.name}"', f"grid = {list(self.grid)}",
                  f"block = [{self.kernel.threads}]", f"shared = {self.kernel.shared}",
                  f"args = [{', '.join(args)}]"]
        check = ["[check]", f"outputs = {json.dumps(list(self.expected))}",
                 f'reference = "{stem}.safetensors"', f"rmse_ratio = {self.rmse_ratio}",
                 f"max_abs = {self.max_abs}", f'expect = "{self.expect}"']
        parts = [f'ptx = "{stem}.ptx"', *(b.toml() for b in self.buffers),
                 *(m.toml() for m in self.maps), "\n".join(launch), "\n".join(check)]
        return "\n\n".join(parts) + "\n"

    def write(self, folder):
        stem = f"{self.name}.sm_{self.kernel.target}"
        (folder / f"{stem}.ptx").write_text(self.kernel.ptx)
        halves = {buffer.name for buffer in self.buffers if buffer.dtype == "f16"}
        (folder / f"{stem}.safetensors").write_bytes(safetensors(self.expected, halves))
        (folder / f"{stem}.toml").write_text(self.toml(stem))


@dataclasses.dataclass
class ReadOnly:
    """PTX that is read and never run."""
    name: str
    kernel: Kernel

    def write(self, folder):
        (folder / f"{self.name}.sm_{self.kernel.target}.ptx").write_text(self.kernel.ptx)


def safetensors(arrays, halves):
    """The file's bytes; arrays named in `halves` are kept in half precision."""
    header, body = {}, b""
    for name, array in arrays.items():
        kind, dtype = ("F16", "<f2") if name in halves else ("F32", "<f4")
        data = numpy.ascontiguousarray(array, dtype=dtype).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body
