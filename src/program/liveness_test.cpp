// Slots against a naive liveness: sets of registers per instruction, iterated to a fixed point. No
// two registers that are alive at once, or named by one instruction, may share a slot.

#include "program/liveness.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "program/mentions.h"
#include "ptx/parser.h"

namespace lw::program {
namespace {

class OnePlace final : public PlaceSource {
 public:
  uint32_t first_place(ptx::FunctionId) override { return 0; }
};

struct Parsed {
  ptx::Module module;
  FlatCode code;
};

Parsed parse(const std::string& body) {
  diagnose::Emitter emitter;
  std::optional<ptx::Module> module =
      ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n" + body +
                     "ret;\n}\n",
                 "test.ptx", emitter);
  for (const diagnose::Diagnostic& diagnostic : emitter.diagnostics())
    ADD_FAILURE() << diagnostic.message << " " << diagnostic.excerpt;
  Parsed parsed{std::move(*module), {}};
  OnePlace places;
  parsed.code = flatten(parsed.module, ptx::FunctionId(0), places);
  return parsed;
}

using Set = std::set<uint32_t>;

struct Names {
  Set read;
  Set overwritten;
};

class Naive {
 public:
  explicit Naive(const Parsed& parsed) : code_(parsed.code) {
    Mentions mentions(parsed.module, code_);
    names_.resize(code_.instructions.size());
    for (uint32_t i = 0; i < names_.size(); ++i)
      mentions.visit(i, [&](uint32_t reg, bool overwrites) {
        (overwrites ? names_[i].overwritten : names_[i].read).insert(reg);
      });
    live_before_.resize(names_.size() + 1);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t i = static_cast<uint32_t>(names_.size()); i-- > 0;) changed |= step(i);
    }
  }
  // Alive behind the instruction, or named by it.
  Set at(uint32_t i) const {
    Set all = live_after(i);
    all.insert(names_[i].read.begin(), names_[i].read.end());
    all.insert(names_[i].overwritten.begin(), names_[i].overwritten.end());
    return all;
  }

 private:
  Set live_after(uint32_t i) const {
    const FlatInstruction& flat = code_.instructions[i];
    bool guarded = flat.source != nullptr && flat.source->guarded;
    Set live;
    bool leaves =
        flat.kind == FlatInstruction::Kind::jump || flat.kind == FlatInstruction::Kind::exit;
    if (!leaves || guarded) live = live_before_[i + 1];
    if (flat.kind == FlatInstruction::Kind::jump) {
      const Set& there = live_before_[code_.labels[flat.label]];
      live.insert(there.begin(), there.end());
    }
    return live;
  }
  bool step(uint32_t i) {
    Set live = live_after(i);
    for (uint32_t reg : names_[i].overwritten) live.erase(reg);
    live.insert(names_[i].read.begin(), names_[i].read.end());
    bool changed = live != live_before_[i];
    live_before_[i] = std::move(live);
    return changed;
  }

  const FlatCode& code_;
  std::vector<Names> names_;
  std::vector<Set> live_before_;
};

void expect_no_conflict(const Parsed& parsed) {
  SlotAssignment slots = assign_slots(parsed.module, parsed.code);
  Naive naive(parsed);
  for (uint32_t i = 0; i < parsed.code.instructions.size(); ++i) {
    std::map<std::pair<SlotClass, uint32_t>, uint32_t> taken;
    for (uint32_t reg : naive.at(i)) {
      auto key = std::pair(parsed.code.registers[reg], slots.slot[reg]);
      auto [found, is_new] = taken.try_emplace(key, reg);
      EXPECT_TRUE(is_new) << "registers " << reg << " and " << found->second << " at instruction "
                          << i;
    }
  }
}

TEST(Liveness, ReusesSlots) {
  std::string body = ".reg .b32 %r<101>;\nmov.u32 %r0, 0;\n";
  for (int i = 0; i < 100; ++i)
    body += "add.u32 %r" + std::to_string(i + 1) + ", %r" + std::to_string(i) + ", 1;\n";
  Parsed parsed = parse(body);
  expect_no_conflict(parsed);
  EXPECT_LE(assign_slots(parsed.module, parsed.code).words, 3u);
}

TEST(Liveness, AGuardedWriteKeepsTheRegisterAlive) {
  Parsed parsed = parse(R"(
.reg .b32 %r<9>; .reg .pred %p;
mov.u32 %r1, 1;
mov.u32 %r2, 2;
setp.eq.u32 %p, %r2, 3;
mov.u32 %r3, 4;
@%p mov.u32 %r1, 5;
add.u32 %r4, %r1, %r3;
st.global.u32 [0], %r4;
)");
  expect_no_conflict(parsed);
  SlotAssignment slots = assign_slots(parsed.module, parsed.code);
  EXPECT_GE(slots.words, 3u);
}

// Random control flow over few registers.
std::string random_body(uint32_t seed) {
  std::mt19937 random(seed);
  auto pick = [&](uint32_t below) { return std::to_string(random() % below); };
  std::string body = ".reg .b32 %r<12>; .reg .b64 %d<6>; .reg .pred %p<4>;\n";
  int length = 30;
  for (int i = 0; i < length; ++i) {
    body += "L" + std::to_string(i) + ": ";
    std::string guard = random() % 4 == 0 ? "@%p" + pick(4) + " " : "";
    switch (random() % 7) {
      case 0:
        body += guard + "mov.u32 %r" + pick(12) + ", 7;\n";
        break;
      case 1:
        body += guard + "add.u32 %r" + pick(12) + ", %r" + pick(12) + ", %r" + pick(12) + ";\n";
        break;
      case 2:
        body += "setp.lt.u32 %p" + pick(4) + ", %r" + pick(12) + ", %r" + pick(12) + ";\n";
        break;
      case 3:
        body += "@%p" + pick(4) + " bra L" + pick(static_cast<uint32_t>(length)) + ";\n";
        break;
      case 4:
        body += guard + "cvt.u64.u32 %d" + pick(6) + ", %r" + pick(12) + ";\n";
        break;
      case 5:
        body += guard + "st.global.u32 [%d" + pick(6) + "], %r" + pick(12) + ";\n";
        break;
      default:
        body += guard + "mov.b64 {%r" + pick(6) + ", %r1" + pick(2) + "}, %d" + pick(6) + ";\n";
    }
  }
  return body;
}

TEST(Liveness, RandomProgramsHaveNoConflict) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_no_conflict(parse(random_body(seed)));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace lw::program
