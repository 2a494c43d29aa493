#pragma once
// A case: what is needed to run a kernel with no GPU. Modules, buffers and their contents, tensor
// maps, launches on streams, and what counts as output. Read from a TOML file, from the leading
// comment of a PTX file, or from flags of the command line; all three make this same value.
//
// Nothing here is checked against the PTX yet: validate.h does that once the modules are parsed.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "casefile/dtype.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

using diagnose::Place;

struct Dim3 {
  uint64_t x = 1;
  uint64_t y = 1;
  uint64_t z = 1;

  uint64_t count() const { return x * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct ModuleSource {
  Place place;
  std::string name;  // how a launch names it; empty for the only one
  std::string path;  // of the PTX
};

enum class DataKind : uint8_t {
  none,      // nobody wrote it: reads before the kernel's own writes are reported
  normal,    // mean 0, deviation `scale`
  uniform,   // in [-scale, scale)
  integers,  // low..high
  iota,      // value, value + scale, ...
  constant,  // value
  nan,
  file,
};

// `tail = { from = 300, value = -1000 }`: elements from a flat index on, as a host pads.
struct Tail {
  uint64_t from = 0;
  double value = 0;
};

struct Buffer {
  Place place;
  std::string name;
  Dtype dtype = Dtype::b8;
  std::vector<uint64_t> shape;
  DataKind data = DataKind::none;
  double scale = 1;
  double value = 0;
  int64_t low = -8;
  int64_t high = 8;
  uint64_t seed = 0;
  Place file_place;
  std::string file;      // .npy or .safetensors
  std::string file_key;  // tensor inside a .safetensors file
  std::optional<Tail> tail;

  uint64_t element_count() const;
  uint64_t size_bytes() const { return element_count() * dtype_bytes(dtype); }
};

enum class Swizzle : uint8_t { none, b32, b64, b128 };
enum class Interleave : uint8_t { none, b16, b32 };
enum class OutOfBoundsFill : uint8_t { zero, nan };

struct TensorMap {
  Place place;
  std::string name;
  std::string buffer;
  std::vector<uint64_t> dims;             // elements, dimension 0 (contiguous) first
  std::vector<uint64_t> strides;          // bytes, dimension 1 on
  std::vector<uint64_t> box;              // elements
  std::vector<uint64_t> element_strides;  // all 1 when left out
  Swizzle swizzle = Swizzle::none;
  Interleave interleave = Interleave::none;
  OutOfBoundsFill fill = OutOfBoundsFill::zero;
  std::string raw;  // a file of 128 bytes; all of the above but name and buffer is then unused
};

struct ArgumentField;

// One kernel parameter.
struct Argument {
  enum class Kind : uint8_t {
    object,  // `name`: a buffer's address plus `byte_offset`, or a tensor map's 128 bytes
    scalar,  // `bits` of type `dtype`
    bytes,   // `bytes` as they are
    fields,  // a struct by value, member by member
    open,    // a pointer nobody described: it gets a buffer of its own that grows
  };
  Place place;
  Kind kind = Kind::scalar;
  std::string name;
  uint64_t byte_offset = 0;
  Dtype dtype = Dtype::b32;
  uint64_t bits = 0;
  std::vector<uint8_t> bytes;
  std::vector<ArgumentField> fields;
};

struct ArgumentField {
  uint64_t offset = 0;
  Argument value;
};

// Warps that do one job, named for the report.
struct Role {
  std::string name;
  std::vector<std::pair<uint32_t, uint32_t>> warps;  // first and last, both included
};

struct Launch {
  Place place;
  Place grid_place;
  Place block_place;
  Place cluster_place;
  Place shared_place;
  Place args_place;
  std::string kernel;
  std::string module;  // empty: the only module, or the only one with such a kernel
  Dim3 grid;
  Dim3 block;
  std::optional<Dim3> cluster;  // left out: what the kernel requires, else 1
  uint64_t shared = 0;          // dynamic bytes
  uint32_t registers = 0;       // a thread; 0: not known
  uint64_t stream = 0;
  bool programmatic = false;
  bool cooperative = false;     // all CTAs together: cooperative groups may synchronise the grid
  bool open_arguments = false;  // parameters that `args` leaves out are open pointers or an error
  std::vector<Argument> args;
  std::vector<Role> roles;
};

struct Output {
  Place place;
  std::string buffer;
};

struct Check {
  std::vector<Output> outputs;  // empty: all buffers
  std::string expect;           // read by the tests alone
  Place reference_place;
  std::string reference;  // .safetensors with a tensor for each output, or .npy for the only one
  double rmse_ratio = 5e-3;
  double max_abs = 1e-6;
  double cosine = 0;  // smallest allowed; 0: not asked
};

struct Case {
  std::string name;         // as the user gave it: a path, or the PTX of flags
  std::string source_root;  // where names of `.file` are looked for first
  std::vector<ModuleSource> modules;
  std::vector<Buffer> buffers;
  std::vector<TensorMap> tensor_maps;
  std::vector<Launch> launches;
  Check check;

  const Buffer* find_buffer(const std::string& buffer) const;
  const TensorMap* find_tensor_map(const std::string& map) const;
  std::string role_of(size_t launch, uint32_t warp) const;  // empty: none
};

}  // namespace lw::casefile
