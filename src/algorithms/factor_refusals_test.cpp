// Every way to ask wrongly for a factorization.

#include "pursuit/algorithms/factor.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Factor, NamesTheOptionThatIsWrong) {
  using Options = FactorOptions&;
  struct Mistake {
    std::function<void(Options)> make;
    std::vector<std::string> said;  // the option with its value, and what is allowed
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Matrix Y = gaussian(6, 5, 1);
  const std::vector<Mistake> mistakes{
      {[](Options o) { o.rank = 0; }, {"rank 0", "at least one"}},
      {[](Options o) { o.rank = 6; }, {"rank 6", "6 x 5 matrix", "at most 5", "sphere x sphere"}},
      {[](Options o) { o.rank = 31, o.left = sparse(2); }, {"rank 31", "at most 30"}},
      {[](Options o) { o.corrections = -1; }, {"corrections -1", "0 or more"}},
      {[](Options o) { o.correct_last = 0; }, {"correct_last 0", "1 or more"}},
      {[](Options o) { o.polish = -2; }, {"polish -2", "0 or more"}},
      {[](Options o) { o.polish_tolerance = kNaN; }, {"polish_tolerance nan", "0 or more"}},
      {[](Options o) { o.restarts = 0; }, {"restarts 0", "1 or more"}},
      {[](Options o) { o.svd_tolerance = 1e-15; }, {"svd_tolerance 1e-15", "1e-14 to 0.1"}},
      {[](Options o) { o.svd_tolerance = kNaN; }, {"svd_tolerance nan", "1e-14 to 0.1"}},
      {[](Options o) { o.threads = -1; }, {"threads -1", "0 (all cores) or more"}},
      {[](Options o) { o.target_error = 1; }, {"target_error 1", "at least 0 and below 1"}},
      {[](Options o) { o.target_error = -0.5; }, {"target_error -0.5", "at least 0 and below 1"}},
      {[](Options o) { o.time_limit = 0; }, {"time_limit 0", "above 0"}},
      {[](Options o) { o.time_limit = kNaN; }, {"time_limit nan", "above 0"}},
      {[](Options o) { o.left = sparse(7); }, {"sparse:7", "6 entries", "1..6"}},
      {[](Options o) { o.right = sparse(6); }, {"sparse:6", "5 entries", "1..5"}},
      {[](Options o) {
         o.weights = {WeightRule::convex, 0.0};
       },
       {"convex:0", "above 0"}},
      {[](Options o) {
         o.weights = {WeightRule::convex, -1.0};
       },
       {"convex:-1", "above 0"}},
      {[](Options o) {
         o.weights = {WeightRule::convex, kNaN};
       },
       {"convex:nan", "above 0"}}};
  for (const auto& [make, said] : mistakes) {
    FactorOptions options{.rank = 2};
    make(options);
    const std::string message = message_of<InvalidArgument>([&] { factor(Y, options); });
    for (const std::string& part : said) EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(Factor, RefusesMatricesItCannotUse) {
  const Matrix empty(0, 3), large = Matrix::Constant(3, 3, 1.7e308);
  EXPECT_THAT(message_of<InvalidInput>([&] { factor(empty); }), HasSubstr("empty"));
  EXPECT_THAT(message_of<InvalidInput>([&] { factor(large, {.rank = 1}); }), HasSubstr("overflow"));
  const Matrix wide = gaussian(3, 4, 1), crooked = gaussian(4, 4, 1);
  EXPECT_THAT(message_of<InvalidArgument>([&] { factor_symmetric(wide, {.rank = 1}); }),
              AllOf(HasSubstr("square"), HasSubstr("3 x 4")));
  EXPECT_THAT(message_of<InvalidInput>([&] { factor_symmetric(crooked, {.rank = 1}); }),
              HasSubstr("not symmetric"));
  Matrix nearly = crooked + crooked.transpose();
  nearly(0, 1) += 1e-12;
  EXPECT_NO_THROW(factor_symmetric(nearly, {.rank = 1}));
}

}  // namespace
}  // namespace pursuit
