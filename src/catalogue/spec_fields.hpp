#pragma once
// The parameters of a set in a spec, NAME:PARAMETER:PARAMETER..., read one by one with errors that name the
// spec.

#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

class SpecFields {
 public:
  /// `form` says what the set takes, for messages: "blocks:K:C".
  SpecFields(std::string spec, std::string form, std::vector<std::string> fields)
      : spec_(std::move(spec)), form_(std::move(form)), fields_(std::move(fields)) {}

  std::size_t size() const { return fields_.size(); }
  /// Throws InvalidArgument unless there are `least` to `most` of them.
  void require(std::size_t least, std::size_t most) const;
  const std::string& text(std::size_t i) const { return fields_[i]; }
  Index count(std::size_t i) const;
  double number(std::size_t i) const;
  bool is_count(std::size_t i) const;
  bool is_number(std::size_t i) const;

  /// A path may hold colons: everything but the last numbers, at most `most` of them, is the path.
  static SpecFields with_path(std::string spec, std::string form, const std::vector<std::string>& fields,
                              std::size_t most);

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string spec_, form_;
  std::vector<std::string> fields_;
};

}  // namespace pursuit
