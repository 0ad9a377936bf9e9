#include "apps/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "pursuit/base/error.hpp"

namespace pursuit::app {

Json::Json() : value_(std::make_shared<nlohmann::json>()) {}
Json::Json(bool value) : value_(std::make_shared<nlohmann::json>(value)) {}
Json::Json(double value) : value_(std::make_shared<nlohmann::json>(value)) {}
Json::Json(const char* value) : value_(std::make_shared<nlohmann::json>(value)) {}
Json::Json(const std::string& value) : value_(std::make_shared<nlohmann::json>(value)) {}
Json::Json(const std::map<std::string, std::string>& fields)
    : value_(std::make_shared<nlohmann::json>(fields)) {}
Json::Json(Number number)
    : value_(number.is_signed ? std::make_shared<nlohmann::json>(std::int64_t(number.bits))
                              : std::make_shared<nlohmann::json>(number.bits)) {}

Json::Json(std::initializer_list<Json> elements) : Json() {
  const auto is_field = [](const Json& element) {
    return element.value_->is_array() && element.value_->size() == 2 && (*element.value_)[0].is_string();
  };
  const bool fields = std::all_of(elements.begin(), elements.end(), is_field);
  *value_ = fields ? nlohmann::json::object() : nlohmann::json::array();
  for (const Json& element : elements) {
    nlohmann::json value = element.taken();
    if (fields)
      (*value_)[value[0].get<std::string>()] = std::move(value[1]);
    else
      value_->push_back(std::move(value));
  }
}

Json Json::array() {
  Json result;
  *result.value_ = nlohmann::json::array();
  return result;
}

Json Json::object() {
  Json result;
  *result.value_ = nlohmann::json::object();
  return result;
}

nlohmann::json& Json::own() {
  if (value_.use_count() > 1) value_ = std::make_shared<nlohmann::json>(*value_);
  return *value_;
}

nlohmann::json Json::taken() const {
  return value_.use_count() == 1 ? std::move(*value_) : *value_;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what is in it is moved out
void Json::push_back(Json value) {
  own().push_back(value.taken());
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what is in it is moved out
void Json::set(const std::string& field, Json value) {
  own()[field] = value.taken();
}

Json Json::parse(const std::string& text) {
  static constexpr int kDeepest = 16;
  try {
    Json result;
    *result.value_ = nlohmann::json::parse(text, [](int depth, auto, auto&) {
      if (depth > kDeepest) throw InvalidInput(fmt::format("values more than {} deep", kDeepest));
      return true;
    });
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw InvalidInput(fmt::format("no JSON: {}", error.what()));
  }
}

bool Json::is_null() const {
  return value_->is_null();
}

bool Json::is_object() const {
  return value_->is_object();
}

std::optional<bool> Json::boolean() const {
  return value_->is_boolean() ? std::optional(value_->get<bool>()) : std::nullopt;
}

std::optional<double> Json::number() const {
  return value_->is_number() ? std::optional(value_->get<double>()) : std::nullopt;
}

std::optional<std::string> Json::string() const {
  if (value_->is_string()) return value_->get<std::string>();
  return value_->is_number_integer() ? std::optional(value_->dump()) : std::nullopt;
}

std::optional<std::vector<Json>> Json::elements() const {
  if (!value_->is_array()) return std::nullopt;
  std::vector<Json> result;
  for (const nlohmann::json& each : *value_) *result.emplace_back().value_ = each;
  return result;
}

std::vector<std::pair<std::string, Json>> Json::fields() const {
  std::vector<std::pair<std::string, Json>> result;
  if (!value_->is_object()) return result;
  for (const auto& [field, value] : value_->items())
    *result.emplace_back(field, Json()).second.value_ = value;
  return result;
}

Json Json::at(const std::string& field) const {
  Json result;
  if (const auto found = value_->find(field); value_->is_object() && found != value_->end())
    *result.value_ = *found;
  return result;
}

std::string Json::on_one_line() const {
  return value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Json::text() const {
  // Names of files need not be UTF-8, as JSON must.
  return value_->dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pursuit::app
