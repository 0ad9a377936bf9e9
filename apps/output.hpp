#pragma once
// What commands write and print.

#include <string>
#include <vector>

#include "pursuit/algorithms/factor.hpp"

namespace pursuit::app {

/// Refuses outputs that cannot be written, that are one file under two names, or that are an input of the
/// run; before long work. Empty paths are skipped.
void prepare_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs = {});

/// Text of a file as a terminal may show it: control characters, which may be commands to it, as \x1b and the
/// like.
std::string printable(const std::string& text);

/// Error by rank, as a picture.
void write_error_plot(const std::string& path, const Trace& trace);

/// Error by rank and how it ended, for people.
void print_summary(const FactorResult& result, const std::string& out);
void print_path(const Trace& trace);

}  // namespace pursuit::app
