#pragma once
// The arithmetic of `cp.reduce.async.bulk` and `cp.reduce.async.bulk.tensor` on one contiguous
// piece: memory[i] = op(memory[i], operand[i]) (PTX: Data Movement, cp.reduce.async.bulk).
//
// inc and dec wrap as `atom` does: inc gives 0 at or above the operand, dec gives the operand at 0
// or above it. Which types an operation takes is asked by `reduces`. An H200 keeps subnormals in
// f32 sums unless the tensor map's type is f32.ftz, and passes a NaN of f64 on as it is, not
// quieted (tests/agree/tensor_copies.tsv).

#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/tensor_map.h"

namespace lw::machine {

enum class ReduceOp : uint8_t { add, min, max, inc, dec, and_bits, or_bits, xor_bits };
enum class ReduceType : uint8_t { u32, s32, u64, s64, f16, bf16, f32, f32_ftz, f64 };

uint32_t reduce_element_bytes(ReduceType type);
// What a tensor map's element type means to a tensor reduction; none has no meaning.
std::optional<ReduceType> reduce_type_of(TensorType type);
bool reduces(ReduceOp op, ReduceType type);

// `bytes` is a multiple of the element's size, and `reduces(op, type)` holds.
void reduce_elements(std::byte* memory, const std::byte* operand, uint32_t bytes, ReduceOp op,
                     ReduceType type);

}  // namespace lw::machine
