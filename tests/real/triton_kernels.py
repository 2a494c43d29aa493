"""Kernels in Triton, of the kinds that its tutorials teach, written for these tests.

Each function at the end makes a `Problem`: the kernel compiled for one target without a GPU, a launch
on made-up data, and the answer worked out by numpy.
"""

import numpy
import triton
import triton.language as tl

from problem import Buffer, Problem, TensorMap
from triton_compile import compile_triton


@triton.jit
def softmax(out, values, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(values + row * columns + column, mask=inside, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out + row * columns + column, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def layer_norm(out, means, scales, x, weight, bias, columns, epsilon, BLOCK: tl.constexpr):
    """Three passes over a row of any length: mean, deviation, result."""
    row = tl.program_id(0)
    x += row * columns
    out += row * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(x + column, mask=column < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        value = tl.load(x + column, mask=column < columns, other=0.0).to(tl.float32)
        away = tl.where(column < columns, value - mean, 0.0)
        square += away * away
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        value = tl.load(x + column, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + column, mask=inside)
        b = tl.load(bias + column, mask=inside)
        tl.store(out + column, (value - mean) * scale * w + b, mask=inside)


@triton.jit
def column_sums(sums, locks, x, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """Every program adds its row to one of a few partial sums, under that sum's lock; the first that
    comes overwrites what is there."""
    row = tl.program_id(0)
    group = row % GROUPS
    lock = locks + group
    taken = locks + GROUPS + group
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * columns + column, mask=inside, other=0.0)
    place = sums + group * columns + column
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(taken) == 0:
        tl.atomic_xchg(taken, 1)
    else:
        value += tl.load(place, mask=inside)
    tl.store(place, value, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def dropout(out, x, count, keep, seed, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    value = tl.load(x + place, mask=inside)
    kept = tl.rand(seed, place) < keep
    tl.store(out + place, tl.where(kept, value / keep, 0.0), mask=inside)


@triton.jit
def matmul(c, a, b, rows, columns, inner, stride_a, stride_b, stride_c, ROWS: tl.constexpr,
           COLUMNS: tl.constexpr, INNER: tl.constexpr, GROUP: tl.constexpr, SUM: tl.constexpr):
    """c = a b, tiles in groups of rows so that neighbours share what the cache holds."""
    tile = tl.program_id(0)
    tiles_down = tl.cdiv(rows, ROWS)
    tiles_across = tl.cdiv(columns, COLUMNS)
    group = tile // (GROUP * tiles_across)
    first = group * GROUP
    height = min(tiles_down - first, GROUP)
    down = first + (tile % (GROUP * tiles_across)) % height
    across = (tile % (GROUP * tiles_across)) // height
    row = (down * ROWS + tl.arange(0, ROWS)) % rows
    column = (across * COLUMNS + tl.arange(0, COLUMNS)) % columns
    k = tl.arange(0, INNER)
    a_place = a + row[:, None] * stride_a + k[None, :]
    b_place = b + k[:, None] * stride_b + column[None, :]
    total = tl.zeros((ROWS, COLUMNS), dtype=SUM)
    for start in range(0, inner, INNER):
        left = tl.load(a_place, mask=start + k[None, :] < inner, other=0.0)
        right = tl.load(b_place, mask=start + k[:, None] < inner, other=0.0)
        total = tl.dot(left, right, total, out_dtype=SUM)
        a_place += INNER
        b_place += INNER * stride_b
    row = down * ROWS + tl.arange(0, ROWS)
    column = across * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tl.store(c + row[:, None] * stride_c + column[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def attention(out, weights, q, k, v, length, scale, CAUSAL: tl.constexpr, WIDTH: tl.constexpr,
              QUERIES: tl.constexpr, KEYS: tl.constexpr):
    """softmax(scale q k^T) v for one head and QUERIES rows, the softmax kept up to date key block by
    key block; `weights` gets the logarithm (base 2) of each row's sum."""
    head = tl.program_id(1) * length * WIDTH
    first = tl.program_id(0) * QUERIES
    row = first + tl.arange(0, QUERIES)
    column = tl.arange(0, WIDTH)
    queries = tl.load(q + head + row[:, None] * WIDTH + column[None, :])
    largest = tl.full([QUERIES], -float("inf"), dtype=tl.float32)
    total = tl.zeros([QUERIES], dtype=tl.float32)
    result = tl.zeros([QUERIES, WIDTH], dtype=tl.float32)
    scale *= 1.44269504
    end = first + QUERIES if CAUSAL else length
    for start in range(0, end, KEYS):
        key = start + tl.arange(0, KEYS)
        keys = tl.load(k + head + key[None, :] * WIDTH + column[:, None])
        score = tl.dot(queries, keys) * scale
        if CAUSAL:
            score = tl.where(row[:, None] >= key[None, :], score, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(score, axis=1))
        p = tl.exp2(score - new_largest[:, None])
        shrink = tl.exp2(largest - new_largest)
        total = total * shrink + tl.sum(p, axis=1)
        values = tl.load(v + head + key[:, None] * WIDTH + column[None, :])
        result = tl.dot(p.to(values.dtype), values, result * shrink[:, None])
        largest = new_largest
    tl.store(weights + tl.program_id(1) * length + row, largest + tl.log2(total))
    result = result / total[:, None]
    tl.store(out + head + row[:, None] * WIDTH + column[None, :], result.to(out.dtype.element_ty))


@triton.jit
def matmul_tma(c, a, b, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
               SPECIALIZE: tl.constexpr):
    """The same product through tensor maps; `SPECIALIZE` gives the copies and the products warps of
    their own."""
    row = tl.program_id(0) * ROWS
    column = tl.program_id(1) * COLUMNS
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in tl.range(0, inner, INNER, warp_specialize=SPECIALIZE):
        left = a.load([row, start])
        right = b.load([start, column])
        total = tl.dot(left, right, total)
    c.store([row, column], total.to(tl.float16))


def softmax_problem(target, warps=4):
    rows, columns = 6, 781
    x = Buffer("values", "f32", (rows, columns), scale=2.0, seed=1)
    e = numpy.exp(x.numbers() - x.numbers().max(axis=1, keepdims=True))
    kernel = compile_triton(softmax, target, out="*fp32", values="*fp32", columns="i32", BLOCK=1024,
                            num_warps=warps)
    out = Buffer("out", "f32", (rows, columns), fill=False)
    return Problem(f"softmax_{warps}_warps", kernel, grid=(rows,), buffers=[x, out],
                   args=[out, x, ("i32", columns)], expected={"out": e / e.sum(axis=1, keepdims=True)},
                   rmse_ratio=1e-6)


def layer_norm_problem(target):
    rows, columns = 5, 900
    x = Buffer("x", "f16", (rows, columns), seed=1)
    weight = Buffer("weight", "f32", (columns,), seed=2)
    bias = Buffer("bias", "f32", (columns,), seed=3)
    out = Buffer("out", "f16", (rows, columns), fill=False)
    means = Buffer("means", "f32", (rows,), fill=False)
    scales = Buffer("scales", "f32", (rows,), fill=False)
    mean = x.numbers().mean(axis=1)
    scale = 1 / numpy.sqrt(x.numbers().var(axis=1) + 1e-5)
    y = (x.numbers() - mean[:, None]) * scale[:, None] * weight.numbers() + bias.numbers()
    kernel = compile_triton(layer_norm, target, out="*fp16", means="*fp32", scales="*fp32", x="*fp16",
                            weight="*fp32", bias="*fp32", columns="i32", epsilon="fp32", BLOCK=256)
    return Problem("layer_norm", kernel, grid=(rows,), buffers=[x, weight, bias, out, means, scales],
                   args=[out, means, scales, x, weight, bias, ("i32", columns), ("f32", 1e-5)],
                   expected={"out": y, "means": mean, "scales": scale}, rmse_ratio=5e-4)


def column_sums_problem(target):
    rows, columns, groups = 12, 200, 3
    x = Buffer("x", "f32", (rows, columns), integers=True, seed=1)
    sums = Buffer("sums", "f32", (groups, columns), fill=False)
    locks = Buffer("locks", "i32", (2 * groups,), constant=0)
    kernel = compile_triton(column_sums, target, sums="*fp32", locks="*i32", x="*fp32",
                            columns="i32", GROUPS=groups, BLOCK=256)
    total = x.numbers().reshape(rows // groups, groups, columns).sum(axis=0)
    return Problem("column_sums_locked", kernel, grid=(rows,), buffers=[x, sums, locks],
                   args=[sums, locks, x, ("i32", columns)], expected={"sums": total}, max_abs=0.0)


def philox(counter, key):
    """First output word of Philox 4x32-10 (Salmon et al., SC 2011) with one counter word."""
    c = [counter.astype(numpy.uint64), *(numpy.zeros_like(counter, dtype=numpy.uint64),) * 3]
    k0, k1 = key & 0xffffffff, key >> 32
    for _ in range(10):
        left, right = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(right >> 32) ^ c[1] ^ k0, right & 0xffffffff, (left >> 32) ^ c[3] ^ k1,
             left & 0xffffffff]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return c[0].astype(numpy.uint32)


def dropout_problem(target):
    count, keep, seed = 1500, 0.75, 123456789
    x = Buffer("x", "f32", (count,), seed=1)
    out = Buffer("out", "f32", (count,), fill=False)
    bits = philox(numpy.arange(count), seed).view(numpy.int32)
    uniform = numpy.where(bits < 0, -bits - 1, bits) * 4.6566127342e-10
    kept = uniform < keep
    kernel = compile_triton(dropout, target, out="*fp32", x="*fp32", count="i32", keep="fp32",
                            seed="i32", BLOCK=512)
    return Problem("dropout", kernel, grid=(3,), buffers=[x, out],
                   args=[out, x, ("i32", count), ("f32", keep), ("i32", seed)],
                   expected={"out": numpy.where(kept, x.numbers() / keep, 0)}, rmse_ratio=1e-6)


MATMULS = {"f16": ("fp16", "f16", "fp16", tl.float32, dict(scale=0.5), 1e-3),
           "bf16": ("bf16", "bf16", "fp32", tl.float32, dict(scale=0.5), 1e-6),
           "tf32": ("fp32", "f32", "fp32", tl.float32, dict(scale=0.5), 1e-3),
           "e4m3": ("fp8e4nv", "e4m3", "fp32", tl.float32, dict(integers=True), 0.0),
           "e5m2": ("fp8e5", "e5m2", "fp32", tl.float32, dict(integers=True), 0.0),
           "s8": ("i8", "i8", "i32", tl.int32, dict(integers=True), 0.0)}


def matmul_problem(target, kind):
    rows, columns, inner = 120, 112, 144
    element, dtype, result, accumulator, data, rmse_ratio = MATMULS[kind]
    a = Buffer("a", dtype, (rows, inner), seed=1, **data)
    b = Buffer("b", dtype, (inner, columns), seed=2, **data)
    c = Buffer("c", {"fp16": "f16", "fp32": "f32", "i32": "i32"}[result], (rows, columns), fill=False)
    kernel = compile_triton(matmul, target, c="*" + result, a="*" + element, b="*" + element,
                            rows="i32", columns="i32", inner="i32", stride_a="i32", stride_b="i32",
                            stride_c="i32", ROWS=64, COLUMNS=64, INNER=32, GROUP=2, SUM=accumulator,
                            divisible=("inner", "stride_a", "stride_b", "stride_c"))
    sizes = [("i32", n) for n in (rows, columns, inner, inner, columns, columns)]
    return Problem(f"matmul_{kind}", kernel, grid=(4,), buffers=[a, b, c], args=[c, a, b, *sizes],
                   expected={"c": a.numbers() @ b.numbers()}, rmse_ratio=rmse_ratio)


def attention_problem(target, causal):
    heads, length, width = 2, 128, 64
    q, k, v = (Buffer(name, "f16", (heads, length, width), seed=seed, scale=0.7)
               for seed, name in enumerate("qkv"))
    out = Buffer("out", "f16", (heads, length, width), fill=False)
    weights = Buffer("weights", "f32", (heads, length), fill=False)
    score = q.numbers() @ k.numbers().transpose(0, 2, 1) * 0.125
    if causal:
        score = numpy.where(numpy.tril(numpy.ones((length, length))) > 0, score, -numpy.inf)
    p = numpy.exp(score - score.max(axis=2, keepdims=True))
    total = p.sum(axis=2, keepdims=True)
    logarithm = (numpy.log(total) + score.max(axis=2, keepdims=True)) / numpy.log(2)
    kernel = compile_triton(attention, target, out="*fp16", weights="*fp32", q="*fp16", k="*fp16",
                            v="*fp16", length="i32", scale="fp32", CAUSAL=causal, WIDTH=width,
                            QUERIES=64, KEYS=32, divisible=("length",))
    return Problem("attention_causal" if causal else "attention", kernel, grid=(length // 64, heads),
                   buffers=[q, k, v, out, weights],
                   args=[out, weights, q, k, v, ("i32", length), ("f32", 0.125)],
                   expected={"out": p @ v.numbers() / total, "weights": logarithm[:, :, 0]},
                   rmse_ratio=2e-3)


def matmul_tma_problem(target, specialize):
    rows, columns, inner = 128, 128, 256
    a = Buffer("a", "f16", (rows, inner), seed=1, scale=0.5)
    b = Buffer("b", "f16", (inner, columns), seed=2, scale=0.5)
    c = Buffer("c", "f16", (rows, columns), fill=False)
    tile = dict(ROWS=128 if specialize else 64, COLUMNS=64, INNER=64)
    kernel = compile_triton(matmul_tma, target, c=f"tensordesc<fp16[{tile['ROWS']},64]>",
                            a=f"tensordesc<fp16[{tile['ROWS']},64]>", b="tensordesc<fp16[64,64]>",
                            inner="i32", SPECIALIZE=specialize, divisible=("inner",), **tile)
    maps = [TensorMap(buffer, kernel.maps[i]) for i, buffer in enumerate((c, a, b))]
    args = [argument for map in maps for argument in (map, *map.sizes())]
    return Problem("matmul_warp_specialised" if specialize else "matmul_tma", kernel,
                   grid=(rows // tile["ROWS"], columns // 64), buffers=[a, b, c], maps=maps,
                   args=[*args, ("i32", inner)], expected={"c": a.numbers() @ b.numbers()},
                   rmse_ratio=1e-3)


# Where products need what the machine lacks (wgmma, tcgen05 in forms not modelled), the verdict says so.
def problems():
    for target in (80, 90, 100):
        yield softmax_problem(target)
        yield softmax_problem(target, warps=1)
        yield layer_norm_problem(target)
        yield column_sums_problem(target)
        yield dropout_problem(target)
    for target in (80, 89, 90, 100, 120):
        for kind in MATMULS:
            if target >= 89 or not kind.startswith("e"):
                yield matmul_problem(target, kind)
        yield attention_problem(target, causal=False)
        yield attention_problem(target, causal=True)
    for target in (90, 100, 120):
        yield matmul_tma_problem(target, specialize=False)
    yield matmul_tma_problem(100, specialize=True)
