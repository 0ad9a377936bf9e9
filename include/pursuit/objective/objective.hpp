#pragma once
// f, where it stands, and a quadratic above it there:
//
//   f(x + d) <= f(x) - <r, d> + 1/2 <d, d>_H ,     r = -grad f(x),
//
// which is all that a pursuit needs of f. For squares the quadratic is f itself; for a mask H is the mask.
// The oracle contracts r, weights are a least-squares problem in H, and a correction along one mode fits
// parabolas.

#include <memory>

#include "pursuit/objective/elastic_net.hpp"
#include "pursuit/objective/form.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

/// For every entry x_i of a vector along one mode: 1/2 a_i x_i^2 - b_i x_i. The curvatures are one number or
/// one per entry.
struct Parabolas {
  double uniform = 0;  // a_i, where `a` is empty
  Vector a = Vector(0), b;

  bool is_uniform() const { return a.size() == 0; }
};

/// A sweep over single entries, where a set leaves them alone: see coordinate_sweep.
struct CoordinateSweep {
  bool nonnegative;
  Index first = 0;  // columns before this one stay as they are
  int passes = 1;   // over the columns
  int threads = 1;
};

/// Corrections along one mode of the iterate of an objective: f of an atom's weight times its factor along
/// this mode, all else kept, kept true while atoms move.
class ModeSystem {
 public:
  virtual ~ModeSystem() = default;

  /// Of x = weight * factor of atom k. With `squares`, which are those of an atom's factors (other modes
  /// only) with what is uncertain about them, these make the curvatures.
  virtual void parabolas(Index k, const Factors* squares, Parabolas& out) = 0;

  /// Atom k has a new factor along this mode and a new weight.
  virtual void move(Index k, ConstVectorRef factor, double weight) = 0;

  /// All atoms at once by coordinate descent; false, with nothing done, where there is no such way.
  virtual bool sweep(const CoordinateSweep&) { return false; }
};

/// Sweeps over all atoms along one mode after the other, away from the iterate: for sets that leave the
/// entries of factors free of each other.
class FreeSweeps {
 public:
  virtual ~FreeSweeps() = default;

  /// Coordinate descent on f over the factors X of a mode, which carry the weights; all other modes are those
  /// of `at`. Returns f where it is asked for.
  virtual double sweep(Index mode, const Factors& at, bool nonnegative, bool value, Panel& X) = 0;
};

/// What they are asked for.
struct FreeSweepsOf {
  bool nonnegative = true;  // all factors, of all modes
  ElasticNets prices = {};  // which f then counts in
};

/// What the quadratic is to f: f itself, above it everywhere, or like it near x alone, so that every move has
/// to be looked at.
enum class Quadratic { exact, above, local };

class Objective : public Form {
 public:
  virtual double value() const = 0;  // f(x)
  /// f of a model that knows nothing, which errors are relative to: of squares f(0), else that of the best
  /// constant, or of the offsets.
  virtual double null_value() const = 0;
  virtual Quadratic quadratic() const { return Quadratic::exact; }
  virtual const Expansion& iterate() const = 0;  // x

  virtual void move_to(Expansion x) = 0;
  /// The same, where the linear terms of its weight_quadratic are known and of use.
  virtual void move_to(Expansion x, const Vector&) { move_to(std::move(x)); }
  /// One more atom, with weight 0; `value` is <r, z>.
  virtual void append(const Factors& atom, double value) = 0;
  virtual void reweigh(const Vector& weights) = 0;
  /// Another atom in the place of atom k, which must have no weight; `value` is <r, z>.
  virtual void replace(Index k, const Factors& atom, double value, double weight) = 0;
  virtual void keep(const std::vector<Index>& atoms) = 0;  // those dropped must have no weight

  /// <a_i, b_j>_H.
  virtual Matrix gram(const Factors& a, const Factors& b) const = 0;

  /// The quadratic in the weights of x's atoms: G = gram of them, c_i = <r, z_i> + <x, z_i>_H. For squares
  /// c_i = <y, z_i>.
  struct WeightQuadratic {
    Matrix gram;
    Vector linear;
  };
  virtual WeightQuadratic weight_quadratic() const = 0;

  /// Panels are those of the iterate; mode is any one of a panel's.
  virtual std::unique_ptr<ModeSystem> along(Index mode) = 0;

  /// Whether one ModeSystem serves all atoms for little more than one of them: corrections then go mode by
  /// mode, and otherwise atom by atom.
  virtual bool atoms_share_systems() const = 0;

  /// Null where there is no such way. The objective must outlive them.
  virtual std::unique_ptr<FreeSweeps> free_sweeps(const FreeSweepsOf&) const { return nullptr; }

  /// What it fits beside the atoms gets better, the atoms kept.
  virtual bool has_own_terms() const { return false; }
  virtual void fit_own_terms() {}
  virtual OwnTerms own_terms() const { return {}; }

  /// Where it stands, with all that its numbers have come from: what is kept of a run.
  virtual void visit_state(StateArchive& archive) = 0;

  /// Where f is half a squared distance to a target that is known everywhere, that target.
  virtual const Target* target() const { return nullptr; }
};

}  // namespace pursuit
