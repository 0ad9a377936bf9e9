#pragma once
// What a rank that follows keeps for rank 0, which numbers its parts and says when they are made and
// released.

#include <map>
#include <memory>

#include "data/ranked_rows.hpp"

namespace pursuit {

/// A Part is made of the ranks, on all of them at once, and follows what it is asked.
template <class Part>
class FollowedParts {
 public:
  explicit FollowedParts(Ranks& ranks) : ranks_(ranks) {}

  void perform(const Job& job) {
    if (Part::is_made_by(job))
      parts_.emplace(job.matrix, std::make_unique<Part>(ranks_));
    else if (Part::is_released_by(job))
      parts_.erase(job.matrix);
    else
      parts_.at(job.matrix)->follow(job);
  }

 private:
  Ranks& ranks_;
  std::map<std::int64_t, std::unique_ptr<Part>> parts_;
};

}  // namespace pursuit
