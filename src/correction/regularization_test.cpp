#include "pursuit/correction/regularization.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(Regularization, SpecsRoundTrip) {
  for (const Regularization& want :
       {Regularization{}, Regularization{Regularization::ridge, 0.1},
        Regularization{Regularization::ridge, 0}, Regularization{Regularization::ridge, 1.0 / 3},
        Regularization{Regularization::ridge, 1e-12},
        Regularization{Regularization::count_weighted_ridge, 0.05},
        Regularization{Regularization::count_weighted_ridge, 12345.678},
        Regularization{Regularization::self_tuned, 0}}) {
    const Regularization got = parse_regularization(want.spec());
    EXPECT_EQ(got.kind, want.kind) << want.spec();
    EXPECT_EQ(got.lambda, want.lambda) << want.spec();
  }
}

TEST(Regularization, SpecsReadAsWritten) {
  EXPECT_EQ(Regularization{}.spec(), "none");
  EXPECT_EQ(parse_regularization("0.1").spec(), "0.1");
  EXPECT_EQ(parse_regularization("0.1:count").spec(), "0.1:count");
  EXPECT_EQ(parse_regularization("auto").spec(), "auto");
  EXPECT_EQ(parse_regularization("2e-3").lambda, 0.002);
}

TEST(Regularization, RefusesAnythingElse) {
  for (const std::string spec :
       {"", "ridge", "-0.1", "-0.1:count", "nan", "inf", "0.1:", "0.1:counts", "0.1 ", " 0.1", "0.1x",
        ":count", "auto:count", "none:count", "AUTO", "1e999"}) {
    const std::string message = message_of<InvalidArgument>([&] { parse_regularization(spec); });
    EXPECT_THAT(message, testing::HasSubstr("'" + spec + "'"));
    EXPECT_THAT(message, testing::HasSubstr("auto, none, a number of 0 or more"));
  }
}

}  // namespace
}  // namespace pursuit
