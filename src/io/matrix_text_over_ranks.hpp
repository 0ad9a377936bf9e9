#pragma once
// Matrices as text that ranks read together: each parses a part of the bytes that ends with a line, and what
// it has found goes to the owners of the rows. All ranks call these together and find the text in place under
// the same name; what rank 0 says in `head` is looked at there alone.

#include <cstdint>
#include <optional>

#include "io/delimited.hpp"
#include "io/market_header.hpp"
#include "io/own_rows.hpp"

namespace pursuit::io {

/// What rank 0 tells of a text of which it has read the head.
struct TextHead {
  std::uint64_t bytes = 0, rest = 0, lines = 0;  // of the file; of it behind the head; of the head
};
TextHead head_of_text(const ByteSource& source, const TextLines& behind_head);

/// MatrixMarket coordinates.
RankedTable read_market_over_ranks(Ranks& ranks, ByteSource& source, TextHead head, MarketHeader header,
                                   int threads);

/// Tables. Nothing where a quoted cell spans the lines between which the text would be cut: it has to be read
/// by one then, who also tells what is wrong with it.
std::optional<RankedTable> read_table_over_ranks(Ranks& ranks, ByteSource& source, TextHead head,
                                                 TableHead table, int threads);

}  // namespace pursuit::io
