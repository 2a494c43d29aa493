#pragma once
// Ids to the words of the report: where an instruction stands, who did something, on what.

#include <string>
#include <string_view>

#include "casefile/inputs.h"
#include "prove/finding.h"
#include "report/sources.h"

namespace lw::report {

// The place of an instruction that the report shows: its line in the kernel's own source (the
// outermost frame: inlined helpers are listed behind it), or in the PTX where there is none.
struct Site {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;               // 0: unknown
  std::string excerpt;               // the text of that line, blanks trimmed; may be empty
  uint32_t caret = 0;                // where in it the column is, from 0
  std::vector<std::string> inlined;  // "file:line", outer to inner
  std::string ptx_file;
  uint32_t ptx_line = 0;

  std::string text() const;  // "file:line"
};

class Names {
 public:
  Names(const casefile::Inputs& inputs, machine::Machine& machine)
      : inputs_(inputs), machine_(machine), sources_(inputs.parts.source_root) {}

  Site site(base::OpId op);
  // "line 212", with the file in front where it is not `file`.
  std::string line_text(base::OpId op, std::string_view file);

  std::string instruction(base::OpId op);  // its opcode
  std::string form(base::OpId op);         // the form's name in the manual
  std::string role(base::CtaId cta, base::WarpId warp);
  std::string warp(base::CtaId cta, base::WarpId warp);  // "warp 3 (K1)", with the CTA if not 0
  // Is it of the kernel that runs beside the case (casefile/antagonist.h)?
  bool is_antagonist(base::CtaId cta) const;
  // "warp 3 (K1)", "lane 5 of warp 0", "the bulk copy that warp 26 (TMA) issued".
  // Lanes are named where `lanes`: two lanes of one warp have to be told apart.
  std::string agent(const order::Party& party, bool lanes);
  std::string object(const prove::Object& object);  // "s_tile", or what a store writes
  std::string address(order::Space space, const prove::Object& object, uint64_t address);

  // "`s_full`", "`s_full` + 8": an offset in the shared memory of a CTA.
  std::string shared_place(base::CtaId cta, uint32_t offset);
  // ", 4 bytes past the end of `x`": where a bad address lies; empty if near nothing.
  std::string near(uint64_t address);

  machine::Machine& machine() { return machine_; }
  const casefile::Inputs& inputs() const { return inputs_; }

 private:
  const casefile::Inputs& inputs_;
  machine::Machine& machine_;
  Sources sources_;
};

std::string_view access_word(order::Kind kind);  // "read", "write", "atomic"
std::string counted(uint64_t number);            // 1234567 as 1,234,567
std::string ordinal(uint64_t number);            // 1st, 2nd, ...
// "1 warp", "4 warps"
std::string plural(uint64_t number, std::string_view word);

}  // namespace lw::report
