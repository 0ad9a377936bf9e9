// Products of sets against their parts: the gains of the parts add up, and where no part gains the least bad
// member has one part that is not zero.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Piece {
  Index length;
  Atoms set;
};

Piece any_piece() {
  const Index length = *rc::gen::inRange<Index>(1, 5);
  const Index k = *rc::gen::inRange<Index>(1, length + 1);
  switch (*rc::gen::inRange(0, 8)) {
    case 0: return {length, sphere()};
    case 1: return {length, nonneg()};
    case 2: return {length, sparse(k)};
    case 3: return {length, nonneg() + sparse(k)};
    case 4: return {length, monotone(Direction::up)};
    case 5: return {length, nonneg() + fused(k)};
    case 6: return {length, binary()};
    default: return {length, unimodal()};
  }
}

exhaustive::Reference sum_of(const std::vector<Piece>& pieces) {
  const auto for_each = [=](const auto& visit) {
    Index first = 0;
    for (const Piece& piece : pieces) {
      visit(piece, first);
      first += piece.length;
    }
  };
  const auto gain = [=](const Vector& a, const Vector& b) {
    double total = 0;
    for_each([&](const Piece& piece, Index first) {
      const Vector own_a = a.segment(first, piece.length), own_b = b.segment(first, piece.length);
      Vector u(piece.length);
      const double t = piece.set->fit(own_a, own_b, Sign::nonnegative, u);
      total -= exhaustive::parabolas(own_a, own_b, t, u);
    });
    return total;
  };
  const auto product = [=](const Vector& g) {
    if (const double total = gain(Vector::Ones(g.size()), g); total > 0) return std::sqrt(total);
    double best = -std::numeric_limits<double>::infinity();
    for_each([&](const Piece& piece, Index first) {
      Vector u(piece.length);
      piece.set->maximize(g.segment(first, piece.length), u);
      best = std::max(best, u.dot(g.segment(first, piece.length)));
    });
    return best;
  };
  const auto member = [=](const Vector& u) {
    bool inside = std::abs(u.norm() - 1) < 1e-12;
    for_each([&](const Piece& piece, Index first) {
      const Vector own = u.segment(first, piece.length);
      inside = inside && (own.norm() == 0 || piece.set->contains(own.normalized(), 1e-9));
    });
    return inside;
  };
  return {product, gain, member};
}

RC_GTEST_PROP(Product, GainsWhatItsPartsGain, ()) {
  std::vector<Piece> pieces;
  std::vector<RangePart> parts;
  Index n = 0;
  for (Index left = *rc::gen::inRange<Index>(1, 4); left > 0; --left) {
    pieces.push_back(any_piece());
    const Index last = n + pieces.back().length - 1;
    parts.push_back({n, left == 1 && *rc::gen::arbitrary<bool>() ? -1 : last, pieces.back().set});
    n = last + 1;
  }
  exhaustive::check_oracles(*product(parts), n, sum_of(pieces), {.tolerance = 1e-11});
}

TEST(Product, RefusesRangesWithGapsAndSetsWithoutAProjection) {
  const auto refusal = [](std::vector<RangePart> parts) {
    return message_of<InvalidArgument>([&] { product(std::move(parts)); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("at least one range"));
  EXPECT_THAT(refusal({{1, 3, nonneg()}}),
              AllOf(HasSubstr("range 1-3"), HasSubstr("this one should start at 0")));
  EXPECT_THAT(refusal({{0, 3, nonneg()}, {5, -1, sphere()}}),
              AllOf(HasSubstr("range 5-"), HasSubstr("without gaps"), HasSubstr("should start at 4")));
  EXPECT_THAT(refusal({{0, 3, nonneg()}, {3, -1, sphere()}}), HasSubstr("should start at 4"));
  EXPECT_THAT(refusal({{0, -1, nonneg()}, {4, -1, sphere()}}), HasSubstr("only the last may be open"));
  EXPECT_THAT(refusal({{0, 3, nonneg()}, {4, 3, sphere()}}), HasSubstr("range 4-3"));
  EXPECT_THAT(refusal({{0, -1, l1ball(2)}}),
              AllOf(HasSubstr("'l1ball:2' has no exact oracle as part of a product"), HasSubstr("sparse")));
  EXPECT_THAT(refusal({{0, -1, simplex()}}), HasSubstr("'simplex' has no exact oracle"));
}

TEST(Product, RefusesDimensionsThatItsRangesDoNotCover) {
  const Atoms closed = product({{0, 2, nonneg()}, {3, 5, sparse(2)}}),
              open = product({{0, 2, nonneg()}, {3, -1, sparse(2)}});
  EXPECT_NO_THROW(closed->require_dimension(6));
  EXPECT_THAT(message_of<InvalidArgument>([&] { closed->require_dimension(7); }),
              AllOf(HasSubstr("0-2:nonneg|3-5:sparse:2"), HasSubstr("do not cover vectors of 7 entries")));
  EXPECT_NO_THROW(open->require_dimension(50));
  EXPECT_THAT(message_of<InvalidArgument>([&] { open->require_dimension(3); }), HasSubstr("do not cover"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { open->require_dimension(4); }),
              HasSubstr("2 non-zeros do not fit a vector of 1 entries"));
}

TEST(Product, TakesASignConstraintForAllItsParts) {
  const Atoms set = product({{0, 2, sphere()}, {3, -1, sparse(2)}});
  EXPECT_EQ((nonneg() + set)->spec(), "0-2:nonneg|3-:nonneg+sparse:2");
  EXPECT_THAT(message_of<InvalidArgument>([&] { set + sparse(3); }), HasSubstr("cannot be combined exactly"));
}

}  // namespace
}  // namespace pursuit
