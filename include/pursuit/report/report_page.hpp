#pragma once
// A model as one page that opens in any browser, without a network and without anything beside it: what was
// fitted and how it ended, the error by rank, atoms with their names, how they overlap, scores by label, and
// of completed matrices how good predictions are.

#include <filesystem>
#include <string>
#include <vector>

#include "pursuit/io/completion_file.hpp"

namespace pursuit {

struct ReportOptions {
  std::string title = "model";
  Index image_height = 0, image_width = 0;  // modes of so many entries are pictures, row by row; 0: none
  bool lines = false;                       // atoms of the last mode (columns) are curves: spectra, series
  std::vector<std::string> labels = {};     // of the rows (the first mode), one for each; "": none is known
  Index top = 12;                           // entries of an atom that are named
  bool brief = false;                       // only what was fitted and the largest few atoms, for notebooks
  int threads = 1;
};

/// InvalidArgument where options do not fit the model. All text of the model is escaped.
std::string report_page(const AnyModelFile& file, const ReportOptions& options = {});

/// Labels of the rows of a model from a text: one on every line in the order of the rows, or on every line
/// the name of a row and its label. InvalidInput where they are not those of these rows.
std::vector<std::string> read_labels(const std::filesystem::path& path, const AnyModelFile& file);

/// What the mean of an entry is, in words of the model: X, with offsets and scale, through the link.
std::string mean_in_words(const ModelFile& file);

/// Of principal components: the share of the variance that each adds to those before it; empty where the
/// model does not say what all explain together.
Vector component_shares(const ModelFile& file);

/// The entries of largest absolute value that are not zero, largest first.
std::vector<Index> heaviest_entries(ConstVectorRef values, Index count);

}  // namespace pursuit
