#pragma once
// The forms in which the kernel is compiled: the right one, and the two found in public code, each
// wrong in one place. Chosen by `-DFUSED_K123_FORM=as_found`.

namespace forms {

// Where one K1 warp is held back for 20 us, so that a missing order shows in the outputs (GPU
// test).
enum class Stall { none, before_the_reads, after_k1_done };

struct Form {
  bool read_barrier;      // K1 meets between its reads of s_partial_last and the next writes
  bool scan_frees_stage;  // K1 too must be done with a stage before it is refilled
  Stall stall = Stall::none;
};

constexpr Form fixed{.read_barrier = true, .scan_frees_stage = true};
constexpr Form as_found{.read_barrier = false, .scan_frees_stage = true};
constexpr Form stage_as_found{.read_barrier = true, .scan_frees_stage = false};

constexpr Form stalled(Form form, Stall stall) {
  form.stall = stall;
  return form;
}

}  // namespace forms

#ifndef FUSED_K123_FORM
#define FUSED_K123_FORM fixed
#endif
#ifndef FUSED_K123_STALL
#define FUSED_K123_STALL none
#endif

constexpr forms::Form kForm =
    forms::stalled(forms::FUSED_K123_FORM, forms::Stall::FUSED_K123_STALL);
