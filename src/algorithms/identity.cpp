#include "algorithms/identity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr std::uint64_t kProbes = 0x70726f6265;  // the seed of what data and sets are asked with

Panel probe(const Axis& axis, Index place) {
  Random random = Random(kProbes).stream(place);
  return random.gaussian_rows(axis.first(), axis.own(), 1);
}

}  // namespace

void identify(const Objective& f, Identity& identity) {
  std::string shape;
  for (Index mode = 0; mode < f.modes(); ++mode)
    shape += fmt::format("{}{}", mode > 0 ? " x " : "", f.axis(mode).size());
  identity.add("shape", shape);
  std::vector<Panel> probes;
  std::vector<Index> own;
  for (Index mode = 0; mode < f.modes(); ++mode) {
    probes.push_back(probe(f.axis(mode), mode).cwiseAbs());
    own.push_back(mode);
  }
  const Factors z(std::move(probes), std::move(own));
  identity.add("data", Matrix::Constant(1, 1, f.null_value()));
  Panel image;
  for (Index mode = 0; mode < f.modes(); ++mode) {
    f.contract(mode, z, image);
    identity.add("data", image);
  }
}

void identify(const AtomSets& sets, const std::vector<Index>& shape, Index rank, Identity& identity) {
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Axis axis(shape[std::size_t(sets.mode_of(panel))]);
    const std::string name = fmt::format("set {}", panel + 1);
    identity.add(name, sets.panel(panel).spec());
    Vector member(axis.own());
    for (Index k = 0; k < (sets.panel(panel).varies() ? rank : 1); ++k) {
      sets.of(panel, k).maximize(Vector(probe(axis, k)), member);
      identity.add("members of " + name, Matrix(member));
    }
  }
}

Identity identity_of(const std::string& command, const Objective& f, const AtomSets& sets,
                     const FactorOptions& o) {
  Identity identity;
  identity.add("command", command);
  identify(f, identity);
  identity.add("rank", double(o.rank));
  std::vector<Index> shape;
  for (Index mode = 0; mode < f.modes(); ++mode) shape.push_back(f.axis(mode).size());
  identify(sets, shape, o.rank, identity);
  identity.add("weights", o.weights.spec());
  identity.add("loss", o.loss.spec());
  identity.add("offsets", double(o.offsets));
  identity.add("start", double(o.start));
  identity.add("initial left", o.initial.left());
  identity.add("initial right", o.initial.right());
  identity.add("initial weights", Matrix(o.initial.weights));
  identity.add("fixed", double(o.fixed));
  identity.add("fixed factors", double(o.fixed_factors));
  identity.add("corrections", double(o.corrections));
  identity.add("correct_last", double(o.correct_last));
  identity.add("polish", double(o.polish));
  identity.add("polish_tolerance", o.polish_tolerance);
  identity.add("svd_tolerance", o.svd_tolerance);
  identity.add("starts", double(o.starts));
  identity.add("restarts", double(o.restarts));
  identity.add("seed", std::to_string(o.seed));
  identity.add("target_error", o.target_error);
  return identity;
}

Identity identity_of(const LinearOperator& A, const PcaOptions& o) {
  Identity identity;
  identity.add("command", "pca");
  const Axis samples(A.rows()), variables(A.cols());
  identity.add("shape", fmt::format("{} x {}", A.rows(), A.cols()));
  Matrix image;
  A.apply(probe(variables, 0), image);
  identity.add("data", image);
  A.apply_transposed(probe(samples, 1), image);
  identity.add("data", image);
  identity.add("components", double(o.components));
  identify(AtomSets(o.atoms, o.atoms, true), {A.cols(), A.cols()}, o.components, identity);
  identity.add_list("nonzeros", o.nonzeros);
  identity.add("total_nonzeros", double(o.total_nonzeros));
  identity.add("orthogonality", o.orthogonality);
  identity.add("correlation", double(o.correlation));
  identity.add("effort", double(o.effort));
  identity.add("seed", std::to_string(o.seed));
  if (o.initial.size() > 0) identity.add("initial", o.initial);
  return identity;
}

bool begin_checkpoints(const std::string& command, const Objective& f, const AtomSets& sets,
                       const FactorOptions& options, Run& run) {
  if (!options.checkpoints) return false;
  run.begin_checkpoints(identity_of(command, f, sets, options));
  return options.checkpoints->resumes("pursuit");
}

}  // namespace pursuit
