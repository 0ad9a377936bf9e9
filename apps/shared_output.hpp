#pragma once
// Text that all processes of a command make and the first writes.

#include <functional>
#include <string>
#include <string_view>

#include "pursuit/base/ranks.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit::app {

/// What is said of things 0 .. count - 1, in rounds.
struct SharedText {
  Index count;
  Index at_once;                                // of every rank, in a round
  std::function<std::string(Index, Index)> of;  // things first .. last - 1, on the rank that has them
  std::function<void(std::string_view)> write;  // on rank 0, in order
  std::function<bool(Index)> goes_on = [](Index) { return true; };  // on rank 0: whether to, so many done
};

/// Returns how many are done. What fails on one rank fails on all.
Index write_together(Ranks& ranks, const SharedText& text);

/// Ranks that have read a file of this name have read the same model; InvalidInput on all where not.
void require_one_model(Ranks& ranks, const CompletionModel& model, const std::string& path);

}  // namespace pursuit::app
