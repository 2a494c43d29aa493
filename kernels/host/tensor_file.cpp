#include "host/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <fstream>

namespace host {
namespace {

std::ofstream opened(const std::filesystem::path& path) {
  std::ofstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(path, std::ios::binary);
  return file;
}

}  // namespace

std::string buffer_text(const Tensor& tensor, std::string_view file) {
  std::string text = fmt::format("[[buffer]]\nname = \"{}\"\ndtype = \"{}\"\nshape = [{}]\n",
                                 tensor.name, tensor.dtype, fmt::join(tensor.shape, ", "));
  if (!file.empty()) text += fmt::format("file = \"{}#{}\"\n", file, tensor.name);
  return text + "\n";
}

// The format: eight bytes that hold the header's length, the header as JSON, the tensors.
void write_safetensors(const std::filesystem::path& path, const std::vector<Tensor>& tensors) {
  std::vector<std::string> entries;
  size_t end = 0;
  for (const Tensor& tensor : tensors) {
    const size_t begin = end;
    end += tensor.bytes.size();
    entries.push_back(fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  tensor.name, tensor.stored_as, fmt::join(tensor.shape, ","),
                                  begin, end));
  }
  const std::string header = fmt::format("{{{}}}", fmt::join(entries, ","));
  std::ofstream file = opened(path);
  const uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  for (const Tensor& tensor : tensors) file << tensor.bytes;
}

void write_text(const std::filesystem::path& path, std::string_view text) { opened(path) << text; }

}  // namespace host
