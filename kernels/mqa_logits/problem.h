#pragma once
// Inputs on which the kernels are run: those of the case files, and those on which their outputs
// are held against the reference. The same on every machine.

#include <string>
#include <vector>

#include "layout.h"
#include "schedule.h"
#include "variants.h"

namespace mqa_logits {

struct Problem {
  std::string name;
  NamedVariant variant;
  int heads = 32;
  int next_n = 6;
  std::vector<int> contexts;  // keys of each request that this rank holds
  int first_request = 0;      // `rows`: this rank's are those from here on
  int rank = 0;               // `cp`
  int ranks = 1;
  int ctas = 1;
  // Integers from -3 to 3 with scales of 1, 2 and 4: any order of summation gives the same bits.
  bool integers = true;

  std::vector<Fp8> q;            // [requests, next_n, heads, 128]
  std::vector<float> weights;    // [requests, next_n, heads]
  std::vector<Fp8> pages;        // [16, kPageBytes]
  std::vector<int> block_table;  // [requests, table_stride()]
  std::vector<UnitPlace> schedule;

  int requests() const { return int(contexts.size()); }
  int columns() const { return next_n * heads; }
  int table_stride() const;
  int logits_stride() const;
  int logits_rows() const { return (requests() - first_request) * next_n; }
};

constexpr int kPoolPages = 16;
constexpr int kQuerySeed = 1;  // the case files make q and weights by themselves
constexpr int kWeightsSeed = 2;
constexpr int kLargest = 3;

// 80 CTAs with a unit each, 122,880 logits: what the variants are shipped for.
Problem case_problem(const NamedVariant& variant);

// Every variant in its shipped shape, and `base` in all of them; contexts that end inside a page,
// or are empty; more CTAs than work, and fewer; integers and ordinary numbers.
std::vector<Problem> correctness_problems();

// [logits_rows, logits_stride], minus infinity where the kernel writes nothing.
std::vector<double> reference_logits(const Problem& problem);

}  // namespace mqa_logits
