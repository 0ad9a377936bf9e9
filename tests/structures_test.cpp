// Every set of the catalogue on either side of factor and of complete.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "places.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/completion/structured.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;

constexpr Index kLength = 12;  // what the examples of the catalogue are about

class Structures : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    for (const CatalogueEntry& entry : catalogue()) {
      if (entry.example.empty()) continue;
      std::string spec = entry.example;
      if (const auto at = spec.find("{file}"); at != std::string::npos) {
        const fs::path file = folder_ / (entry.name + ".csv");
        std::ofstream(file) << entry.example_file;
        spec.replace(at, 6, file.string());
      }
      sets_.push_back(parse_atoms(spec));
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("pursuit_structures_{}", ::getpid());
  std::vector<Atoms> sets_;
};

void expect_sound(const Matrix& Y, const FactorResult& result, const AtomSet& left, const AtomSet& right) {
  ASSERT_GT(result.model.rank(), 0);
  for (Index i = 0; i < result.model.rank(); ++i) {
    EXPECT_TRUE(left.contains(result.model.left().col(i), 1e-9)) << "left atom " << i;
    EXPECT_TRUE(right.contains(result.model.right().col(i), 1e-9)) << "right atom " << i;
  }
  double before = 0.5 * Y.squaredNorm();
  for (const Step& step : result.trace) {
    EXPECT_LE(step.objective, before + 1e-10 * Y.squaredNorm());
    before = step.objective;
  }
  EXPECT_NEAR(result.relative_error, (Y - result.model.dense()).norm() / Y.norm(), 1e-9);
}

TEST_F(Structures, ServeEitherSideOfFactor) {
  const Matrix Y = gaussian(kLength, 9, 1) + 2 * uniform(kLength, 1, 2) * uniform(1, 9, 3);
  for (const Atoms& set : sets_) {
    SCOPED_TRACE(set->spec());
    expect_sound(Y, factor(Y, {.rank = 3, .left = set}), *set, *sphere());
    const Matrix turned = Y.transpose();
    expect_sound(turned, factor(turned, {.rank = 3, .left = nonneg(), .right = set}), *nonneg(), *set);
  }
}

TEST_F(Structures, ServeBothSidesAtOnce) {
  const Matrix Y = gaussian(kLength, kLength, 4);
  for (const Atoms& set : sets_) {
    SCOPED_TRACE(set->spec());
    expect_sound(Y, factor(Y, {.rank = 2, .left = set, .right = set}), *set, *set);
  }
}

TEST_F(Structures, ServeAtomsOfSymmetricMatrices) {
  const Matrix A = gaussian(kLength, kLength, 5), C = A * A.transpose();
  for (const Atoms& set : sets_) {
    if (!set->traits().unit_norm) continue;
    SCOPED_TRACE(set->spec());
    expect_sound(C, factor_symmetric(C, {.rank = 2, .left = set}), *set, *set);
  }
}

TEST_F(Structures, ServeLoadingsOfPrincipalComponents) {
  const Matrix A = gaussian(30, kLength, 10);
  const double bound = pca(data_matrix(A), {.components = 2}).explained_span;
  for (const Atoms& set : sets_) {
    if (!set->traits().unit_norm) continue;
    SCOPED_TRACE(set->spec());
    const PcaResult result =
        pca(data_matrix(A), {.components = 2, .atoms = set, .effort = PcaOptions::Effort::low});
    for (const auto& u : result.loadings.colwise()) EXPECT_TRUE(set->contains(u, 1e-9));
    EXPECT_LE(result.explained_span, bound + 1e-12);
    EXPECT_GT(result.explained_span, 0);
  }
}

TEST_F(Structures, ServeEitherSideOfComplete) {
  const Matrix Y = 3 * uniform(kLength, 2, 6) * uniform(2, 15, 7) + 0.1 * gaussian(kLength, 15, 8);
  Random random(9);
  ObservedEntries entries{kLength, 15, {}, {}, {}};
  for (int i = 0; i < int(kLength); ++i)
    for (int j = 0; j < 15; ++j)
      if (random.uniform() < 0.8) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(Y(i, j)));
      }
  for (const Atoms& set : sets_) {
    SCOPED_TRACE(set->spec());
    StructuredOptions options;
    options.left = set;
    options.max_rank = 2;
    const CompletionResult result = complete_structured(entries, options);
    ASSERT_GT(result.model.atoms.rank(), 0);
    for (const auto& u : result.model.atoms.left().colwise()) EXPECT_TRUE(set->contains(u, 1e-9));
    ObservedEntries turned = entries;
    std::swap(turned.row, turned.col);
    std::swap(turned.rows, turned.cols);
    options.left = sphere();
    options.right = set;
    const CompletionResult other = complete_structured(turned, options);
    ASSERT_GT(other.model.atoms.rank(), 0);
    for (const auto& v : other.model.atoms.right().colwise()) EXPECT_TRUE(set->contains(v, 1e-9));
  }
}

TEST_F(Structures, GalleryTellsOfEveryone) {
  std::ifstream stream(fs::path(PURSUIT_SOURCE_DIR) / "docs" / "gallery.md");
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_THAT(page, testing::HasSubstr("`" + entry.form + "`: " + entry.summary + ". " + entry.description))
        << "scripts/gallery makes the page again";
  }
}

}  // namespace
}  // namespace pursuit
