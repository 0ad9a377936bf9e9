#pragma once
// The entries of ObservedSquares, once in the order of the rows and once in that of the columns, each with
// its residual: what is asked of them group by group. Groups are cut into pieces that the entries alone fix,
// which threads share; where there is a team, consecutive pieces belong to a rank, and what it finds goes to
// rank 0. Sums over pieces are added there in their order: the same bits for any number of ranks and threads.

#include <functional>
#include <vector>

#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/data/rank_team.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// What rank 0 asks of the others.
enum class SideOrder : std::int64_t {
  make,
  take_off,
  contract,
  parabolas,
  squares,
  products,
  gram,
  rewrite,
  sweep,
  give_residual,
  take_residual,
  release
};

class ObservedSides {
 public:
  /// A row for every group.
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Of data that outlive this, which are at x = 0. A team outlives it too: rank 0 asks it then.
  ObservedSides(const ObservedMatrix& data, int threads, RankTeam* team);
  ~ObservedSides();
  ObservedSides(const ObservedSides&) = delete;
  ObservedSides& operator=(const ObservedSides&) = delete;

  /// Those of a rank that follows, and what it is asked.
  explicit ObservedSides(Ranks& ranks);
  void follow(const Job& job);
  static bool is_made_by(const Job& job);
  static bool is_released_by(const Job& job);

  /// left right^T has been added to x.
  void take_off(const Vector& left, const Vector& right);
  /// The residual at this x, anew.
  void rewrite(const Expansion& x);

  /// Sums over the entries of a group of r z, z a row of the other mode.
  Rows contract(Index mode, Rows other) const;
  /// Of an atom's weight times its factor along a mode, the residual being that at weight * own. `squares`
  /// are those of the other factor, or null.
  void parabolas(Index mode, const Vector& other, const Vector* squares, const Vector& own, double weight,
                 Parabolas& out) const;
  /// Of the residual.
  double squares() const;
  /// Inner products of atoms with one over the mask, the others by rows.
  Vector products(Rows left, Rows right, const Vector& atom_left, const Vector& atom_right) const;
  /// Of atoms with atoms.
  Matrix gram(const Factors& a, const Factors& b) const;
  /// See observed_sweep(); returns half the squared residual.
  double sweep(Index mode, const Panel& other, bool nonnegative, int passes, Panel& X) const;

  /// use() has all of the residual along a mode, to look at or to replace.
  void visit_residual(Index mode, bool replace, const std::function<void(std::vector<double>&)>& use);

 private:
  /// own other^T has been added to x, and is to be taken off the residual of a side.
  struct Pending {
    Vector own, other;
  };
  struct Side {
    const GroupedEntries* entries = nullptr;
    std::vector<Index> cuts;  // groups where pieces of about equal work begin
    Index first_piece = 0, last_piece = 0;
    mutable std::vector<double> residual;  // of own groups
    mutable std::vector<Pending> pending;

    Index groups() const { return cuts.back(); }
    Index pieces() const { return Index(cuts.size()) - 1; }
    Index first() const { return cuts[std::size_t(first_piece)]; }
    Index last() const { return cuts[std::size_t(last_piece)]; }
    std::int64_t first_entry() const { return entries->start[std::size_t(first())]; }
    double* residual_of(Index group) const {
      return residual.data() + (entries->start[std::size_t(group)] - first_entry());
    }
  };

  const Side& side(Index mode) const { return sides_[std::size_t(mode)]; }
  bool leads() const { return !ranks_ || ranks_->leads(); }
  int rank() const { return ranks_ ? ranks_->rank() : 0; }
  int ranks() const { return ranks_ ? ranks_->size() : 1; }

  /// Calls visit(piece, group) for every own group of a side, its residual up to date; on all threads.
  template <class Visit>
  void stream(const Side& side, const Visit& visit) const;

  void ask(SideOrder order, Index mode, Index width, double number, const std::function<void()>& work) const;
  void deal();
  void own_pieces();
  void tell(double* numbers, Index count) const;
  template <class Numbers>
  void tell(Numbers& numbers, Index rows, Index cols) const;
  Index group_of(const Side& side, int rank) const;  // the first of a rank
  /// What ranks have of numbers, that of a rank beginning at begin(rank): from rank 0, or to it.
  template <class Begin>
  void move_parts(double* all, double* own, const Begin& begin, bool to_owners) const;
  void move_rows(const Side& side, double* rows, Index width, bool to_owners) const;
  void move_residual(const Side& side, std::vector<double>& all, bool to_owners) const;
  /// A column for every piece.
  void bring_pieces(const Side& side, Matrix& parts) const;

  // Every rank's part; what comes from rank 0 is empty on the others.
  void do_take_off(Vector& both);
  void do_rewrite(Index rank, Rows (&scaled)[2], Rows (&factors)[2]);
  void do_contract(Index mode, Index width, Rows& other, Rows& sums) const;
  void do_parabolas(Index mode, Index count, Rows& factors, Rows& sums) const;
  void do_squares(Matrix& parts) const;
  void do_products(Index count, Rows& left, Rows& right, Vector& atom_left, Vector& atom_right,
                   Matrix& parts) const;
  void do_gram(Index count_a, Index count_b, Matrix (&a)[2], Matrix (&b)[2], Matrix& parts) const;
  void do_sweep(Index mode, Index rank, bool nonnegative, int passes, Panel& other, Panel& X,
                Matrix& parts) const;
  void do_residual(const Side& along, std::vector<double>& all, bool back) const;

  Ranks* ranks_ = nullptr;  // where there are several
  RankTeam* team_ = nullptr;
  std::int64_t number_ = 0;
  int threads_ = 1;
  GroupedEntries own_[2];  // of a rank that follows
  Side sides_[2];
};

}  // namespace pursuit
