"""Triton and Gluon to PTX with no GPU: a signature and a target in place of a launch on tensors."""

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource

from problem import Kernel


def ptx_version(target):
    """The newest that the assembler Triton brings for the target reads, and that CUDA 13.0 reads."""
    return 88 if target < 90 else 90


def compile_triton(function, target, divisible=(), num_warps=4, **arguments):
    """`arguments` in the order of the parameters: a type, or what a constexpr is. Pointers are
    multiples of 16 bytes, and so are the numbers named in `divisible` (of 16)."""
    constant = {p.name for p in function.params if p.is_constexpr}
    signature = {name: "constexpr" if name in constant else kind for name, kind in arguments.items()}
    constexprs = {name: arguments[name] for name in constant}
    attributes = {(place,): [["tt.divisibility", 16]] for place, (name, kind) in
                  enumerate(signature.items()) if kind.startswith("*") or name in divisible}
    source = GluonASTSource if function.is_gluon() else ASTSource
    compiled = triton.compile(source(function, signature, constexprs, attributes),
                              target=GPUTarget("cuda", target, 32),
                              options={"num_warps": num_warps, "ptx_version": ptx_version(target),
                                       "enable_fp_fusion": True})
    facts = compiled.metadata
    if facts.global_scratch_size or facts.profile_scratch_size:
        raise ValueError(f"{facts.name} wants scratch memory")
    return Kernel(facts.name, target, compiled.asm["ptx"], threads=32 * facts.num_warps,
                  shared=facts.shared, maps=facts.tensordesc_meta or [], hidden=[("u64", 0)] * 2)
