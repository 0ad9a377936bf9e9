// The catalogue keeps the laws, and every law has a set here that breaks it.

#include "pursuit/atoms/laws.hpp"

#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string report(const std::vector<LawViolation>& violations) {
  std::string lines;
  for (const auto& [law, detail] : violations) lines += law + ": " + detail + "\n";
  return lines;
}

std::vector<std::string> broken_laws(const AtomSet& set, const LawOptions& options = {}) {
  std::vector<std::string> laws;
  for (const auto& violation : check_atom_laws(set, 6, options)) laws.push_back(violation.law);
  return laws;
}

TEST(Laws, KeptByTheWholeCatalogue) {
  for (const Atoms& set :
       {sphere(), nonneg(), sparse(1), sparse(3), sparse_fraction(0.01), sparse_fraction(0.3),
        sparse_fraction(1.0), nonneg() + sparse(1), nonneg() + sparse(3), nonneg() + sparse_fraction(0.5)})
    for (const Index n : {1, 2, 3, 8, 40}) {
      const bool fits = set->spec().find(":3") == std::string::npos || n >= 3;
      if (!fits) continue;
      EXPECT_EQ(report(check_atom_laws(*set, n, {.seed = std::uint64_t(n), .trials = 24})), "")
          << set->spec() << " on vectors of " << n;
    }
}

TEST(Laws, KeptAtTheLargestCount) {
  for (const Index n : {1, 5}) {
    EXPECT_EQ(report(check_atom_laws(*sparse(n), n)), "");
    EXPECT_EQ(report(check_atom_laws(*(nonneg() + sparse(n)), n)), "");
  }
}

TEST(Laws, KeptByHonestCustomSets) {
  const auto signed_coordinates = custom({.name = "coordinates",
                                          .maximize = [](ConstVectorRef g) -> Vector {
                                            Index best = 0;
                                            g.cwiseAbs().maxCoeff(&best);
                                            return (g[best] < 0 ? -1.0 : 1.0) * Vector::Unit(g.size(), best);
                                          },
                                          .symmetric = true});
  EXPECT_EQ(report(check_atom_laws(*signed_coordinates, 7)), "");
  // A set whose fit is only local: two points that are not opposite.
  const auto pair = custom({.name = "pair", .maximize = [](ConstVectorRef g) -> Vector {
                              const Vector first = Vector::Unit(2, 0), second = Vector::Constant(2, 0.6);
                              const Vector tilted = second.normalized();
                              return first.dot(g) >= tilted.dot(g) ? first : tilted;
                            }});
  EXPECT_EQ(report(check_atom_laws(*pair, 2)), "");
}

TEST(Laws, SayWhatIsWrongWithTheQuestion) {
  EXPECT_THAT(message_of<InvalidArgument>([] { check_atom_laws(*sphere(), 0); }), HasSubstr("n 0"));
  EXPECT_THAT(message_of<InvalidArgument>([] { check_atom_laws(*sphere(), 3, {.trials = 0}); }),
              HasSubstr("trials 0"));
  EXPECT_THAT(message_of<InvalidArgument>([] { check_atom_laws(*sparse(4), 3); }), HasSubstr("sparse:4"));
}

/// The sphere, with any of its answers replaced.
struct Forged final : AtomSet {
  std::function<Vector(ConstVectorRef)> maximizer = {};
  std::function<double(double, ConstVectorRef, Sign, VectorRef)> uniform_fitter = {};
  std::function<double(ConstVectorRef, ConstVectorRef, Sign, VectorRef)> fitter = {};
  std::function<bool(ConstVectorRef)> container = {};
  std::function<std::string()> speller = [] { return std::string("custom:forged"); };
  std::function<AtomSetPtr(const Constraint&)> narrower = {};

  explicit Forged(const AtomTraits& claims = {.symmetric = true}) : AtomSet(claims) {}
  void claim(const AtomTraits& claims) { AtomSet::operator=(Forged(claims)); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return container ? container(u) : true_set->contains(u, tolerance);
  }
  std::string spec() const override { return speller(); }
  AtomSetPtr narrowed(const Constraint& constraint) const override {
    return narrower ? narrower(constraint) : nullptr;
  }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    if (maximizer)
      u = maximizer(g);
    else
      true_set->maximize(g, u);
  }
  double fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const override {
    return uniform_fitter ? uniform_fitter(curvature, b, sign, u) : honest()->fit(curvature, b, sign, u);
  }
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override {
    return fitter ? fitter(a, b, sign, u) : honest()->fit(a, b, sign, u);
  }
  /// What fit is where only maximize is given.
  Atoms honest() const {
    return maximizer ? custom({.name = "honest", .maximize = maximizer, .symmetric = traits().symmetric})
                     : true_set;
  }

  Atoms true_set = sphere();
};

TEST(LawCheckers, AcceptTheUnforgedSet) {
  EXPECT_THAT(broken_laws(Forged{}), IsEmpty());
}

TEST(LawCheckers, FindAnswersOfMaximizeOutsideTheSet) {
  Forged set;
  set.maximizer = [](ConstVectorRef g) -> Vector { return 2 * g.normalized() + Vector::Unit(g.size(), 0); };
  const auto violations = check_atom_laws(set, 6);
  EXPECT_THAT(violations, Contains(AllOf(Field(&LawViolation::law, "membership"),
                                         Field(&LawViolation::detail, HasSubstr("maximize(")))));
}

TEST(LawCheckers, FindAnswersOfFitOutsideTheSet) {
  Forged set;
  set.fitter = [](ConstVectorRef, ConstVectorRef b, Sign, VectorRef u) {
    u = b;
    return 1.0;
  };
  EXPECT_THAT(check_atom_laws(set, 6), Contains(AllOf(Field(&LawViolation::law, "membership"),
                                                      Field(&LawViolation::detail, HasSubstr("fit to b")))));
}

TEST(LawCheckers, FindAnOracleThatMissesTheBestMember) {
  Forged set;
  set.maximizer = [](ConstVectorRef g) -> Vector {  // forgets the last coordinate
    Vector u = g;
    u[g.size() - 1] = 0;
    return u.norm() > 0 ? Vector(u.normalized()) : Vector(Vector::Unit(g.size(), 0));
  };
  EXPECT_THAT(broken_laws(set, {.brute_force = [](ConstVectorRef g) { return g.norm(); }}), Contains("best"));
  EXPECT_THAT(broken_laws(set), Not(Contains("best"))) << "its members alone do not give it away";

  set.maximizer = [](ConstVectorRef g) -> Vector {  // looks along -g half of the time
    return (g[0] > 0 ? -1.0 : 1.0) * (g.norm() > 0 ? Vector(g.normalized()) : Vector::Unit(g.size(), 0));
  };
  EXPECT_THAT(broken_laws(set), Contains("best"));
}

TEST(LawCheckers, FindDependenceOnTheScale) {
  Forged set;
  set.maximizer = [](ConstVectorRef g) -> Vector {  // a threshold that ought to be relative
    return g.norm() < 1e-50 ? Vector(Vector::Unit(g.size(), 0)) : Vector(g.normalized());
  };
  EXPECT_THAT(broken_laws(set), ElementsAre("homogeneity"));
}

TEST(LawCheckers, FindAnOracleWithAMemory) {
  Forged set;
  int calls = 0;
  set.maximizer = [&calls](ConstVectorRef g) -> Vector {  // ties broken by a coin
    const double noise = 1e-13 * (++calls % 2);
    return g.norm() > 0 ? Vector((g.normalized() + Vector::Constant(g.size(), noise)))
                        : Vector::Unit(g.size(), 0);
  };
  EXPECT_THAT(broken_laws(set), ElementsAre("determinism"));
}

TEST(LawCheckers, FindAFitWithAMemory) {
  Forged set;
  int calls = 0;
  set.fitter = [&calls, honest = sphere()](ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) {
    return honest->fit(a, b, sign, u) * (1 + 1e-12 * (++calls % 2));
  };
  EXPECT_THAT(broken_laws(set), ElementsAre("determinism"));
}

TEST(LawCheckers, FindAnAnswerToZeroOutsideTheSet) {
  Forged set;
  set.maximizer = [](ConstVectorRef g) -> Vector { return g.normalized(); };  // Eigen leaves zero alone
  EXPECT_THAT(broken_laws(set), Contains("zero"));
}

TEST(LawCheckers, FindAScaleOutOfNothing) {
  Forged set;
  set.fitter = [honest = sphere()](ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) {
    const double scale = honest->fit(a, b, sign, u);
    return scale == 0 ? 1e-30 : scale;
  };
  EXPECT_THAT(broken_laws(set), Contains("zero"));
}

TEST(LawCheckers, FindQuestionsThatAreNotRefusedProperly) {
  Forged set;  // refusing needs the set's name, which this one cannot give
  set.speller = []() -> std::string { throw std::out_of_range("no name"); };
  EXPECT_THAT(broken_laws(set), Contains("finiteness"));
}

TEST(LawCheckers, FindAUniformFitThatForgetsTheOtherSide) {
  Forged set;
  const Atoms honest = nonneg();
  set.claim({.symmetric = false});
  set.maximizer = [&](ConstVectorRef g) {
    Vector u(g.size());
    honest->maximize(g, u);
    return u;
  };
  set.container = [&](ConstVectorRef u) { return honest->contains(u, 1e-9); };
  set.uniform_fitter = [&](double curvature, ConstVectorRef b, Sign, VectorRef u) {
    honest->maximize(b, u);
    return std::max(b.dot(u), 0.0) / curvature;
  };
  EXPECT_THAT(broken_laws(set), Contains("uniform fit"));
}

TEST(LawCheckers, FindAFitOfTheWrongSign) {
  Forged set;
  set.fitter = [honest = sphere()](ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) {
    const double scale = honest->fit(a, b, sign, u);
    u = -u.eval();
    return -scale;
  };
  EXPECT_THAT(broken_laws(set), ElementsAre("fit"));
}

TEST(LawCheckers, FindAFitThatIsWorseThanItsStart) {
  Forged set;
  set.fitter = [honest = sphere()](ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) {
    const double scale = honest->fit(a, b, sign, u);
    return a.maxCoeff() > a.minCoeff() ? 3 * scale : scale;
  };
  EXPECT_THAT(broken_laws(set), ElementsAre("fit"));
}

TEST(LawCheckers, FindAFitThatIsNotAsExactAsItClaims) {
  // Members are the coordinates and the diagonal; the uniform fit takes the diagonal where b is level,
  // whatever the curvatures.
  Forged set;
  set.claim({.symmetric = false});
  set.maximizer = [](ConstVectorRef g) -> Vector {
    Index best = 0;
    g.maxCoeff(&best);
    const Vector diagonal = Vector::Constant(g.size(), 1 / std::sqrt(double(g.size())));
    return g.dot(diagonal) >= g[best] ? diagonal : Vector(Vector::Unit(g.size(), best));
  };
  EXPECT_EQ(report(check_atom_laws(set, 2, {.trials = 200})), "");
  set.claim({.symmetric = false, .exact_fit = true});
  EXPECT_THAT(check_atom_laws(set, 2, {.trials = 200}), ElementsAre(Field(&LawViolation::law, "fit")));
}

TEST(LawCheckers, HoldAnInexactOracleToItsShareOnly) {
  Forged set;
  set.maximizer = [](ConstVectorRef g) -> Vector {  // the largest entry alone, where the sphere has them all
    Index best = 0;
    g.cwiseAbs().maxCoeff(&best);
    return (g[best] < 0 ? -1.0 : 1.0) * Vector::Unit(g.size(), best);
  };
  const LawOptions options{.brute_force = [](ConstVectorRef g) { return g.norm(); }};
  EXPECT_THAT(broken_laws(set, options), ElementsAre("best"));
  set.claim({.symmetric = true, .oracle_factor = 1 / std::sqrt(6.0)});
  EXPECT_THAT(broken_laws(set, options), IsEmpty());
  set.claim({.symmetric = true, .oracle_factor = 0.9});
  EXPECT_THAT(broken_laws(set, options), ElementsAre("best"));
}

TEST(LawCheckers, FindASetThatIsNotSymmetric) {
  Forged set;
  const Atoms honest = nonneg();
  set.maximizer = [&](ConstVectorRef g) {
    Vector u(g.size());
    honest->maximize(g, u);
    return u;
  };
  set.container = [&](ConstVectorRef u) { return honest->contains(u, 1e-9); };
  EXPECT_THAT(broken_laws(set), Contains("symmetry"));
}

TEST(LawCheckers, FindMembersOfOtherNorms) {
  Forged set;
  set.maximizer = [](ConstVectorRef g) -> Vector {
    return (g.array() < 0).select(-1.0, Vector::Ones(g.size()));
  };
  set.container = [](ConstVectorRef u) { return (u.array().abs() == 1).all(); };
  EXPECT_THAT(broken_laws(set), ElementsAre("unit norm"));
  set.claim({.symmetric = true, .unit_norm = false});
  EXPECT_THAT(broken_laws(set), IsEmpty());
}

TEST(LawCheckers, FindSetsThatAreNotAsSimpleAsTheyClaim) {
  Forged set;
  const Atoms honest = sparse(2);
  set.maximizer = [&](ConstVectorRef g) {
    Vector u(g.size());
    honest->maximize(g, u);
    return u;
  };
  set.container = [&](ConstVectorRef u) { return honest->contains(u, 1e-9); };
  EXPECT_THAT(broken_laws(set), IsEmpty());
  const auto claim = [&](const SimpleSet& simple) { set.claim({.symmetric = true, .simple = simple}); };
  claim({.sparsity = Sparsity{Index(2)}});
  EXPECT_THAT(broken_laws(set), IsEmpty());
  claim({.sparsity = Sparsity{0.4}});
  EXPECT_THAT(broken_laws(set), IsEmpty()) << "2 of 6";
  for (const SimpleSet& wrong :
       {SimpleSet{}, SimpleSet{.nonnegative = true, .sparsity = Sparsity{Index(2)}},
        SimpleSet{.sparsity = Sparsity{Index(1)}}, SimpleSet{.sparsity = Sparsity{0.5}}}) {
    claim(wrong);
    EXPECT_THAT(broken_laws(set), ElementsAre("simple"));
  }
  set.claim({.symmetric = true, .unit_norm = false, .simple = SimpleSet{.sparsity = Sparsity{Index(2)}}});
  EXPECT_THAT(broken_laws(set), ElementsAre("simple"));
}

TEST(LawCheckers, FindNarrowedSetsThatAreNotTheMembersOfBoth) {
  const auto narrowed_to = [](const Atoms& answer, std::size_t constraint) {
    Forged set;
    set.narrower = [=](const Constraint& asked) {
      return asked.index() == constraint ? answer.shared(0) : nullptr;
    };
    return broken_laws(set);
  };
  const std::size_t signs = Constraint(Nonnegativity{}).index(), masks = Constraint(Mask{}).index();
  EXPECT_THAT(narrowed_to(nonneg(), signs), IsEmpty());
  EXPECT_THAT(narrowed_to(sphere(), signs), ElementsAre("narrowing")) << "members with negative entries";
  EXPECT_THAT(narrowed_to(nonneg() + lp(3), signs), ElementsAre("narrowing")) << "no members of the set";
  EXPECT_THAT(narrowed_to(sphere(), masks), ElementsAre("narrowing")) << "members outside of the mask";
  EXPECT_THAT(narrowed_to(onehot(), signs), ElementsAre("narrowing")) << "most members are missed";
}

TEST(LawCheckers, FindSpecsOfOtherSets) {
  Forged set;
  LawOptions options;
  options.parse = [](const std::string& spec) -> Atoms {
    if (spec == "sparse:2") return sparse(2);
    if (spec == "sphere" || spec == "sphere+sphere") return sphere();
    throw InvalidArgument("what is " + spec);
  };
  for (const char* spec : {"sparse:2", "sphere+sphere", "unheard-of"}) {
    set.speller = [spec] { return std::string(spec); };
    EXPECT_THAT(broken_laws(set, options), ElementsAre("spec")) << spec;
  }
  set.speller = [] { return std::string("sphere"); };
  EXPECT_THAT(broken_laws(set, options), IsEmpty());
}

TEST(LawCheckers, ReportAnExceptionAsAViolation) {
  const auto set =
      custom({.name = "short", .maximize = [](ConstVectorRef) -> Vector { return Vector::Ones(2); }});
  const auto violations = check_atom_laws(*set, 6);
  EXPECT_THAT(violations, Contains(AllOf(Field(&LawViolation::law, "membership"),
                                         Field(&LawViolation::detail, HasSubstr("2 entries to one of 6")))));
}

}  // namespace
}  // namespace pursuit
