#pragma once
// The parameters of a set in a spec, NAME:PARAMETER:PARAMETER..., read one by one with errors that name the
// spec.

#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Cuts a spec, or a piece of one, at a separator. Nothing is cut inside quotes, which open after a colon
/// only, nor at a plus before a digit, which belongs to a number such as 1e+16: names of sets begin with
/// letters. InvalidArgument names the spec where a quote is not closed.
std::vector<std::string> split_spec(const std::string& text, char separator, const std::string& spec);

class SpecFields {
 public:
  /// `form` says what the set takes, for messages: "blocks:K:C". Quotes are taken off.
  SpecFields(std::string spec, std::string form, std::vector<std::string> fields);

  std::size_t size() const { return fields_.size(); }
  /// Throws InvalidArgument unless there are `least` to `most` of them.
  void require(std::size_t least, std::size_t most) const;
  const std::string& text(std::size_t i) const { return fields_[i]; }
  Index count(std::size_t i) const;
  double number(std::size_t i) const;
  bool is_count(std::size_t i) const;
  bool is_number(std::size_t i) const;

  /// A path may hold colons: without quotes, everything but the last numbers, at most `most` of them, is the
  /// path.
  static SpecFields with_path(std::string spec, std::string form, const std::vector<std::string>& fields,
                              std::size_t most);

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string spec_, form_;
  std::vector<std::string> fields_;
};

}  // namespace pursuit
