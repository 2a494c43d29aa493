"""A matrix product in the CuTe DSL: asynchronous copies to shared memory, ldmatrix, mma.sync."""

import os
import re

TARGET = 90
# Read when the DSL is imported; without the second, no text is kept.
os.environ["CUTE_DSL_ARCH"] = f"sm_{TARGET}a"
os.environ["CUTE_DSL_KEEP"] = "ptx"

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, warp
from cutlass.cute.runtime import make_fake_compact_tensor

from problem import Buffer, Kernel, Problem

ROWS, COLUMNS, INNER = 64, 64, 32
THREADS = 128
PADDING = 8  # keeps the rows that ldmatrix reads in banks of their own
STAGE_BYTES = 2 * (ROWS + COLUMNS) * (INNER + PADDING)


@cute.kernel
def gemm_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, copies: cute.TiledCopy,
                mma: cute.TiledMma):
    """A tile of c = a b^T."""
    thread, _, _ = cute.arch.thread_idx()
    down, across, _ = cute.arch.block_idx()
    memory = cutlass.utils.SmemAllocator()
    a_stage = memory.allocate_tensor(
        cutlass.Float16, cute.make_layout((ROWS, INNER), stride=(INNER + PADDING, 1)), 16)
    b_stage = memory.allocate_tensor(
        cutlass.Float16, cute.make_layout((COLUMNS, INNER), stride=(INNER + PADDING, 1)), 16)
    a_tiles = cute.local_tile(a, (ROWS, INNER), (down, None))
    b_tiles = cute.local_tile(b, (COLUMNS, INNER), (across, None))
    c_tile = cute.local_tile(c, (ROWS, COLUMNS), (down, across))

    bring = copies.get_slice(thread)
    a_from, a_to = bring.partition_S(a_tiles), bring.partition_D(a_stage)
    b_from, b_to = bring.partition_S(b_tiles), bring.partition_D(b_stage)

    mine = mma.get_slice(thread)
    a_part = mma.make_fragment_A(mine.partition_A(a_stage))
    b_part = mma.make_fragment_B(mine.partition_B(b_stage))
    c_part = mine.partition_C(c_tile)
    total = mma.make_fragment_C(c_part)
    total.fill(0.0)
    matrices = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), cutlass.Float16)
    load_a, load_b = cute.make_tiled_copy_A(matrices, mma), cute.make_tiled_copy_B(matrices, mma)
    a_source = load_a.get_slice(thread).partition_S(a_stage)
    b_source = load_b.get_slice(thread).partition_S(b_stage)
    a_loaded, b_loaded = load_a.retile(a_part), load_b.retile(b_part)

    for k in range(cute.size(a_tiles, mode=[2])):
        cute.copy(copies, a_from[None, None, None, k], a_to)
        cute.copy(copies, b_from[None, None, None, k], b_to)
        cute.arch.cp_async_commit_group()
        cute.arch.cp_async_wait_group(0)
        cute.arch.sync_threads()
        cute.copy(load_a, a_source, a_loaded)
        cute.copy(load_b, b_source, b_loaded)
        cute.gemm(mma, total, a_part, b_part, total)
        cute.arch.sync_threads()

    result = cute.make_fragment_like(total, cutlass.Float16)
    result.store(total.load().to(cutlass.Float16))
    cute.autovec_copy(result, c_part)


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    atom = cute.make_copy_atom(cpasync.CopyG2SOp(), cutlass.Float16, num_bits_per_copy=128)
    copies = cute.make_tiled_copy_tv(atom, cute.make_layout((THREADS // 4, 4), stride=(4, 1)),
                                     cute.make_layout((1, 8)))
    operation = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(operation, cute.make_layout((2, 2, 1)), permutation_mnk=(32, 32, 16))
    grid = (cute.size(c, mode=[0]) // ROWS, cute.size(c, mode=[1]) // COLUMNS, 1)
    gemm_kernel(a, b, c, copies, mma).launch(grid=grid, block=(THREADS, 1, 1), smem=STAGE_BYTES)


def gemm_problem(target):
    rows, columns, inner = 128, 128, 160
    a = Buffer("a", "f16", (rows, inner), seed=1, scale=0.5)
    b = Buffer("b", "f16", (columns, inner), seed=2, scale=0.5)
    c = Buffer("c", "f16", (rows, columns), fill=False)
    shapes = [make_fake_compact_tensor(cutlass.Float16, x.shape, stride_order=(1, 0), assumed_align=16)
              for x in (a, b, c)]
    ptx = cute.compile(gemm, *shapes).artifacts.PTX
    # The DSL names its kernel after the types of its arguments, in hundreds of letters.
    ptx = ptx.rstrip("\0").replace(re.search(r"\.entry (\w+)", ptx).group(1), "cute_gemm")
    kernel = Kernel("cute_gemm", target, ptx, THREADS, STAGE_BYTES)
    return Problem("cute_gemm", kernel, grid=(rows // ROWS, columns // COLUMNS), buffers=[a, b, c],
                   args=[a, b, c], expected={"c": a.numbers() @ b.numbers().T}, rmse_ratio=1e-3)


def problems():
    yield gemm_problem(TARGET)
