#include "pursuit/report/report_page.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "pursuit/algorithms/pca.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/structured.hpp"
#include "report/html.hpp"
#include "report/svg_charts.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kHostile = "<script>alert('x')</script> & \"quoted\" </title>";

std::vector<std::string> hostile_names(Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(fmt::format("{} {}", kHostile, i));
  return names;
}

Index occurrences(const std::string& text, const std::string& part) {
  Index count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string without_element(const std::string& page, const std::string& name) {
  const std::size_t from = page.find("<" + name + ">"), to = page.find("</" + name + ">");
  return page.substr(0, from) + page.substr(to + name.size() + 3);
}

/// Why a page is not one whose tags close each other; empty if it is.
std::string fault_of_page(const std::string& page) {
  if (page.rfind("<!DOCTYPE html>\n", 0) != 0) return "no doctype";
  const std::string text = without_element(without_element(page.substr(16), "style"), "script");
  static const std::regex tag(R"re(<(/?)([a-z][a-z0-9A-Z]*)((?: [-:a-zA-Z]+="[^"<>]*")*)(/?)>)re");
  static const std::regex entity("&(?!(amp|lt|gt|quot|#39|#10);)");
  if (std::regex_search(text, entity)) return "a bare '&'";
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '>') return "a bare '>'";
    if (text[i] != '<') {
      ++i;
      continue;
    }
    // The points of curves are too long for the machine that std::regex is.
    const std::size_t end = text.find('>', i);
    std::string own = text.substr(i, end - i + 1);
    own = own.size() > 2000 ? own.substr(0, own.find(' ')) + (own[own.size() - 2] == '/' ? "/>" : ">") : own;
    std::smatch match;
    if (!std::regex_match(own, match, tag)) return "a bad tag: " + own;
    if (match[1].length() > 0) {
      if (open.empty() || open.back() != match[2]) return own + " closes nothing";
      open.pop_back();
    } else if (match[4].length() == 0 && match[2] != "meta") {
      open.push_back(match[2]);
    }
    i = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

/// What every page must be.
void expect_sound(const std::string& page) {
  EXPECT_EQ(fault_of_page(page), "");
  EXPECT_EQ(occurrences(page, "<script"), 1) << "a name became a script";
  EXPECT_THAT(page, Not(HasSubstr("alert('x')")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  const std::string outside = std::regex_replace(page, std::regex("http://www.w3.org/2000/svg"), "");
  EXPECT_THAT(outside, Not(testing::ContainsRegex("https?://"))) << "something to fetch";
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  // The contents lead to what is there.
  static const std::regex link("href=\"([^\"]*)\"");
  for (std::sregex_iterator it(page.begin(), page.end(), link), end; it != end; ++it) {
    const std::string target = (*it)[1];
    ASSERT_EQ(target[0], '#');
    EXPECT_THAT(page, HasSubstr("id=\"" + target.substr(1) + "\""));
  }
  EXPECT_THAT(page, Not(testing::ContainsRegex(">-0<")));
  EXPECT_THAT(page, Not(testing::ContainsRegex(">-?nan<")));
}

std::set<std::string> sections_of(const std::string& page) {
  static const std::regex section("<section id=\"([a-z]*)\">");
  std::set<std::string> ids;
  for (std::sregex_iterator it(page.begin(), page.end(), section), end; it != end; ++it) ids.insert((*it)[1]);
  return ids;
}

Matrix parts_matrix(Index rows, Index cols) {
  Random random(3);
  const Matrix left = random.gaussian_matrix(rows, 3).cwiseAbs(),
               right = random.gaussian_matrix(cols, 3).cwiseAbs();
  return left * right.transpose();
}

ModelFile factored(const Matrix& Y, FactorOptions options) {
  const FactorResult result = factor(Y, options);
  return {result.model,
          result.trace,
          hostile_names(Y.rows()),
          hostile_names(Y.cols()),
          {{"command", "pursuit factor " + kHostile}, {"stop", name(result.stop)}, {kHostile, kHostile}}};
}

ModelFile nmf_model() {
  return factored(parts_matrix(14, 12),
                  {.rank = 3, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg});
}

CompletionFile completed(bool implicit, bool structured, double held_out) {
  Random random(5);
  ObservedEntries entries{40, 25, {}, {}, {}};
  GroupedEntries test{{0}, {}, {}};
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 25; ++j) {
      const double kind = random.uniform(),
                   value = implicit ? 1 : 3 + std::sin(i * 0.3) * std::cos(j * 0.5) + random.gaussian() * 0.2;
      if (kind < held_out) {
        test.index.push_back(j);
        test.value.push_back(float(value));
      } else if (kind < 0.5) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(value));
      }
    }
    test.start.push_back(std::int64_t(test.index.size()));
  }
  CompletionResult result;
  if (implicit) {
    result = complete_implicit(entries, {.max_rank = 3});
  } else if (structured) {
    StructuredOptions options;
    options.left = nonneg();
    options.max_rank = 3;
    result = complete_structured(entries, options);
  } else {
    result = complete(entries, {.max_rank = 3});
  }
  CompletionFile file{std::move(result.model),
                      IdTable(hostile_names(40)),
                      IdTable(hostile_names(25)),
                      std::move(result.seen),
                      {{"command", kHostile}, {"stop", name(result.stop)}}};
  if (held_out > 0) file.held_out = test;
  return file;
}

TEST(PageFaults, AreReallyFound) {
  const std::string head = "<!DOCTYPE html>\n<style></style><script></script>";
  EXPECT_EQ(fault_of_page(head + "<p>x &amp; y<b>z</b></p><meta a=\"b\"><i/>"), "");
  EXPECT_NE(fault_of_page(head + "<p><b></p></b>"), "");
  EXPECT_NE(fault_of_page(head + "<p>"), "");
  EXPECT_NE(fault_of_page(head + "a & b"), "");
  EXPECT_NE(fault_of_page("<p></p>"), "");
}

TEST(ReportPage, ShowsAFactorization) {
  const std::string page = report_page(nmf_model(), {.title = kHostile});
  expect_sound(page);
  EXPECT_EQ(sections_of(page), (std::set<std::string>{"fit", "path", "weights", "overlap", "atoms"}));
  EXPECT_THAT(page, HasSubstr("Error by rank"));
  EXPECT_THAT(page, HasSubstr("14 x 12"));
  EXPECT_THAT(page, HasSubstr("Atom 3, weight"));
  EXPECT_THAT(page, HasSubstr("(target_error)"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)"));
}

TEST(ReportPage, ShowsEveryKindOfFactorization) {
  const Matrix Y = parts_matrix(12, 12);
  const Matrix C = Y.transpose() * Y;
  const FactorResult symmetric =
      factor_symmetric(C, {.rank = 2, .left = nonneg(), .weights = WeightRule::nonneg});
  const std::string of_symmetric = report_page(ModelFile{symmetric.model, symmetric.trace, {}, {}, {}});
  expect_sound(of_symmetric);
  EXPECT_THAT(of_symmetric, HasSubstr("symmetric factorization"));
  EXPECT_EQ(occurrences(of_symmetric, "<h4>rows and columns</h4>"), 1) << "one side of the overlap";

  const Matrix counts = (3 * Y).array().round();
  ModelFile poisson = factored(
      counts,
      {.rank = 2, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg, .loss = Loss::poisson});
  poisson.loss = Loss::poisson;
  const std::string of_counts = report_page(poisson);
  expect_sound(of_counts);
  EXPECT_THAT(of_counts, HasSubstr("Deviance explained by rank"));

  ModelFile nothing = nmf_model();
  nothing.model.keep({});
  nothing.trace.clear();
  const std::string of_nothing = report_page(nothing);
  expect_sound(of_nothing);
  EXPECT_EQ(sections_of(of_nothing), std::set<std::string>{"fit"});
}

TEST(ReportPage, ShowsPrincipalComponentsWithTheirVariance) {
  const Matrix Y = parts_matrix(20, 9);
  const PcaResult result = pca(data_matrix(Y), {.components = 3, .atoms = sparse(4)});
  ModelFile file{factorization_of(result),
                 {},
                 {},
                 hostile_names(9),
                 {{"centered", "true"}, {"explained_span", fmt::format("{}", result.explained_span)}},
                 result.means,
                 result.deviations};
  const Vector shares = component_shares(file);
  ASSERT_EQ(shares.size(), 3);
  EXPECT_LT((shares - result.explained_shares).norm(), 1e-9) << shares << "\n" << result.explained_shares;
  const std::string page = report_page(file);
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("Variance by component"));
  EXPECT_THAT(page, HasSubstr("principal components"));
  file.metadata.erase("explained_span");
  EXPECT_EQ(component_shares(file).size(), 0);
  EXPECT_EQ(component_shares(nmf_model()).size(), 0);
}

TEST(ReportPage, ShowsAnArrayModeByMode) {
  Random random(1);
  const Factors factors(
      {random.gaussian_matrix(5, 2), random.gaussian_matrix(6, 2), random.gaussian_matrix(4, 2)}, {0, 1, 2});
  ModelFile file;
  file.model = {factors, Vector::Ones(2)};
  file.mode_names = {hostile_names(5), {}, hostile_names(4)};
  file.metadata = {{"labels", "who," + kHostile + ",when"}};
  const std::string page = report_page(file);
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("array of 3 modes"));
  EXPECT_THAT(page, HasSubstr("<h4>when</h4>"));
  EXPECT_THAT(page, HasSubstr("5 x 6 x 4"));
}

TEST(ReportPage, JudgesACompletedMatrixByEntriesHeldOut) {
  for (const bool structured : {false, true}) {
    const std::string page = report_page(completed(false, structured, 0.1));
    expect_sound(page);
    const auto sections = sections_of(page);
    for (const char* each : {"fit", "accuracy", "counts", "lists", "atoms"})
      EXPECT_TRUE(sections.contains(each)) << each;
    EXPECT_THAT(page, HasSubstr("inside 80 % intervals"));
    EXPECT_THAT(page, HasSubstr("RMSE by entries of the row"));
  }
  const std::string without = report_page(completed(false, false, 0));
  expect_sound(without);
  EXPECT_THAT(without, HasSubstr("--holdout"));
}

TEST(ReportPage, ShowsListsOfImplicitFeedback) {
  const std::string page = report_page(completed(true, false, 0.1));
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("implicit feedback"));
  EXPECT_THAT(page, HasSubstr("NDCG at 10"));
  EXPECT_FALSE(sections_of(page).contains("offsets"));
}

TEST(ReportPage, WritesOfAModelWithoutItsEntries) {
  CompletionFile file = completed(false, false, 0);
  file.keeps_entries = false;
  file.seen = {};
  file.held_out = {};
  const std::string page = report_page(file);
  expect_sound(page);
  EXPECT_THAT(page, HasSubstr("not kept in the model"));
}

TEST(ReportPage, DrawsPicturesCurvesAndLabels) {
  const ModelFile file = nmf_model();
  std::vector<std::string> labels(14, "b" + kHostile);
  labels[0] = "";
  labels[1] = labels[2] = "a";
  const std::string page = report_page(file, {.image_height = 3, .image_width = 4, .labels = labels});
  expect_sound(page);
  EXPECT_EQ(occurrences(page, "crispEdges"), 3) << "a picture for every atom, of columns alone";
  EXPECT_TRUE(sections_of(page).contains("labels"));
  EXPECT_THAT(page, HasSubstr("1 rows have no label"));

  ModelFile spectra = file;
  spectra.column_names.clear();
  for (int i = 0; i < 12; ++i) spectra.column_names.push_back(fmt::format("{}", 400 + 50 * i));
  const std::string curves = report_page(spectra, {.lines = true});
  expect_sound(curves);
  EXPECT_EQ(occurrences(curves, "<polyline"), 4) << "three atoms and the error by rank";
  EXPECT_THAT(curves, HasSubstr(">800</text>")) << "names that are numbers are the axis";
}

TEST(ReportPage, LongCurvesAreThinnedToTheirPeaks) {
  Matrix right = Matrix::Zero(50'000, 1);
  right(31'415, 0) = 1;
  ModelFile file;
  file.model = {Matrix::Ones(2, 1), right, Vector::Ones(1)};
  const std::string page = report_page(file, {.lines = true});
  expect_sound(page);
  EXPECT_LT(page.size(), 200'000U);
  EXPECT_THAT(page, HasSubstr("31415: 1&#10;"));
}

TEST(ReportPage, RefusesWhatDoesNotFit) {
  const ModelFile file = nmf_model();
  EXPECT_THROW(report_page(file, {.image_height = 5, .image_width = 5}), InvalidArgument);
  EXPECT_THROW(report_page(file, {.image_height = 5}), InvalidArgument);
  EXPECT_THROW(report_page(file, {.labels = {"a"}}), InvalidArgument);
  EXPECT_THROW(report_page(file, {.top = 0}), InvalidArgument);
  EXPECT_THROW(report_page(file, {.labels = std::vector<std::string>(14)}), InvalidInput);
}

TEST(ReportPage, ABriefOneIsShort) {
  const ModelFile file = nmf_model();
  const std::string page = report_page(file, {.brief = true});
  expect_sound(page);
  EXPECT_LT(page.size(), report_page(file).size());
  EXPECT_FALSE(sections_of(page).contains("overlap"));
}

class LabelFiles : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& text, bool named) {
    ModelFile file;
    file.model = {Matrix::Ones(3, 1), Matrix::Ones(2, 1), Vector::Ones(1)};
    if (named) file.row_names = {"x", "y", "z"};
    const auto path =
        std::filesystem::temp_directory_path() / fmt::format("pursuit_labels_{}.csv", ::getpid());
    std::ofstream(path) << text;
    struct Remover {
      std::filesystem::path path;
      ~Remover() { std::filesystem::remove(path); }
    } remover{path};
    return read_labels(path, file);
  }
};

TEST_F(LabelFiles, AreByOrderOrByName) {
  using testing::ElementsAre;
  EXPECT_THAT(read("a\nb\na\n", false), ElementsAre("a", "b", "a"));
  EXPECT_THAT(read("kind\na\nb\na\n", false), ElementsAre("a", "b", "a"));
  EXPECT_THAT(read("row,kind\nz,a\nx,b\nother,c\n", true), ElementsAre("b", "", "a"));
  EXPECT_THAT(read("not ill\nvery ill\nnot ill\n", true), ElementsAre("not ill", "very ill", "not ill"));
  EXPECT_THROW(read("a\nb\n", false), InvalidInput);
  EXPECT_THROW(read("q,a\nr,b\n", true), InvalidInput);
}

TEST(HeaviestEntries, AreThoseFurthestFromZero) {
  Vector values(5);
  values << 0.5, 0, -2, 0.5, 1;
  EXPECT_THAT(heaviest_entries(values, 3), testing::ElementsAre(2, 4, 0));
  EXPECT_THAT(heaviest_entries(values, 9), testing::ElementsAre(2, 4, 0, 3));
  EXPECT_TRUE(heaviest_entries(Vector(0), 3).empty());
}

TEST(ReportNumbers, HaveNoSignWhereNothingIsLeft) {
  EXPECT_EQ(report::number(-0.0), "0");
  EXPECT_EQ(report::number(-1.25), "-1.25");
  EXPECT_EQ(report::number(123456), "123456");
  EXPECT_EQ(report::number(1.5e7), "1.5e+07");
  EXPECT_EQ(report::number(-2e-9), "-2e-09");
}

TEST(ReportSpreads, AreQuantiles) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const report::Spread spread = report::spread_of("x", values);
  EXPECT_EQ(spread.count, 101);
  EXPECT_DOUBLE_EQ(spread.low, 5);
  EXPECT_DOUBLE_EQ(spread.lower, 25);
  EXPECT_DOUBLE_EQ(spread.middle, 50);
  EXPECT_DOUBLE_EQ(spread.high, 95);
  EXPECT_DOUBLE_EQ(report::spread_of("y", {7}).upper, 7);
}

}  // namespace
}  // namespace pursuit
