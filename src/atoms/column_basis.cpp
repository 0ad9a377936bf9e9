#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "atoms/basis.hpp"
#include "atoms/supports.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// The columns of a dense or sparse matrix, scaled to unit norm.
template <class Columns>
class ColumnBasis final : public Basis {
 public:
  ColumnBasis(Columns columns, const std::string& spec) : D_(std::move(columns)) {
    if (D_.cols() == 0) throw InvalidArgument(fmt::format("{}: has no columns", spec));
    for (Index j = 0; j < D_.cols(); ++j) {
      const double norm = D_.col(j).norm();
      if (!(norm > 0) || !std::isfinite(norm))
        throw InvalidArgument(
            fmt::format("{}: column {} has norm {}, and no direction; every column needs a non-zero entry",
                        spec, j + 1, norm));
      D_.col(j) /= norm;
    }
    squares_ = D_.cwiseAbs2();
    const Matrix gram = D_.cols() <= D_.rows() ? Matrix(D_.transpose() * D_) : Matrix();
    orthonormal_ =
        gram.size() > 0 && (gram - Matrix::Identity(D_.cols(), D_.cols())).cwiseAbs().maxCoeff() < 1e-12;
  }

  Index count(Index) const override { return D_.cols(); }
  void analyze(ConstVectorRef x, Vector& products) const override { products.noalias() = D_.transpose() * x; }
  void energies(ConstVectorRef a, Vector& energies) const override {
    energies.noalias() = squares_.transpose() * a;
  }
  void vector(Index j, VectorRef d) const override { d = D_.col(j); }
  bool orthonormal() const override { return orthonormal_; }
  void require_dimension(const std::string& spec, Index n) const override {
    require_length(spec, D_.rows(), n);
  }

 private:
  Columns D_, squares_;
  bool orthonormal_;
};

}  // namespace

std::shared_ptr<const Basis> make_basis(const Dictionary& dictionary, const std::string& spec) {
  switch (dictionary.kind) {
    case Dictionary::Kind::dct: return cosine_basis();
    case Dictionary::Kind::haar: return haar_basis();
    case Dictionary::Kind::columns: break;
  }
  return std::visit(
      [&]<class Columns>(const Columns& columns) -> std::shared_ptr<const Basis> {
        return std::make_shared<ColumnBasis<Columns>>(columns, spec);
      },
      dictionary.columns);
}

}  // namespace pursuit
