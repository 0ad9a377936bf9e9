#pragma once
// JSON values as the commands make them; nlohmann/json, which writes them, stays behind.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace pursuit::app {

/// A value: copies share what they hold until one of them changes.
class Json {
 public:
  Json();  // null
  Json(bool value);
  Json(double value);
  Json(const char* value);
  Json(const std::string& value);
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer value)
      : Json(Number{std::is_signed_v<Integer>, std::uint64_t(value)}) {}
  template <class Value>
  Json(const std::vector<Value>& values) : Json(array()) {
    for (const Value& value : values) push_back(value);
  }
  Json(const std::map<std::string, std::string>& fields);
  /// An object where all elements are pairs of a name and a value, otherwise an array.
  Json(std::initializer_list<Json> elements);

  static Json array();
  static Json object();

  void push_back(const Json& value);
  void set(const std::string& field, const Json& value);

  std::string text() const;

 private:
  struct Number {
    bool is_signed;
    std::uint64_t bits;
  };
  explicit Json(Number number);
  nlohmann::json& own();
  nlohmann::json taken() const;  // moved out where nobody else has it: this one is about to go

  std::shared_ptr<nlohmann::json> value_;
};

}  // namespace pursuit::app
