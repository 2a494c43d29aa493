"""A matrix product in TileLang."""

import os
import pathlib
import subprocess
import tempfile

import tilelang
import tilelang.language as T

from problem import Buffer, Kernel, Problem, ReadOnly


def gemm(rows, columns, inner, tile=64, step=32):
    @T.prim_func
    def gemm_kernel(a: T.Tensor((rows, inner), "float16"), b: T.Tensor((inner, columns), "float16"),
                    c: T.Tensor((rows, columns), "float16")):
        with T.Kernel(columns // tile, rows // tile, threads=128) as (across, down):
            a_stage = T.alloc_shared((tile, step), "float16")
            b_stage = T.alloc_shared((step, tile), "float16")
            total = T.alloc_fragment((tile, tile), "float32")
            T.clear(total)
            for k in T.Pipelined(inner // step, num_stages=3):
                T.copy(a[down * tile, k * step], a_stage)
                T.copy(b[k * step, across * tile], b_stage)
                T.gemm(a_stage, b_stage, total)
            T.copy(total, c[down * tile, across * tile])

    return gemm_kernel


def compiled(function, target, arch):
    """TileLang gives CUDA C++ and the launch; nvcc makes the PTX."""
    goal = tilelang.tvm.target.Target({"kind": "cuda", "arch": arch})
    with goal:
        made = tilelang.lower(function, target=goal, enable_device_compile=False)
    (device,) = made.device_mod.functions.values()
    package = pathlib.Path(tilelang.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        source, result = pathlib.Path(folder, "kernel.cu"), pathlib.Path(folder, "kernel.ptx")
        source.write_text(made.kernel_source)
        subprocess.run([os.environ.get("NVCC", "nvcc"), "-ptx", f"-arch={arch}", "-std=c++17", "-O3",
                        "--expt-relaxed-constexpr", "-w", f"-I{package / 'src'}",
                        f"-I{package / '3rdparty/cutlass/include'}", "-o", result, source],
                       check=True)
        ptx = result.read_text()
    return Kernel(str(device.attrs["global_symbol"]), target, ptx,
                  int(device.attrs["thread_extent"]["threadIdx.x"]),
                  int(device.attrs["dyn_shared_memory_buf"]))


def gemm_problem(target, arch):
    rows, columns, inner = 128, 128, 160
    a = Buffer("a", "f16", (rows, inner), seed=1, scale=0.5)
    b = Buffer("b", "f16", (inner, columns), seed=2, scale=0.5)
    c = Buffer("c", "f16", (rows, columns), fill=False)
    kernel = compiled(gemm(rows, columns, inner), target, arch)
    return Problem("tilelang_gemm", kernel, grid=(columns // 64, rows // 64), buffers=[a, b, c],
                   args=[a, b, c], expected={"c": a.numbers() @ b.numbers()}, rmse_ratio=1e-3)


def problems():
    yield gemm_problem(80, "sm_80")
    yield gemm_problem(89, "sm_89")
    # With tensor copies, and wgmma in warps of their own on the first: made to be read.
    for target in (90, 100):
        yield ReadOnly("tilelang_gemm", compiled(gemm(128, 128, 160), target, f"sm_{target}a"))
