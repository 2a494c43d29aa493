#include "ptx/forms/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "diagnose/words.h"

namespace lw::ptx {
namespace {

// Lays dot-words on the elements of a pattern. Types go in order; modifiers go to the first element
// that takes them and is still free, or, where that leads nowhere, to a later one.
class Filling {
 public:
  Filling(const Pattern& pattern, std::span<const Mod> mods, std::span<const Type> types)
      : pattern_(pattern), mods_(mods), types_(types), filled_(pattern.elements.size()) {}

  bool complete() { return place_types(0, 0); }

 private:
  // What stands at an element: a type or a modifier, or neither.
  struct Word {
    Type type = Type::none;
    Mod mod = Mod::none;

    bool is_there() const { return type != Type::none || mod != Mod::none; }
    bool in(const Element& list) const { return list.accepts(type) || list.accepts(mod); }
  };

  bool place_types(size_t next_type, size_t element) {
    if (next_type == types_.size()) return place_mods(0);
    for (; element < filled_.size(); ++element) {
      if (!pattern_.elements[element].accepts(types_[next_type])) continue;
      filled_[element].type = types_[next_type];
      if (place_types(next_type + 1, element + 1)) return true;
      filled_[element] = {};
    }
    return false;
  }

  bool place_mods(size_t next_mod) {
    if (next_mod == mods_.size()) return groups_are_whole() && constraints_hold();
    for (size_t element = 0; element < filled_.size(); ++element) {
      const bool free = !filled_[element].is_there();
      if (!free || !pattern_.elements[element].accepts(mods_[next_mod])) continue;
      filled_[element].mod = mods_[next_mod];
      if (place_mods(next_mod + 1)) return true;
      filled_[element] = {};
    }
    return false;
  }

  bool constraints_hold() const {
    return std::all_of(pattern_.constraints.begin(), pattern_.constraints.end(),
                       [this](const Constraint& constraint) {
                         const Word& word = filled_[constraint.element];
                         const bool applies = std::any_of(
                             filled_.begin(), filled_.end(),
                             [&](const Word& other) { return other.in(constraint.when); });
                         return !applies || !word.is_there() || word.in(constraint.allowed);
                       });
  }

  // Each group is there as a whole or not at all, and only inside one that is there.
  bool groups_are_whole() const {
    std::vector<bool> present(pattern_.element_groups.size());
    for (size_t i = 0; i < filled_.size(); ++i) {
      const int group = pattern_.elements[i].group;
      if (group != kNowhere && filled_[i].is_there()) present[group] = true;
    }
    for (size_t i = 0; i < filled_.size(); ++i) {
      const int group = pattern_.elements[i].group;
      if (!filled_[i].is_there() && (group == kNowhere || present[group])) return false;
    }
    for (size_t i = 0; i < present.size(); ++i) {
      const int parent = pattern_.element_groups[i];
      if (present[i] && parent != kNowhere && !present[parent]) return false;
    }
    return true;
  }

  const Pattern& pattern_;
  std::span<const Mod> mods_;
  std::span<const Type> types_;
  std::vector<Word> filled_;
};

using Bases = std::unordered_map<std::string_view, std::vector<FormId>>;

Bases index_bases() {
  Bases bases;
  for (size_t i = 1; i < static_cast<size_t>(FormId::count); ++i) {
    const auto form = static_cast<FormId>(i);
    bases[pattern_of(form).base].push_back(form);
  }
  return bases;
}

bool takes_token(const Pattern& pattern, std::string_view token) {
  const Type type = find_type(token).value_or(Type::none);
  const Mod mod = find_mod(token).value_or(Mod::none);
  return std::any_of(pattern.elements.begin(), pattern.elements.end(), [&](const Element& element) {
    return element.accepts(type) || element.accepts(mod);
  });
}

std::string nearest_base(std::string_view base) {
  std::vector<std::string_view> known;
  for (size_t i = 1; i < static_cast<size_t>(FormId::count); ++i) {
    known.push_back(pattern_of(static_cast<FormId>(i)).base);
  }
  return diagnose::nearest(base, known);
}

// Among the dot-words of these forms.
std::string nearest_token(std::span<const FormId> forms, std::string_view token) {
  std::vector<std::string_view> known;
  for (FormId form : forms) {
    for (const Element& element : pattern_of(form).elements) {
      for (Type type : element.types) known.push_back(name_of(type));
      for (Mod mod : element.mods) known.push_back(name_of(mod));
    }
  }
  return diagnose::nearest(token, known);
}

std::string write_instead(std::string_view dot, const std::string& word, std::string otherwise) {
  return word.empty() ? std::move(otherwise) : fmt::format("write `{}{}`", dot, word);
}

size_t tokens_taken(const Pattern& pattern, const SplitOpcode& opcode) {
  return static_cast<size_t>(
      std::count_if(opcode.tokens.begin(), opcode.tokens.end(),
                    [&](std::string_view token) { return takes_token(pattern, token); }));
}

}  // namespace

SplitOpcode split_opcode(std::string_view text) {
  SplitOpcode split;
  size_t dot = text.find('.');
  split.base = text.substr(0, dot);
  while (dot != std::string_view::npos) {
    const size_t next = text.find('.', dot + 1);
    const std::string_view token = text.substr(dot + 1, next - dot - 1);
    split.tokens.push_back(token);
    if (const auto type = find_type(token)) {
      split.types.push_back(*type);
    } else if (const auto mod = find_mod(token)) {
      split.mods.push_back(*mod);
    } else if (!split.unknown) {
      split.unknown = token;
    }
    dot = next;
  }
  return split;
}

Opcode make_opcode(std::string_view text, FormId form) {
  SplitOpcode split = split_opcode(text);
  Opcode opcode{std::string(text), form, std::move(split.mods), {}, std::move(split.types)};
  for (Mod mod : opcode.mods) opcode.set.set(static_cast<size_t>(mod));
  return opcode;
}

std::span<const FormId> forms_of_base(std::string_view base) {
  static const Bases bases = index_bases();
  const auto found = bases.find(base);
  if (found == bases.end()) return {};
  return found->second;
}

bool matches_opcode(const Pattern& pattern, std::span<const Mod> mods,
                    std::span<const Type> types) {
  if (mods.size() + types.size() > pattern.elements.size()) return false;
  return Filling(pattern, mods, types).complete();
}

std::vector<FormId> forms_matching(const SplitOpcode& opcode) {
  std::vector<FormId> forms;
  if (opcode.unknown) return forms;
  for (FormId form : forms_of_base(opcode.base)) {
    if (matches_opcode(pattern_of(form), opcode.mods, opcode.types)) forms.push_back(form);
  }
  return forms;
}

bool has_element(const Pattern& pattern, const Opcode& opcode, int index) {
  const Element& element = pattern.elements[index];
  if (element.is_type()) {
    return std::any_of(opcode.types.begin(), opcode.types.end(),
                       [&](Type type) { return element.accepts(type); });
  }
  return std::any_of(element.mods.begin(), element.mods.end(),
                     [&](Mod mod) { return opcode.has(mod); });
}

Mismatch explain_mismatch(const SplitOpcode& opcode) {
  const std::span<const FormId> forms = forms_of_base(opcode.base);
  if (forms.empty()) {
    const char* otherwise = opcode.tokens.empty()
                                ? "a label ends with `:`, an instruction has a type, as `add.u32`"
                                : "see the PTX ISA for the instructions that there are";
    return {fmt::format("no instruction is called `{}`", opcode.base),
            write_instead("", nearest_base(opcode.base), otherwise)};
  }
  if (opcode.unknown) {
    return {fmt::format("`.{}` is neither a type nor a modifier of PTX", *opcode.unknown),
            write_instead(".", nearest_token(forms, *opcode.unknown),
                          fmt::format("a form is `{}`", syntax_of(forms.front())))};
  }
  const FormId nearest = *std::max_element(forms.begin(), forms.end(), [&](FormId a, FormId b) {
    return tokens_taken(pattern_of(a), opcode) < tokens_taken(pattern_of(b), opcode);
  });
  const std::string hint = fmt::format("the nearest form is `{}`", syntax_of(nearest));
  for (std::string_view token : opcode.tokens) {
    if (!takes_token(pattern_of(nearest), token)) {
      return {fmt::format("`{}` does not take `.{}`", opcode.base, token), hint};
    }
  }
  return {fmt::format("`{}` does not take these types and modifiers together", opcode.base), hint};
}

}  // namespace lw::ptx
