#include "forms/overlap.h"

#include <algorithm>
#include <vector>

#include "ptx/forms/match.h"

namespace lw::ptx {
namespace {

constexpr int kMostSteps = 2'000'000;

bool share_word(const Element& a, const Element& b) {
  return std::any_of(a.types.begin(), a.types.end(), [&](Type t) { return b.accepts(t); }) ||
         std::any_of(a.mods.begin(), a.mods.end(), [&](Mod m) { return b.accepts(m); });
}

// Whether each word that `a` must have is one that `b` may have.
bool may_cover(const Pattern& a, const Pattern& b) {
  return std::all_of(a.elements.begin(), a.elements.end(), [&](const Element& element) {
    return element.group != kNowhere ||
           std::any_of(b.elements.begin(), b.elements.end(),
                       [&](const Element& other) { return share_word(element, other); });
  });
}

class Search {
 public:
  Search(const Pattern& a, const Pattern& b) : a_(a), b_(b) {}

  Overlap run() {
    if (may_cover(a_, b_) && may_cover(b_, a_)) walk(0);
    return overlap_;
  }

 private:
  bool done() const { return overlap_.opcode.has_value() || overlap_.gave_up; }

  void walk(size_t index) {
    if (++steps_ > kMostSteps) overlap_.gave_up = true;
    if (done()) return;
    if (index == a_.elements.size()) return check();
    const Element& element = a_.elements[index];
    if (element.group != kNowhere) walk(index + 1);
    for (Type type : element.types) {
      if (!taken_by_b(type)) continue;
      types_.push_back(type);
      walk(index + 1);
      types_.pop_back();
    }
    for (Mod mod : element.mods) {
      if (!taken_by_b(mod)) continue;
      mods_.push_back(mod);
      walk(index + 1);
      mods_.pop_back();
    }
  }

  template <class Word>
  bool taken_by_b(Word word) const {
    return std::any_of(b_.elements.begin(), b_.elements.end(),
                       [&](const Element& element) { return element.accepts(word); });
  }

  void check() {
    if (!matches_opcode(a_, mods_, types_) || !matches_opcode(b_, mods_, types_)) return;
    std::string text(a_.base);
    for (Mod mod : mods_) (text += '.') += name_of(mod);
    for (Type type : types_) (text += '.') += name_of(type);
    overlap_.opcode = text;
  }

  const Pattern& a_;
  const Pattern& b_;
  std::vector<Mod> mods_;
  std::vector<Type> types_;
  int steps_ = 0;
  Overlap overlap_;
};

}  // namespace

Overlap find_overlap(const Pattern& a, const Pattern& b) { return Search(a, b).run(); }

}  // namespace lw::ptx
