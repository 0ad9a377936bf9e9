#include "completion/tensor_places.hpp"

#include "pursuit/base/random.hpp"

namespace pursuit {

Vector predictors_at(const TensorModel& model, const std::vector<std::vector<int>>& places) {
  const Index count = Index(places[0].size()), rank = model.atoms.rank();
  Vector x = Vector::Zero(count);
  Vector row(rank);
  const auto offset = [&](std::size_t mode) -> const Vector& {
    return mode == 0   ? model.own_terms.row_offsets
           : mode == 1 ? model.own_terms.col_offsets
                       : model.own_terms.further_offsets[mode - 2];
  };
  const bool offsets = model.own_terms.row_offsets.size() > 0;
  for (Index e = 0; e < count; ++e) {
    row = model.atoms.weights;
    for (std::size_t m = 0; m < places.size(); ++m) {
      const Index place = places[m][std::size_t(e)];
      row.array() *= model.atoms.factors[Index(m)].row(place).transpose().array();
      if (offsets) x[e] += offset(m)[place];
    }
    x[e] += row.sum();
  }
  return x;
}

std::uint64_t random_key(std::uint64_t start, const std::vector<int>& place) {
  std::uint64_t key = start;
  for (std::size_t mode = 0; mode < place.size(); ++mode)
    key = random_block(key, std::uint64_t(place[mode]), mode).first;
  return key;
}

}  // namespace pursuit
