#pragma once
// Supports within a few windows of neighbours.

#include "atoms/supports.hpp"

namespace pursuit {

/// At most `count` windows of `length` entries each. One window: a running sum, O(n). Several: the best use
/// of the first i entries with c windows is to leave out entry i or to end a window there, O(n count).
class Windows final : public Supports {
 public:
  Windows(Index length, Index count);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;

 private:
  Index length_, count_;
};

}  // namespace pursuit
