#pragma once
// Lines of source files, for excerpts. A file named by `.file` is looked for under the case's
// source_root, then beside the PTX; one that is not found has no lines, and the report shows the
// PTX instead.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lw::report {

class Sources {
 public:
  explicit Sources(std::string source_root = {}) : source_root_(std::move(source_root)) {}

  // Line `number`, from 1, of `file`; `beside` is the PTX that names it.
  std::optional<std::string> line(const std::string& file, uint32_t number,
                                  const std::string& beside = {});

 private:
  const std::vector<std::string>& lines_of(const std::string& file, const std::string& beside);

  std::string source_root_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace lw::report
