#include "report/sources.h"

#include <filesystem>
#include <fstream>

namespace lw::report {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates(const std::string& file, const std::string& root,
                                 const std::string& beside) {
  const fs::path name(file);
  std::vector<fs::path> paths;
  if (!root.empty() && name.is_relative()) paths.push_back(fs::path(root) / name);
  if (!beside.empty()) {
    const fs::path folder = fs::path(beside).parent_path();
    if (name.is_relative()) paths.push_back(folder / name);
    paths.push_back(folder / name.filename());
  }
  paths.push_back(name);
  return paths;
}

}  // namespace

const std::vector<std::string>& Sources::lines_of(const std::string& file,
                                                  const std::string& beside) {
  auto [entry, fresh] = files_.try_emplace(file);
  if (!fresh) return entry->second;
  for (const fs::path& path : candidates(file, source_root_, beside)) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    std::ifstream stream(path);
    for (std::string line; std::getline(stream, line);) entry->second.push_back(line);
    break;
  }
  return entry->second;
}

std::optional<std::string> Sources::line(const std::string& file, uint32_t number,
                                         const std::string& beside) {
  const std::vector<std::string>& lines = lines_of(file, beside);
  if (number == 0 || number > lines.size()) return std::nullopt;
  return lines[number - 1];
}

}  // namespace lw::report
