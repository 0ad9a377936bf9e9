#include "io/ratings_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <string_view>

#include "io/defect.hpp"

namespace pursuit::io {
namespace {

constexpr int kUnknown = -1;

/// "User_ID" as "userid".
std::string plain_word(const std::string& name) {
  std::string result;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

using Words = std::span<const std::string_view>;

constexpr std::string_view kRowWords[] = {"user",       "userid",     "uid",      "row",       "customer",
                                          "customerid", "reviewerid", "visitor",  "visitorid", "session",
                                          "sessionid",  "member",     "memberid", "listener",  "reader"};
constexpr std::string_view kColumnWords[] = {
    "item",      "itemid",  "iid",       "column", "col",     "movie", "movieid", "product",
    "productid", "book",    "bookid",    "track",  "trackid", "song",  "songid",  "artist",
    "artistid",  "article", "articleid", "asin",   "isbn",    "sku"};
constexpr std::string_view kValueWords[] = {"rating", "ratings", "value", "score", "stars", "overall"};
constexpr std::string_view kCountWords[] = {"count", "counts",  "plays",     "playcount", "clicks",
                                            "views", "listens", "purchases", "quantity"};

constexpr std::string_view kTimeWords[] = {"timestamp", "time",     "date",          "datetime",
                                           "ts",        "unixtime", "unixreviewtime"};

bool is_time(const std::string& name) {
  return std::find(std::begin(kTimeWords), std::end(kTimeWords), plain_word(name)) != std::end(kTimeWords);
}

/// The column that is called by the first of these words that any is called by.
int find_column(const std::vector<std::string>& names, Words words) {
  for (const std::string_view& word : words)
    for (std::size_t k = 0; k < names.size(); ++k)
      if (plain_word(names[k]) == word) return int(k);
  return kUnknown;
}

/// Places of row, column and value, unknown where clicks have none, and of the time where it is needed.
using ColumnPlaces = std::vector<int>;

/// Of the first column that is called like a time, or of the fourth where columns have no names.
int place_of_time(const std::vector<std::string>& first, bool header, const std::string& where) {
  for (std::size_t k = 0; header && k < first.size(); ++k)
    if (is_time(first[k])) return int(k);
  if (header || first.size() < 4)
    refuse(where,
           fmt::format("times are needed, and {}; say where they are (--columns user,item,value,time)",
                       header ? "no column is called time, timestamp or date" : "there is no fourth column"));
  return 3;
}

ColumnPlaces places_by_name(const std::vector<std::string>& names, bool clicks, const std::string& where) {
  int value = find_column(names, kValueWords);
  if (value == kUnknown && clicks) value = find_column(names, kCountWords);
  const bool without = clicks && value == kUnknown && (names.size() == 2 || is_time(names[2]));
  if (value == kUnknown && !without) {
    if (is_time(names[2]))
      refuse(where, fmt::format("the third column, {}, is a time, and no column is called rating or value; "
                                "say where row, column and value are (--columns user,item,value)",
                                shown(names[2])));
    return {0, 1, 2};
  }
  ColumnPlaces places = {find_column(names, kRowWords), find_column(names, kColumnWords), value};
  if (places[0] == kUnknown || places[1] == kUnknown) {
    places[0] = places[1] = kUnknown;  // the first two that may be ids, in their order
    for (std::size_t k = 0; k < names.size() && places[1] == kUnknown; ++k)
      if (int(k) != value && !is_time(names[k])) places[places[0] == kUnknown ? 0 : 1] = int(k);
  }
  if (places[1] == kUnknown)
    refuse(where, fmt::format("the header {} leaves no two columns for the ids of row and column",
                              shown(fmt::format("{}", fmt::join(names, ",")))));
  return places;
}

ColumnPlaces wanted_places(const std::vector<std::string>& first, bool header, const ColumnsAsked& asked,
                           const std::string& where) {
  const std::vector<std::string>& wanted = asked.wanted;
  const bool pairs = asked.clicks && wanted.size() == 2;
  if (wanted.size() != 3 && wanted.size() != 4 && !pairs)
    refuse(where,
           fmt::format("columns {}: needed are three, of row, column and value, or with the time four{}",
                       shown(fmt::format("{}", fmt::join(wanted, ","))),
                       asked.clicks ? "; clicks need two" : ""));
  ColumnPlaces places = {0, 1, 2};
  const bool by_name = std::any_of(wanted.begin(), wanted.end(), [](const auto& w) { return w.empty(); });
  if (by_name && header) places = places_by_name(first, asked.clicks, where);
  if (pairs) places[2] = kUnknown;
  places.resize(std::max<std::size_t>(wanted.size(), 3));
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::string& text = wanted[k];
    if (text.empty() && k < 3) continue;
    const auto found = header ? std::find(first.begin(), first.end(), text) : first.end();
    places[k] = int(found - first.begin());
    if (found != first.end()) continue;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), places[k]);
    --places[k];
    if (error != std::errc{} || end != text.data() + text.size() || places[k] < 0 ||
        places[k] >= int(first.size()))
      refuse(where, header ? fmt::format("no column is called {}; the header has {}", shown(text),
                                         shown(fmt::format("{}", fmt::join(first, ", "))))
                           : fmt::format("column {}: there is no header, so that columns are numbers from 1 "
                                         "to {}",
                                         shown(text), first.size()));
  }
  for (std::size_t k = 1; k < places.size(); ++k)
    if (std::find(places.begin(), places.begin() + std::ptrdiff_t(k), places[k]) !=
        places.begin() + std::ptrdiff_t(k))
      refuse(where, fmt::format("columns {}: they must be different ones",
                                shown(fmt::format("{}", fmt::join(wanted, ",")))));
  return places;
}

}  // namespace

bool names_a_count(const std::string& name) {
  return std::find(std::begin(kCountWords), std::end(kCountWords), plain_word(name)) != std::end(kCountWords);
}

bool names_ids(const std::vector<std::string>& first) {
  return find_column(first, kRowWords) != kUnknown || find_column(first, kColumnWords) != kUnknown;
}

std::vector<int> roles_of_columns(const std::vector<std::string>& first, bool header,
                                  const ColumnsAsked& asked, const std::string& where) {
  ColumnPlaces places = {0, 1, asked.clicks && first.size() == 2 ? kUnknown : 2};
  if (!asked.wanted.empty())
    places = wanted_places(first, header, asked, where);
  else if (header)
    places = places_by_name(first, asked.clicks, where);
  if (asked.time && places.size() == 3) places.push_back(place_of_time(first, header, where));
  if (!asked.time) places.resize(3);
  std::vector<int> roles(std::size_t(*std::max_element(places.begin(), places.end())) + 1, kUnknown);
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k] == kUnknown) continue;
    int& role = roles[std::size_t(places[k])];
    if (role != kUnknown)
      refuse(where, fmt::format("column {} cannot be the time: it is the row, the column or the value",
                                places[k] + 1));
    role = int(k);
  }
  return roles;
}

}  // namespace pursuit::io
