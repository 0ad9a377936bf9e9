#include "objective/khatri_rao.hpp"

#include "base/parallel.hpp"
#include "base/work.hpp"

namespace pursuit {

Panel khatri_rao(const std::vector<const Panel*>& factors, int threads) {
  if (factors.size() == 1) return *factors.front();
  Index rows = 1;
  for (const Panel* factor : factors) rows *= factor->rows();
  Panel product(rows, factors.front()->cols());
  parallel_for(product.cols(), threads_for(double(product.size()), threads), [&](Index k) {
    double* out = product.col(k).data();
    // From the back of the column to its front, so that what has been made can be read while it grows.
    Index made = 1;
    out[rows - 1] = 1;
    for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
      const auto own = (*factor)->col(k);
      const Eigen::Map<const Vector> tail(out + rows - made, made);
      for (Index i = 0; i < own.size(); ++i) {
        // The last piece lies where `tail` does, and comes last.
        double* piece = out + rows - made * (own.size() - i);
        for (Index e = 0; e < made; ++e) piece[e] = own[i] * tail[e];
      }
      made *= own.size();
    }
  });
  return product;
}

Panel contract_columns(const Panel& T, const std::vector<const Panel*>& factors, Index mode, int threads) {
  const Index modes = Index(factors.size());
  if (modes == 1) return T;
  const auto factor = [&](Index m) -> const Panel& { return *factors[std::size_t(m)]; };
  Index others = 1;
  for (Index m = 0; m < modes; ++m)
    if (m != mode) others *= factor(m).rows();
  Panel out(T.rows() / others, T.cols());
  parallel_for(T.cols(), threads_for(double(T.size()), threads), [&](Index k) {
    Vector held, next;
    const double* array = T.col(k).data();
    Index size = T.rows();
    const auto take_over = [&] {
      held.swap(next);
      array = held.data();
      size = held.size();
    };
    for (Index m = modes - 1; m > mode; --m) {  // the index that runs fastest
      const Eigen::Map<const Matrix> slices(array, factor(m).rows(), size / factor(m).rows());
      next.noalias() = slices.transpose() * factor(m).col(k);
      take_over();
    }
    for (Index m = 0; m < mode; ++m) {  // the one that runs slowest
      const Eigen::Map<const Matrix> slices(array, size / factor(m).rows(), factor(m).rows());
      next.noalias() = slices * factor(m).col(k);
      take_over();
    }
    out.col(k) = Eigen::Map<const Vector>(array, size);
  });
  return out;
}

}  // namespace pursuit
