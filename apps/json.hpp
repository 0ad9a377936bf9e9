#pragma once
// JSON values as the commands make and read them; nlohmann/json, which writes and parses them, stays behind.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
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

  void push_back(Json value);
  void set(const std::string& field, Json value);

  /// InvalidInput where the text is no JSON, or values lie deeper inside each other than anybody means.
  static Json parse(const std::string& text);

  // What a value is; nothing where it is something else.
  bool is_null() const;
  bool is_object() const;
  std::optional<bool> boolean() const;
  std::optional<double> number() const;
  std::optional<std::string> string() const;  // a whole number too, as its digits
  std::optional<std::vector<Json>> elements() const;
  std::vector<std::pair<std::string, Json>> fields() const;
  /// The field of an object; null where there is none.
  Json at(const std::string& field) const;

  std::string text() const;
  std::string on_one_line() const;

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
