// Another processor, as OpenBLAS takes it for one, gives the same results.

#include "cli_support.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

class OtherOpenBlas : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const Matrix parts = uniform(300, 6, 1) * uniform(6, 90, 2);
    write_matrix(path("A.npy"), {Matrix(parts + 0.2 * uniform(300, 90, 3)), {}, {}});
    Matrix loadings = Matrix::Zero(3, 70);  // one best support, beyond doubt
    for (Index k = 0; k < 3; ++k) loadings.row(k).segment(23 * k, 20) = 1 + uniform(1, 20, 4).array();
    write_matrix(path("S.npy"),
                 {Matrix(gaussian(120, 3, 5) * loadings + 0.01 * gaussian(120, 70, 6)), {}, {}});
  }
  void TearDown() override {
    unsetenv("OPENBLAS_CORETYPE");
    ProgramTest::TearDown();
  }
  nlohmann::json on(const std::string& core, const std::string& arguments) const {
    setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
    return run_json(arguments);
  }
};

TEST_F(OtherOpenBlas, GivesTheSameErrors) {
  for (const std::string arguments :
       {"factor A.npy --rank 6 --left nonneg --right nonneg --weights nonneg",
        "factor A.npy --rank 6 --left nonneg --right nonneg --weights nonneg --start leading --polish 20",
        "factor A.npy --rank 5", "factor S.npy --rank 3 --right sparse:20"}) {
    const double error = on("Prescott", arguments)["relative_error"];
    EXPECT_GT(error, 0) << arguments;
    EXPECT_NEAR(on("SkylakeX", arguments)["relative_error"], error, 1e-9) << arguments;
  }
}

TEST_F(OtherOpenBlas, GivesTheSameSpans) {
  for (const std::string atoms : {"sphere", "sparse:20"}) {
    const std::string arguments = "pca S.npy --components 3 --atoms " + atoms;
    const double span = on("Prescott", arguments)["explained"]["span"];
    EXPECT_GT(span, 0.5) << atoms;
    EXPECT_NEAR(on("SkylakeX", arguments)["explained"]["span"], span, 1e-9) << atoms;
  }
}

TEST_F(OtherOpenBlas, GivesTheSameSingularValues) {
  // Which are what the errors of every rank leave.
  const auto path = [&](const std::string& core) { return on(core, "factor A.npy --rank 5")["path"]; };
  const auto one = path("Prescott"), other = path("SkylakeX");
  ASSERT_EQ(one.size(), 5U);
  for (std::size_t k = 0; k < one.size(); ++k)
    EXPECT_NEAR(double(other[k]["relative_error"]), double(one[k]["relative_error"]), 1e-9) << k;
}

}  // namespace
}  // namespace pursuit
