#pragma once
// Reads the committed GPU results in tests/agree: tab-separated rows, '#' starts a comment line.

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lw::arith {

inline std::vector<std::vector<std::string>> read_samples(const std::string& name) {
  std::ifstream file(std::string(LW_SOURCE_DIR) + "/tests/agree/" + name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream stream(line);
    rows.emplace_back();
    for (std::string field; std::getline(stream, field, '\t');) rows.back().push_back(field);
  }
  return rows;
}

inline uint32_t hex(const std::string& text) {
  return static_cast<uint32_t>(std::stoul(text, nullptr, 16));
}

}  // namespace lw::arith
