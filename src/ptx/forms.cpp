#include "ptx/forms.h"

namespace lw::ptx {
namespace {

constexpr bool modelled = true;
constexpr bool unmodelled = false;

constexpr FormRow kRows[] = {
    {"", Effect::none, unmodelled, 0, "", "", ""},
#define LW_FORM(name, effect, modelled, version, target, section, pattern) \
  {#name, Effect::effect, modelled, version, target, section, pattern},
#include "ptx/forms.def"
};

}  // namespace

const FormRow& row_of(FormId form) { return kRows[static_cast<size_t>(form)]; }

}  // namespace lw::ptx
