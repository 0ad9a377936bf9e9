#pragma once
// The head of a MatrixMarket file: its banner and its line of sizes.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "io/cell_scanner.hpp"
#include "io/sparse_assembly.hpp"
#include "io/text_lines.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::io {

constexpr std::string_view kMarketBanner = "%%MatrixMarket";

enum class MarketField { kReal, kInteger, kPattern };
enum class MarketSymmetry { kGeneral, kSymmetric, kSkewSymmetric };

/// Nothing but numbers, so that ranks can tell each other.
struct MarketHeader {
  bool sparse = true;
  MarketField field = MarketField::kReal;
  MarketSymmetry symmetry = MarketSymmetry::kGeneral;
  std::int64_t rows = 0, columns = 0, count = 0;  // entries that the file stores

  bool mirrored() const { return symmetry != MarketSymmetry::kGeneral; }
  /// The row and column, from 1, of an entry of an array, which runs down the columns; of a symmetric matrix
  /// it stores the lower triangle only.
  std::pair<Index, Index> position(std::size_t entry) const;
  Index first_row(Index j) const {
    return symmetry == MarketSymmetry::kGeneral ? 0 : symmetry == MarketSymmetry::kSymmetric ? j : j + 1;
  }
};

/// The lines are behind it then. The sizes that it promises are checked against the length of the text, where
/// that is known; of observed entries nothing can be left out.
MarketHeader read_market_header(TextLines& lines, bool observed, const SparseRoom& room = {});

/// The cells of a text, which has so many lines before it.
CellScanner market_words(std::string_view text, const std::string& name, std::size_t lines_before);

}  // namespace pursuit::io
