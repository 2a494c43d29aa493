#pragma once
// The rows of forms.def as data.

#include <string>
#include <string_view>

#include "ptx/forms/pattern.h"
#include "ptx/tokens.h"

namespace lw::ptx {

// What a form does to memory or to order.
enum class Effect : uint8_t {
  none,     // registers only (prefetches and cache hints too: nobody can see them)
  load,     // reads memory
  store,    // writes memory
  atomic,   // reads and writes memory in one step
  async,    // starts or groups work that another agent does later
  fence,    // orders what others do, waits for nobody
  barrier,  // arrives at or waits for something
  texture,  // reads or writes through a texture or surface
  control,  // moves the program counter
};

struct FormRow {
  std::string_view name;
  Effect effect;
  bool modelled;
  int version;              // PTX version introduced, 10 times: 78 is 7.8
  std::string_view target;  // least target, or targets of which one must be met
  std::string_view section;
  std::string_view pattern;
};

const FormRow& row_of(FormId form);
const Pattern& pattern_of(FormId form);

// The syntax line of a row without its lists and properties, for messages.
std::string syntax_of(FormId form);

}  // namespace lw::ptx
