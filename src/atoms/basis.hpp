#pragma once
// Families of unit vectors d_1, d_2, ... given as a matrix or by a formula. All that dictionary sets ask of
// them are products.

#include <memory>
#include <string>

#include "pursuit/atoms/structures.hpp"

namespace pursuit {

class Basis {
 public:
  virtual ~Basis() = default;

  /// The number of vectors with n entries.
  virtual Index count(Index n) const = 0;
  /// products_j = <d_j, x>.
  virtual void analyze(ConstVectorRef x, Vector& products) const = 0;
  /// energies_j = sum_i a_i d_ij^2.
  virtual void energies(ConstVectorRef a, Vector& energies) const = 0;
  /// d_j.
  virtual void vector(Index j, VectorRef d) const = 0;

  virtual bool orthonormal() const = 0;
  virtual void require_dimension(const std::string& spec, Index n) const = 0;
};

/// Throws InvalidArgument for a zero column, naming it.
std::shared_ptr<const Basis> make_basis(const Dictionary& dictionary, const std::string& spec);

std::shared_ptr<const Basis> cosine_basis();
std::shared_ptr<const Basis> haar_basis();

}  // namespace pursuit
