#pragma once
// The kernels of this folder, all made from one body: a line of the table below is all in which two
// of them differ. Chosen by `-DMQA_LOGITS_VARIANT=rows -DMQA_LOGITS_FORM=as_found`.

#include "layout.h"

namespace mqa_logits {

// What the math warps do between their last loads of tensor memory and the free by warp 0.
enum class Drain {
  whole,  // all wait for their loads, then meet
  none,
  // Three that look like a remedy and are none.
  wait_alone,        // nothing tells warp 0 of the others' waits
  before_the_loads,  // they meet too early
  by_one_lane,       // an aligned barrier wants the whole warp
};

struct Variant {
  int math_groups;  // of four warps
  // 2: each group has the keys of its own blocks brought to it. 1: all groups take every block and
  // divide the rows among themselves.
  int key_streams;
  // Warps that issue matrix instructions, each into an accumulator of its own. One for each stream,
  // or, where there are more, they divide the rows too.
  int mma_warps;
  int math_registers;             // of a thread, after the producers have given theirs up
  bool trigger_at_entry = false;  // a programmatic dependent may start at once
  bool early_keys = false;  // keys are older than the grid we depend on: load them before it ends
  bool rank_rows = false;   // logits hold the rows of this rank alone
  bool rank_pages = false;  // our keys are every `ranks`-th page of the whole sequence
  Drain drain = Drain::whole;
};

// Each group its own blocks of 128 keys.
constexpr Variant base{.math_groups = 2, .key_streams = 2, .mma_warps = 2, .math_registers = 240};

constexpr Variant with(Variant variant, bool Variant::*flag) {
  variant.*flag = true;
  return variant;
}

constexpr Variant rows = with(base, &Variant::rank_rows);
constexpr Variant cross_rank = with(base, &Variant::trigger_at_entry);
constexpr Variant cp = with(with(base, &Variant::trigger_at_entry), &Variant::rank_pages);
constexpr Variant low_latency = with(base, &Variant::early_keys);

// Each group its own rows of every block.
constexpr Variant rowsplit2{
    .math_groups = 2, .key_streams = 1, .mma_warps = 1, .math_registers = 240};
constexpr Variant rowsplit3{
    .math_groups = 3, .key_streams = 1, .mma_warps = 1, .math_registers = 152};
constexpr Variant low_latency_split_n{
    .math_groups = 2, .key_streams = 1, .mma_warps = 2, .math_registers = 240, .early_keys = true};

struct NamedVariant {
  const char* name;
  Variant variant;
};

constexpr NamedVariant kVariants[] = {{"base", base},
                                      {"rows", rows},
                                      {"cross_rank", cross_rank},
                                      {"rowsplit2", rowsplit2},
                                      {"rowsplit3", rowsplit3},
                                      {"cp", cp},
                                      {"low_latency", low_latency},
                                      {"low_latency_split_n", low_latency_split_n}};

constexpr int math_threads(const Variant& variant) { return variant.math_groups * kGroupThreads; }

constexpr int threads(const Variant& variant) {
  return math_threads(variant) + 32 * kProducerWarps;
}

constexpr int kProducerRegisters = 24;  // of a thread, after they have given up the rest

// Of a thread at launch: what makes up for those of both kinds later. It leaves the SM room for a
// warp of another kernel.
constexpr int launch_registers(const Variant& variant) {
  const int later =
      math_threads(variant) * variant.math_registers + 32 * kProducerWarps * kProducerRegisters;
  return (later / threads(variant) + 7) / 8 * 8;
}

// Groups (or mma warps) that divide the rows of a request: each needs one at least.
constexpr int row_shares(const Variant& variant) {
  return (variant.math_groups > variant.mma_warps ? variant.math_groups : variant.mma_warps) /
         variant.key_streams;
}

// The right form; the one found in public code, where warp 0 frees tensor memory when it is done,
// whatever the other math warps do; and those that would not help.
struct Form {
  const char* name;
  Drain drain;
};

constexpr Form fixed{"fixed", Drain::whole};
constexpr Form as_found{"as_found", Drain::none};
constexpr Form wait_alone{"wait_alone", Drain::wait_alone};
constexpr Form barrier_before_loads{"barrier_before_loads", Drain::before_the_loads};
constexpr Form barrier_of_one_lane{"barrier_of_one_lane", Drain::by_one_lane};

constexpr Variant in_form(Variant variant, const Form& form) {
  variant.drain = form.drain;
  return variant;
}

}  // namespace mqa_logits

#ifndef MQA_LOGITS_VARIANT
#define MQA_LOGITS_VARIANT base
#endif
#ifndef MQA_LOGITS_FORM
#define MQA_LOGITS_FORM fixed
#endif

namespace mqa_logits {

constexpr Variant kVariant = in_form(MQA_LOGITS_VARIANT, MQA_LOGITS_FORM);

}  // namespace mqa_logits
