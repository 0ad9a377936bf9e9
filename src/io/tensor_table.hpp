#pragma once
// Arrays as tables of text: on every line the ids of an entry, one for each mode, and its value.

#include "io/byte_source.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::io {

/// The entries that a file lists.
struct TensorEntries {
  SparseTensor entries;
  ModeNames names = {};
  std::vector<std::string> labels = {};
};

/// Whether a text is such a table: separated by commas, semicolons or tabs.
bool is_tensor_table(std::string_view head);

/// Ids of a mode that are all whole numbers are in their order, others in that of their first appearance. The
/// first line names the modes where its last cell is no number.
TensorEntries read_tensor_table(ByteSource& source, int threads);

}  // namespace pursuit::io
