// A program outside the source tree: what a user of the installed library writes.

#include <cstdio>
#include <pursuit/algorithms/factor.hpp>
#include <pursuit/atoms/laws.hpp>

int main() {
  const Eigen::MatrixXd Y = Eigen::MatrixXd::Random(30, 20).cwiseAbs();
  const auto parts = pursuit::factor(Y, {.rank = 3, .left = pursuit::nonneg(), .right = pursuit::sparse(5)});
  if (parts.model.left().cols() != 3 || !(parts.relative_error < 1)) return 1;

  // Unit vectors that are constant on the first and on the second half.
  auto halves = pursuit::custom({.name = "halves",
                                 .maximize = [](pursuit::ConstVectorRef g) -> pursuit::Vector {
                                   const auto n = g.size(), h = n / 2;
                                   pursuit::Vector u(n);
                                   u.head(h).setConstant(g.head(h).mean());
                                   u.tail(n - h).setConstant(g.tail(n - h).mean());
                                   if (u.norm() == 0) u.setOnes();
                                   return u.normalized();
                                 },
                                 .symmetric = true});
  for (const auto& violation : pursuit::check_atom_laws(*halves, 10)) std::puts(violation.detail.c_str());
  auto result = pursuit::factor(Y, {.rank = 3, .left = halves});

  if (!pursuit::check_atom_laws(*halves, 10).empty()) return 1;
  for (const auto& atom : result.model.left().colwise())
    if (!halves->contains(atom, 1e-9)) return 1;
  return result.model.rank() == 2 || result.model.rank() == 3 ? 0 : 1;
}
