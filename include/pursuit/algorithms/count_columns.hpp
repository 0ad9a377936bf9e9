#pragma once
// Columns of counts (genes of cells, words of documents): which of them vary more than their mean says, and
// what parts that were found in some of them say about all.

#include <string>
#include <vector>

#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// So many columns whose variance, of rows scaled to equal sums, is largest beside that of columns of similar
/// mean; ascending. Columns without counts are never among them. InvalidArgument where there are fewer,
/// InvalidInput for entries below zero.
std::vector<Index> most_variable_columns(const DataMatrix& counts, Index count);

/// Some columns in memory of their own, each over its standard deviation where that is asked for: all then
/// count alike. InvalidInput names those that are constant.
struct ColumnChoice {
  std::vector<Index> columns = {};  // all where empty
  bool unit_variance = false;
};
struct ChosenColumns {
  DataMatrixPtr data;
  Vector deviations = Vector(0);  // what columns were divided by; empty where they were not
};
ChosenColumns chosen_columns(const DataMatrix& counts, const ColumnChoice& choice,
                             const std::vector<std::string>& names = {}, int threads = 1);

/// What parts say about every column, from their usages, the shares of parts in rows.
struct ColumnProfiles {
  Matrix per_million;  // columns x parts: rows of a sum of a million as a sum of parts, none negative
  Matrix scores;       // least squares of columns of mean 0 and variance 1: which columns mark a part
};
ColumnProfiles column_profiles(const DataMatrix& counts, const Matrix& usages, int threads = 1);

}  // namespace pursuit
