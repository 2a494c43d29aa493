#pragma once
// From lines of the PTX or of a source file to instructions of the run, and back.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "program/program.h"

namespace lw::schedule {

// One frame of a `.loc` chain: innermost first, then where that was inlined, and so on.
struct SourceLine {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};
std::vector<SourceLine> source_lines(const program::Place& place);

// The last part of a path.
std::string_view file_name(std::string_view path);

// Does the instruction touch memory or wait for something?
bool touches_memory(const program::Place& place);

// Instructions of a line, in order of the program; the file is named by any tail of its path. For a
// source line: those that touch memory, or all where none does.
std::vector<base::OpId> instructions_of_line(std::span<const program::Place> places,
                                             std::string_view file, uint32_t line);

}  // namespace lw::schedule
