#include "apps/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

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

void Json::push_back(const Json& value) {
  own().push_back(*value.value_);
}

void Json::set(const std::string& field, const Json& value) {
  own()[field] = *value.value_;
}

std::string Json::text() const {
  // Names of files need not be UTF-8, as JSON must.
  return value_->dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pursuit::app
