#pragma once
// The methods that the paper is compared with, behind one door:
//
//   const auto C = pursuit::Covariance::of_samples(data);
//   const Matrix U = pursuit::baseline_components(pursuit::Baseline::empca, C,
//                                                 {.components = 5, .atoms = pursuit::sparse(300)});
//
// All of them find one loading vector at a time and deflate. They are here to be measured against, each as
// its authors describe it; `pca` is the method of this library.
//
//   name         loadings                                     described in
//   tpower       any atom set                                 truncated_power.hpp
//   gpower-l0    sphere, sparse:k                             generalized_power.hpp
//   gpower-l1    sphere, sparse:k                             generalized_power.hpp
//   empca        sphere, sparse:k, nonneg, nonneg+sparse:k    empca.hpp
//   spannogram   nonneg, nonneg+sparse:k                      spannogram.hpp
//   cone-power   nonneg                                       cone_power.hpp

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "pursuit/algorithms/pca.hpp"
#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/baselines/component.hpp"
#include "pursuit/baselines/truncated_power.hpp"

namespace pursuit {

enum class Baseline { truncated_power, gpower_l0, gpower_l1, empca, spannogram, cone_power };

struct BaselineOptions {
  Index components = 5;
  Atoms atoms = sphere();  // of the loadings; InvalidArgument where the method does not know the set
  Deflation deflation = Deflation::orthogonal_projection;
  int corrections = 0;  // sweeps of correct_components at the end, after any method
  PowerOptions power = {};
  std::uint64_t seed = 0;
  PowerStart start = PowerStart::heaviest;  // of tpower and cone-power
  int restarts = 5;                         // of empca
  Index dimension = 2;                      // of spannogram
  Index samples = 10000;                    // of spannogram, for dimension >= 3
  std::optional<double> rho = {};           // of cone-power; the mean variance where not given
  std::function<bool()> go_on = {};         // asked before every product; the run stops where it says no
};

/// p x r loadings, one unit column per component, all of them members of the set. A run that was stopped has
/// the components found so far, at least one.
Matrix baseline_components(Baseline method, const Covariance& C, const BaselineOptions& options = {});

/// The same as the result of `pca`, with scores where there are samples of that covariance.
PcaResult baseline_pca(Baseline method, const Covariance& C, const BaselineOptions& options = {},
                       const DataMatrixPtr& samples = nullptr);

/// The names above; InvalidArgument for any other text.
const char* name(Baseline method);
Baseline parse_baseline(const std::string& text);

}  // namespace pursuit
