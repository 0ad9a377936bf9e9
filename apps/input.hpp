#pragma once
// Matrices that commands read: how their text is meant, and what was made of it.

#include <string>

#include "apps/command_line.hpp"
#include "apps/json.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::app {

/// Options of commands that read matrices.
struct TextInput {
  std::string header = "auto";
  bool transpose = false;
};
void add_text_options(Command& command, TextInput& text);
/// For those where it makes a difference what is a row.
void add_transpose_option(Command& command, TextInput& text);

/// Reads a matrix; tells, on standard error, which parts of a text were taken for names.
NamedMatrix read_input(const std::string& path, const TextInput& text, int threads);

/// The same for algorithms alone: numbers stay where the file has them, if they can be used so.
MatrixData read_input_data(const std::string& path, const TextInput& text, int threads);

/// The same for commands that share their work among ranks: rows are owned by all of them, if there are any.
MatrixData read_shared_data(const std::string& path, const TextInput& text, int threads);

/// For commands that look at single entries: dense, double; not copied where it is that already.
Matrix dense(AnyMatrix matrix);

/// The field `input` of the JSON object.
Json describe_input(const MatrixData& data);

}  // namespace pursuit::app
