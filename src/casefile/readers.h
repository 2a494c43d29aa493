#pragma once
// One reader for each kind of table in a case file. Each reports its own mistakes.

#include "casefile/case.h"
#include "casefile/toml_value.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

Buffer read_buffer(const Value& table, const std::string& case_path, diagnose::Emitter& emitter);
TensorMap read_tensor_map(const Value& table, const std::string& case_path,
                          diagnose::Emitter& emitter);
Launch read_launch(const Value& table, diagnose::Emitter& emitter);
Argument read_argument(const Value& value, diagnose::Emitter& emitter);
Check read_check(const Value& table, const std::string& case_path, diagnose::Emitter& emitter);

// Do the parts of a case name each other rightly? Names unique, buffers of maps and arguments and
// outputs there. What the PTX says is validate.h's business.
void check_names(const Case& parts, diagnose::Emitter& emitter);

// `normal`, `integers`, ...; nothing for an unknown word.
std::optional<DataKind> find_data_kind(const std::string& word);

// "0-15", "26", "0-3,8": nothing if it is none of these.
std::optional<std::vector<std::pair<uint32_t, uint32_t>>> parse_ranges(const std::string& text);

}  // namespace lw::casefile
