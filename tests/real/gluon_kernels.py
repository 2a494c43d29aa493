"""Kernels in Gluon, Triton's lower level, where layouts, barriers and warps are the author's."""

import numpy
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma)

from problem import Buffer, Problem, TensorMap
from triton_compile import compile_triton

TILE = "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=32, rank=2)"


@gluon.jit
def add_with_async_copies(out, x, y, count, BLOCK: gl.constexpr, layout: gl.constexpr):
    """out = x + y, the next block on its way through shared memory while this one is added."""
    flat: gl.constexpr = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])
    xs = gl.allocate_shared_memory(gl.float32, [2, BLOCK], flat)
    ys = gl.allocate_shared_memory(gl.float32, [2, BLOCK], flat)
    place = gl.arange(0, BLOCK, layout=layout)
    async_copy.async_load(xs.index(0), x + place, mask=place < count)
    async_copy.async_load(ys.index(0), y + place, mask=place < count)
    async_copy.commit_group()
    for start in range(0, count, BLOCK):
        stage = (start // BLOCK) % 2
        after = start + BLOCK + place
        async_copy.async_load(xs.index(1 - stage), x + after, mask=after < count)
        async_copy.async_load(ys.index(1 - stage), y + after, mask=after < count)
        async_copy.commit_group()
        async_copy.wait_group(1)
        total = xs.index(stage).load(layout) + ys.index(stage).load(layout)
        gl.store(out + start + place, total, mask=start + place < count)


@gluon.jit
def bring(x, tiles, filled, emptied, count, STAGES: gl.constexpr):
    for i in range(count):
        stage = i % STAGES
        mbarrier.wait(emptied.index(stage), ((i // STAGES) & 1) ^ 1)
        mbarrier.expect(filled.index(stage), x.nbytes_per_cta)
        tma.async_load(x, [gl.program_id(0) * x.block_shape[0], i * x.block_shape[1]],
                       filled.index(stage), tiles.index(stage))


@gluon.jit
def sum_rows(out, tiles, filled, emptied, count, ROWS: gl.constexpr, COLUMNS: gl.constexpr,
             STAGES: gl.constexpr, layout: gl.constexpr):
    total = gl.zeros([ROWS, COLUMNS], gl.float32, layout)
    for i in range(count):
        stage = i % STAGES
        mbarrier.wait(filled.index(stage), (i // STAGES) & 1)
        total += tiles.index(stage).load(layout)
        fence_async_shared()
        mbarrier.arrive(emptied.index(stage))
    row = gl.program_id(0) * ROWS + gl.arange(0, ROWS, layout=gl.SliceLayout(1, layout))
    gl.store(out + row, gl.sum(total, 1))


@gluon.jit
def row_sums_specialised(out, x, count, ROWS: gl.constexpr, COLUMNS: gl.constexpr,
                         STAGES: gl.constexpr, layout: gl.constexpr):
    """Sums of rows: one warp brings tiles by tensor copies, the others add them up."""
    tiles = gl.allocate_shared_memory(x.dtype, [STAGES, ROWS, COLUMNS], x.layout)
    filled = mbarrier.allocate_mbarrier(batch=STAGES)
    emptied = mbarrier.allocate_mbarrier(batch=STAGES)
    for i in gl.static_range(STAGES):
        mbarrier.init(filled.index(i), count=1)
        mbarrier.init(emptied.index(i), count=1)
    gl.warp_specialize([(sum_rows, (out, tiles, filled, emptied, count, ROWS, COLUMNS, STAGES, layout)),
                        (bring, (x, tiles, filled, emptied, count, STAGES))],
                       worker_num_warps=[1], worker_num_regs=[40])


def async_copies_problem(target):
    count = 1700
    x, y = (Buffer(name, "f32", (count,), seed=seed) for seed, name in enumerate("xy", 1))
    out = Buffer("out", "f32", (count,), fill=False)
    kernel = compile_triton(add_with_async_copies, target, out="*fp32", x="*fp32", y="*fp32",
                            count="i32", BLOCK=512,
                            layout=gl.BlockedLayout([4], [32], [4], [0]), divisible=("count",))
    return Problem("gluon_async_copies", kernel, grid=(1,), buffers=[x, y, out],
                   args=[out, x, y, ("i32", count)], expected={"out": x.numbers() + y.numbers()},
                   rmse_ratio=1e-7)


def row_sums_problem(target):
    rows, columns, tile = 128, 256, (64, 32)
    x = Buffer("x", "f32", (rows, columns), integers=True, seed=1)
    out = Buffer("out", "f32", (rows,), fill=False)
    kernel = compile_triton(row_sums_specialised, target, out="*fp32",
                            x=f"tensordesc<fp32[{tile[0]}, {tile[1]}],{TILE}>", count="i32",
                            ROWS=tile[0], COLUMNS=tile[1], STAGES=3,
                            layout=gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
    map = TensorMap(x, kernel.maps[0])
    return Problem("gluon_warp_specialised", kernel, grid=(rows // tile[0],), buffers=[x, out],
                   maps=[map], args=[out, map, *map.sizes(), ("i32", columns // tile[1])],
                   expected={"out": numpy.sum(x.numbers(), axis=1)}, max_abs=0.0)


def problems():
    for target in (80, 90, 100):
        yield async_copies_problem(target)
    for target in (90, 100):
        yield row_sums_problem(target)
