// Every set of the catalogue on every mode of arrays, full and with gaps: f falls, and factors are members.

#include "pursuit/algorithms/factor_observed_tensor.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

constexpr const char* kSetsOfModes[] = {"sphere",
                                        "nonneg",
                                        "sparse:3",
                                        "sparse:0.5",
                                        "nonneg+sparse:3",
                                        "l1ball:1.5",
                                        "lp:3",
                                        "block:2",
                                        "blocks:1:2",
                                        "monotone",
                                        "monotone:up",
                                        "unimodal",
                                        "nonneg+unimodal",
                                        "convex-shape",
                                        "concave-shape",
                                        "smooth:0.5",
                                        "nonneg+smooth:0.5",
                                        "fused:2",
                                        "nonneg+fused:2",
                                        "simplex",
                                        "box:-1:2",
                                        "sign",
                                        "binary",
                                        "onehot",
                                        "dictionary:dct",
                                        "sparse-in:dct:2"};

AtomSets with_set_on(const Atoms& set, std::size_t mode, std::size_t modes) {
  std::vector<Atoms> of_modes(modes, sphere());
  std::vector<Index> panel_of;
  for (Index m = 0; m < Index(modes); ++m) panel_of.push_back(m);
  of_modes[mode] = set;
  return {of_modes, panel_of};
}

void expect_descent_and_members(const FactorResult& result, const Atoms& set, std::size_t mode) {
  double last = 1;
  for (const Step& step : result.trace) {
    EXPECT_LE(step.relative_error, last * (1 + 1e-12));
    last = step.relative_error;
  }
  EXPECT_LT(last, 1);
  for (Index k = 0; k < result.model.rank(); ++k)
    EXPECT_TRUE(set.of(k).contains(result.model.factors[Index(mode)].col(k), 1e-6));
}

TEST(TensorSets, EverySetOnEveryModeDescendsAndKeepsItsMembers) {
  for (const char* spec : kSetsOfModes)
    for (const auto& shape : {std::vector<Index>{6, 7, 5}, std::vector<Index>{5, 4, 6, 4}})
      for (std::size_t mode = 0; mode < shape.size(); ++mode) {
        SCOPED_TRACE(std::string(spec) + ", mode " + std::to_string(mode));
        const Atoms set = parse_atoms(spec);
        const PlainTensor t = gaussian_tensor(shape, 5);
        const FactorResult result = factor_tensor(as_dense_target(t), with_set_on(set, mode, shape.size()),
                                                  {.rank = 3, .polish = 10});
        expect_descent_and_members(result, set, mode);
        EXPECT_NEAR(result.relative_error, distance(t, dense(result.model)) / t.norm(), 1e-9);
      }
}

TEST(ObservedTensorSets, EverySetOnEveryModeDescendsAndKeepsItsMembers) {
  for (const char* spec : kSetsOfModes)
    for (const auto& shape : {std::vector<Index>{6, 7, 5}, std::vector<Index>{5, 4, 6, 4}})
      for (std::size_t mode = 0; mode < shape.size(); ++mode) {
        SCOPED_TRACE(std::string(spec) + ", mode " + std::to_string(mode));
        const Atoms set = parse_atoms(spec);
        const PlainTensor t = gaussian_tensor(shape, 3);
        ObservedTensor data{{shape, std::vector<std::vector<int>>(shape.size()), {}}, {}, false};
        Random random(4);
        for (Index e = 0; e < t.count(); ++e) {
          if (random.uniform() < 0.3) continue;
          for (std::size_t m = 0; m < shape.size(); ++m)
            data.entries.index[m].push_back(int(t.position(e)[m]));
          data.entries.value.push_back(t.values[std::size_t(e)]);
        }
        expect_descent_and_members(
            factor_tensor(data, with_set_on(set, mode, shape.size()), {.rank = 3, .polish = 10}), set, mode);
      }
}

}  // namespace
}  // namespace pursuit
