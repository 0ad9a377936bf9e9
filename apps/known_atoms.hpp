#pragma once
// Atoms that are known before a factorization: to start from, or to keep.

#include <string>

#include "apps/command_line.hpp"
#include "pursuit/algorithms/factor.hpp"

namespace pursuit::app {

struct KnownAtoms {
  std::string start = "greedy";  // how to start, or a model to start from
  std::string fix;               // a model whose atoms stay
  std::string fix_left;          // a matrix, one known left factor per column
  std::string fix_right;         // a matrix, one known right factor per row
};

/// A matrix of known factors.
Matrix read_dense(const std::string& path);

void add_known_atoms(Command& command, KnownAtoms& known);

/// Reads them into options.initial, the known ones first. InvalidArgument where they do not go together,
/// InvalidInput where they do not fit a matrix of rows x cols.
void read_known_atoms(const KnownAtoms& known, Index rows, Index cols, FactorOptions& options);

}  // namespace pursuit::app
