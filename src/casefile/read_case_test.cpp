#include "casefile/read_case.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "casefile/flags.h"
#include "casefile/readers.h"

namespace lw::casefile {
namespace {

std::optional<Case> read(const std::string& name, const std::string& text,
                         diagnose::Emitter& emitter) {
  const std::string path = (std::filesystem::temp_directory_path() / name).string();
  std::ofstream(path) << text;
  std::optional<Case> result = read_case(path, emitter);
  std::filesystem::remove(path);
  return result;
}

constexpr const char* kWhole = R"(
ptx = "k.ptx"
source_root = ".."
[[buffer]]
name = "q"
dtype = "bf16"
shape = [2, 64]
data = "normal"
scale = 0.5
seed = 3
tail = { from = 100, value = -1 }
[[tensor_map]]
name = "q_map"
buffer = "q"
dims = [64, 2]
strides = [128]
box = [64, 1]
swizzle = "128B"
[[launch]]
kernel = "k"
grid = [4, 2]
block = 96
cluster = 2
shared = 1024
stream = 1
args = ["q_map", "q", { i32 = -5 }, { f32 = 0.5 }, { bytes = "00ff" },
        [{ offset = 0, i32 = 1 }, { offset = 8, pointer = "q", plus = 16 }]]
roles = { load = "0", math = "1,2" }
[check]
outputs = ["q"]
max_abs = 0
)";

TEST(ReadCase, ReadsEveryKindOfTable) {
  diagnose::Emitter emitter;
  const auto parts = read("latewarp_whole.toml", kWhole, emitter);
  ASSERT_TRUE(parts) << emitter.diagnostics().front().message;
  EXPECT_EQ(parts->buffers[0].size_bytes(), 256u);
  EXPECT_EQ(parts->buffers[0].tail->from, 100u);
  EXPECT_EQ(parts->tensor_maps[0].swizzle, Swizzle::b128);
  const Launch& launch = parts->launches[0];
  EXPECT_EQ(launch.grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(launch.block, (Dim3{96, 1, 1}));
  EXPECT_EQ(launch.args[2].bits, 0xfffffffbu);
  EXPECT_EQ(launch.args[3].bits, 0x3f000000u);
  EXPECT_EQ(launch.args[4].bytes, (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(launch.args[5].fields[1].offset, 8u);
  EXPECT_EQ(launch.args[5].fields[1].value.byte_offset, 16u);
  EXPECT_EQ(parts->role_of(0, 2), "math");
  EXPECT_EQ(parts->role_of(0, 3), "");
}

TEST(ReadCase, CollectsMistakesWithTheirPlaces) {
  diagnose::Emitter emitter;
  const std::string text =
      "ptx = 'k.ptx'\n[[launch]]\nkernel = 'k'\ngrdi = [1]\ngrid = 'x'\nblock = 1\nargs = []\n";
  EXPECT_FALSE(read("latewarp_wrong.toml", text, emitter));
  ASSERT_EQ(emitter.diagnostics().size(), 2u);
  EXPECT_EQ(emitter.diagnostics()[0].place.line, 5u);
  EXPECT_EQ(emitter.diagnostics()[1].place.line, 4u);
  EXPECT_EQ(emitter.diagnostics()[1].hint, "write `grid`");
}

TEST(ReadCase, TakesTheLaunchFromTheHeadOfPtx) {
  diagnose::Emitter emitter;
  const std::string text =
      "// why\n//! [[launch]]\n//! kernel = \"k\"\n//! grid = 1\n//! block = 32\n//! args = "
      "[]\n.version 9.0\n";
  const auto parts = read("latewarp_twin.ptx", text, emitter);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->launches[0].place.line, 2u);
  EXPECT_EQ(parts->modules[0].path, parts->name);
}

TEST(Flags, MakeTheSameCase) {
  Flags flags{"k", "2", "256", "", 4096, 0, 7, {"x=f32:4x256=normal", "f32:64", "i32=8"}, {"x"}};
  diagnose::Emitter emitter;
  const auto parts = case_from_flags("k.ptx", flags, emitter);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->buffers[0].element_count(), 1024u);
  EXPECT_EQ(parts->buffers[0].data, DataKind::normal);
  EXPECT_EQ(parts->buffers[0].seed, 7u);
  EXPECT_EQ(parts->launches[0].args[1].name, "arg1");
  EXPECT_EQ(parts->launches[0].args[2].bits, 8u);
}

TEST(Ranges, AreListsOfWarps) {
  using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;
  EXPECT_EQ(parse_ranges("0-3, 8"), (Ranges{{0, 3}, {8, 8}}));
  EXPECT_FALSE(parse_ranges("3-0"));
  EXPECT_FALSE(parse_ranges("zero"));
}

}  // namespace
}  // namespace lw::casefile
