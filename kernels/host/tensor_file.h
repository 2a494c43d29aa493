#pragma once
// What a case needs beside its text: arrays in a safetensors file, which it names as inputs and
// reference, and its lines about them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace host {

struct Tensor {
  std::string_view name;
  std::string_view stored_as;  // the type's name in the file; empty: an output
  std::string_view dtype;      // and in a case
  std::vector<int> shape;
  std::string_view bytes;
};

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// `file` is where the contents are; empty: nobody wrote them.
std::string buffer_text(const Tensor& tensor, std::string_view file);

// Throw std::ios_base::failure if the file cannot be written.
void write_safetensors(const std::filesystem::path& path, const std::vector<Tensor>& tensors);
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace host
