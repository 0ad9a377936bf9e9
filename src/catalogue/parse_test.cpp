// Names of sets, compositions and sets brought by a user.

#include "pursuit/atoms/structures.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& spec) {
  return message_of<InvalidArgument>([&] { parse_atoms(spec); });
}

TEST(ParseAtoms, KeepsEverySpec) {
  for (const char* spec :
       {"sphere", "nonneg", "sparse:1", "sparse:40", "sparse:0.1", "sparse:1.0", "sparse:1.e-05",
        "sparse:0.333333333333333", "nonneg+sparse:40", "nonneg+sparse:0.25"})
    EXPECT_EQ(parse_atoms(spec)->spec(), spec);
}

TEST(ParseAtoms, ReadsOtherSpellings) {
  EXPECT_EQ(parse_atoms("sparse:40+nonneg")->spec(), "nonneg+sparse:40");
  EXPECT_EQ(parse_atoms("sphere+nonneg")->spec(), "nonneg");
  EXPECT_EQ(parse_atoms("sparse:3+sparse:5+sphere")->spec(), "sparse:3");
  EXPECT_EQ(parse_atoms("sparse:.5+sparse:0.25")->spec(), "sparse:0.25");
  EXPECT_EQ(parse_atoms("sparse:1e-1")->spec(), "sparse:0.1");
  EXPECT_EQ(parse_atoms("sparse:1")->spec(), "sparse:1") << "one entry, not all of them";
}

TEST(ParseAtoms, SaysWhatIsWrong) {
  const auto known = HasSubstr("known are sphere, nonneg, sparse:K");
  EXPECT_THAT(refusal("round"), AllOf(HasSubstr("atom set 'round'"), HasSubstr("not a known set"), known));
  EXPECT_THAT(refusal("Sphere"), AllOf(HasSubstr("'Sphere' is not a known set"), known));
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("a name is missing"), known));
  EXPECT_THAT(refusal("nonneg+"), AllOf(HasSubstr("atom set 'nonneg+'"), HasSubstr("a name is missing")));
  EXPECT_THAT(refusal("sphere++nonneg"), HasSubstr("a name is missing"));
  EXPECT_THAT(refusal("sparse"),
              AllOf(HasSubstr("a parameter is missing"), HasSubstr("the form is sparse:K")));
  EXPECT_THAT(refusal("sparse:"),
              AllOf(HasSubstr("'' is neither a count such as 40 nor a fraction"), HasSubstr("sparse:K")));
  EXPECT_THAT(refusal("sparse:ten"), HasSubstr("'ten' is neither a count"));
  EXPECT_THAT(refusal("sparse:10x"), HasSubstr("'10x' is neither a count"));
  EXPECT_THAT(refusal("sparse: 10"), HasSubstr("' 10' is neither a count"));
  EXPECT_THAT(refusal("custom:mine"), HasSubstr("exists only in the program that defines it"));
}

TEST(ParseAtoms, ChecksCountsAndFractions) {
  const auto too_few = HasSubstr("must be at least 1");
  EXPECT_THAT(refusal("sparse:0"), AllOf(HasSubstr("sparse:0"), too_few));
  EXPECT_THAT(refusal("nonneg+sparse:-3"), AllOf(HasSubstr("sparse:-3"), too_few));
  const auto no_fraction = HasSubstr("must be above 0 and at most 1");
  EXPECT_THAT(refusal("sparse:0.0"), AllOf(HasSubstr("sparse:0"), no_fraction));
  EXPECT_THAT(refusal("sparse:-0.5"), AllOf(HasSubstr("sparse:-0.5"), no_fraction));
  EXPECT_THAT(refusal("sparse:1.5"), AllOf(HasSubstr("sparse:1.5"), no_fraction));
  EXPECT_THAT(refusal("sparse:nan"), HasSubstr("'nan' is neither a count"));
  EXPECT_THAT(refusal("sparse:inf"), AllOf(HasSubstr("sparse:inf"), no_fraction));
  EXPECT_THAT(message_of<InvalidArgument>([] { sparse(0); }), AllOf(HasSubstr("sparse:0"), too_few));
  EXPECT_THAT(message_of<InvalidArgument>([] { sparse_fraction(2); }), no_fraction);
}

TEST(ParseAtoms, ReadsLists) {
  EXPECT_EQ(parse_atoms("sparse:30,20,10").spec(), "sparse:30,20,10");
  EXPECT_EQ(parse_atoms("nonneg+sparse:0.5,0.25").spec(), "nonneg+sparse:0.5,0.25");
  EXPECT_EQ(parse_atoms("fused:3,2").of(5).spec(), "fused:2");
}

TEST(ParseAtoms, RefusesListsWithAnItemMissing) {
  for (const char* spec : {"sparse:3,,2", "sparse:,3", "sparse:3,", "sparse:,"})
    EXPECT_THAT(refusal(spec),
                AllOf(HasSubstr(std::string("atom set '") + spec + "'"), HasSubstr("'' is neither a count")))
        << spec;
  EXPECT_THAT(refusal("sparse:3,0"), HasSubstr("sparse:0: the number of non-zeros must be at least 1"));
  EXPECT_THAT(refusal("fused:3,x"), AllOf(HasSubstr("'3,x' is not a whole number"), HasSubstr("fused:K")));
  EXPECT_THAT(refusal("sparse:3,2+sparse:2,1"), HasSubstr("cannot be combined exactly"));
}

TEST(ParseAtoms, CountsParameters) {
  const auto missing = [](const char* form) {
    return AllOf(HasSubstr("a parameter is missing"), HasSubstr(std::string("the form is ") + form));
  };
  EXPECT_THAT(refusal("block"), missing("block:K"));
  EXPECT_THAT(refusal("blocks:3"), missing("blocks:K:C"));
  EXPECT_THAT(refusal("box:1"), missing("box:LO:HI"));
  EXPECT_THAT(refusal("smooth"), missing("smooth:LAMBDA"));
  EXPECT_THAT(refusal("fused"), missing("fused:K"));
  EXPECT_THAT(refusal("l1ball"), missing("l1ball:C"));
  EXPECT_THAT(refusal("lp"), missing("lp:P"));
  EXPECT_THAT(refusal("plugin:only.so"), missing("plugin:PATH:NAME"));
  for (const char* name : {"group", "tree", "graph", "support", "dictionary", "span", "sparse-in"}) {
    EXPECT_THAT(refusal(name), HasSubstr("the name of a file is missing")) << name;
    EXPECT_THAT(refusal(std::string(name) + ":"), HasSubstr("the name of a file is missing")) << name;
  }
  EXPECT_THAT(refusal("sparse-in:dct"), missing("sparse-in:FILE:K"));
  for (const char* name : {"sphere", "nonneg", "unimodal", "convex-shape", "concave-shape", "simplex", "sign",
                           "binary", "onehot"})
    EXPECT_THAT(refusal(std::string(name) + ":1"), HasSubstr("it takes no parameter")) << name;
  EXPECT_THAT(refusal("sparse:1:2"), AllOf(HasSubstr("'2' is too much"), HasSubstr("sparse:K")));
  EXPECT_THAT(refusal("blocks:1:2:3"), HasSubstr("'3' is too much"));
  EXPECT_THAT(refusal("monotone:up:down"), HasSubstr("'down' is too much"));
}

TEST(ParseAtoms, ReadsOnlyNumbersWhereNumbersAreMeant) {
  EXPECT_THAT(refusal("block:two"), AllOf(HasSubstr("'two' is not a whole number"), HasSubstr("block:K")));
  EXPECT_THAT(refusal("block:2.5"), HasSubstr("'2.5' is not a whole number"));
  EXPECT_THAT(refusal("block:99999999999999999999"), HasSubstr("is not a whole number"));
  EXPECT_THAT(refusal("smooth:rough"), HasSubstr("'rough' is not a number"));
  EXPECT_THAT(refusal("smooth:nan"), HasSubstr("'nan' is not a number"));
  EXPECT_THAT(refusal("box:1:1e999"), HasSubstr("'1e999' is not a number"));
  EXPECT_THAT(refusal("monotone:sideways"), HasSubstr("'sideways' is neither up nor down"));
  EXPECT_EQ(parse_atoms("lp:inf")->spec(), "lp:inf");
}

TEST(ParseAtoms, ChecksEveryBound) {
  EXPECT_THAT(refusal("block:0"), HasSubstr("block:0: a window has at least 1 entry"));
  EXPECT_THAT(refusal("blocks:2:0"), HasSubstr("at least 1 window"));
  EXPECT_THAT(refusal("fused:0"), HasSubstr("at least 1 piece"));
  EXPECT_THAT(refusal("smooth:0"), HasSubstr("must be a number above 0"));
  EXPECT_THAT(refusal("l1ball:0.5"), HasSubstr("must be 1 or more"));
  EXPECT_THAT(refusal("lp:0.5"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("box:2:1"), HasSubstr("lo <= hi"));
  EXPECT_THAT(refusal("sparse-in:dct:0"), HasSubstr("at least 1 vector"));
  EXPECT_THAT(refusal("span:dct"), HasSubstr("say sphere"));
  EXPECT_THAT(message_of<InvalidArgument>([] { parse_atoms("sparse-in:haar:9")->require_dimension(8); }),
              HasSubstr("allowed are 1..8"));
}

TEST(ParseAtoms, ReadsRanges) {
  EXPECT_EQ(parse_atoms("0-9:nonneg|10-:sparse:2")->spec(), "0-9:nonneg|10-:sparse:2");
  EXPECT_EQ(parse_atoms("0-:nonneg")->spec(), "0-:nonneg");
  EXPECT_EQ(parse_atoms("0-4:nonneg+sparse:2|5-9:monotone:up")->spec(),
            "0-4:nonneg+sparse:2|5-9:monotone:up");
}

TEST(ParseAtoms, RefusesRangesThatDoNotFollowEachOther) {
  EXPECT_THAT(refusal("0-9:nonneg|11-:sphere"),
              AllOf(HasSubstr("range 11-"), HasSubstr("should start at 10")));
  EXPECT_THAT(refusal("0-9:nonneg|5-:sphere"), HasSubstr("should start at 10"));
  EXPECT_THAT(refusal("1-9:nonneg"), HasSubstr("should start at 0"));
  EXPECT_THAT(refusal("5-3:nonneg"), HasSubstr("range 5-3"));
  EXPECT_THAT(refusal("0-:nonneg|5-:sphere"), HasSubstr("only the last may be open"));
  EXPECT_THAT(refusal("0-9:nonneg|sphere"), HasSubstr("'sphere' does not begin with a range of entries"));
  EXPECT_THAT(refusal("0-9:nonneg|"), HasSubstr("'' does not begin with a range"));
  EXPECT_THAT(refusal("0-9:"), HasSubstr("a name is missing"));
  EXPECT_THAT(refusal("0-99999999999999999999:nonneg"), HasSubstr("is not a whole number"));
  EXPECT_THAT(refusal("0-9223372036854775807:nonneg|0-:sphere"), HasSubstr("no vector has so many"));
  EXPECT_THAT(refusal("0-9:sparse:3,2|10-:sphere"), HasSubstr("has no exact oracle as part of a product"));
  EXPECT_THAT(refusal("0-9:simplex"), HasSubstr("'simplex' has no exact oracle"));
  EXPECT_THAT(message_of<InvalidArgument>([] { parse_atoms("0-3:nonneg|4-7:sphere")->require_dimension(9); }),
              HasSubstr("do not cover vectors of 9 entries"));
}

TEST(ParseAtoms, ReadsNumbersWithAPlusInTheirExponent) {
  EXPECT_EQ(parse_atoms("box:-1e+16:1e+16").spec(), "box:-1e+16:1e+16");
  EXPECT_EQ(parse_atoms(box(-1e16, 1e16).spec())->spec(), "box:-1e+16:1e+16");
  EXPECT_EQ(parse_atoms("lp:1e+20,2").spec(), "lp:1e+20,2");
  EXPECT_EQ(parse_atoms("sparse:3+nonneg").spec(), "nonneg+sparse:3") << "a plus is still a plus";
}

TEST(ParseAtoms, RefusesQuotesThatDoNotClose) {
  EXPECT_THAT(refusal("group:\"a+b.txt:2"), HasSubstr("a quote is opened and not closed"));
  EXPECT_THAT(refusal("group:\"a\"b.txt:2"), HasSubstr("\"a\"b.txt goes on after its closing quote"));
  for (const char* spec : {"\"", "\"abc", "\"\"\"", "group:\"", "0-9:group:\"a|10-:nonneg", "nonneg+\"a"})
    EXPECT_THAT(refusal(spec), testing::StartsWith("atom set '")) << spec;
  EXPECT_THAT(refusal("group:\"\":2"), HasSubstr("the name of a file is missing"));
}

TEST(ParseAtoms, SaysWhatAPluginLacks) {
  EXPECT_THAT(refusal("plugin:./no_such_object.so:best"),
              AllOf(HasSubstr("atom set 'plugin:./no_such_object.so:best'"), HasSubstr("no_such_object.so")));
  // The C library is a shared object without this function.
  EXPECT_THAT(refusal("plugin:/proc/self/exe:no_such_function"),
              HasSubstr("atom set 'plugin:/proc/self/exe"));
}

TEST(Atoms, RefuseDimensionsThatAreTooSmall) {
  EXPECT_THAT(message_of<InvalidArgument>([] { (nonneg() + sparse(5))->require_dimension(4); }),
              AllOf(HasSubstr("nonneg+sparse:5: 5 non-zeros"), HasSubstr("a vector of 4 entries"),
                    HasSubstr("allowed are 1..4")));
  EXPECT_NO_THROW(sparse(5)->require_dimension(5));
  EXPECT_NO_THROW(sparse_fraction(0.01)->require_dimension(1));
  EXPECT_NO_THROW(sphere()->require_dimension(1));
}

TEST(Atoms, ComposeOnlyWhereTheOraclesStayExact) {
  EXPECT_EQ((sparse(4) + sparse(2))->spec(), "sparse:2");
  EXPECT_EQ((nonneg() + nonneg())->spec(), "nonneg");
  EXPECT_THAT(message_of<InvalidArgument>([] { sparse(4) + sparse_fraction(0.5); }),
              AllOf(HasSubstr("'sparse:4' and 'sparse:0.5'"), HasSubstr("counts or fractions")));
  EXPECT_THAT(refusal("sparse:4+sparse:0.5"), HasSubstr("'sparse:4' and 'sparse:0.5'"));
  const auto own = custom({.name = "own", .maximize = [](ConstVectorRef g) -> Vector { return g; }});
  EXPECT_THAT(message_of<InvalidArgument>([&] { own + nonneg(); }), HasSubstr("'custom:own' and 'nonneg'"));
}

TEST(Atoms, KnowWhatTheyAre) {
  EXPECT_TRUE(sphere()->traits().is_sphere());
  EXPECT_TRUE(sphere()->traits().symmetric);
  EXPECT_TRUE(sphere()->traits().coordinatewise());
  EXPECT_TRUE(nonneg()->traits().coordinatewise());
  EXPECT_FALSE(nonneg()->traits().symmetric);
  EXPECT_FALSE(nonneg()->traits().is_sphere());
  EXPECT_TRUE(sparse(2)->traits().symmetric);
  EXPECT_FALSE(sparse(2)->traits().coordinatewise());
  EXPECT_FALSE(sparse(2)->traits().is_sphere());
}

TEST(Atoms, RefuseVectorsThatAreNotFinite) {
  Vector g = Vector::Ones(3), u(3);
  g[1] = std::numeric_limits<double>::quiet_NaN();
  const auto where = AllOf(HasSubstr("'sparse:2'"), HasSubstr("entry 2 is nan"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse(2)->maximize(g, u); }), where);
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse(2)->fit(1.0, g, Sign::free, u); }), where);
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse(2)->fit(g, Vector::Ones(3), Sign::free, u); }), where);
  g[1] = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(message_of<InvalidArgument>([&] { sparse(2)->fit(Vector::Ones(3), g, Sign::free, u); }),
              HasSubstr("entry 2 is -inf"));
}

/// The coordinate directions, both ways.
Vector signed_coordinate(ConstVectorRef g) {
  Index best = 0;
  g.cwiseAbs().maxCoeff(&best);
  return (g[best] < 0 ? -1.0 : 1.0) * Vector::Unit(g.size(), best);
}

TEST(CustomSet, AnswersLikeItsFunction) {
  const auto set = custom({.name = "axes", .maximize = signed_coordinate, .symmetric = true});
  EXPECT_EQ(set->spec(), "custom:axes");
  EXPECT_TRUE(set->traits().symmetric);
  Vector u(3);
  set->maximize((Vector(3) << 1, -4, 2).finished(), u);
  EXPECT_EQ(u, -Vector::Unit(3, 1));
  EXPECT_EQ(set->fit(2.0, (Vector(3) << 1, -4, 2).finished(), Sign::nonnegative, u), 2);
}

TEST(CustomSet, RecognisesItsMembersByItsFunction) {
  const auto set = custom({.name = "axes", .maximize = signed_coordinate, .symmetric = true});
  EXPECT_TRUE(set->contains(-Vector::Unit(3, 1)));
  EXPECT_FALSE(set->contains(Vector::Constant(3, 1 / std::sqrt(3.0))));
  EXPECT_FALSE(set->contains(2 * Vector::Unit(3, 1)));
  const auto own =
      custom({.name = "own", .maximize = signed_coordinate, .contains = [](ConstVectorRef u, double) {
                return u[0] == 7;
              }});
  EXPECT_TRUE(own->contains(Vector::Constant(2, 7)));
  EXPECT_FALSE(own->contains(Vector::Unit(2, 0)));
}

TEST(CustomSet, FitLooksBothWaysWhereTheSignIsFree) {
  const auto set = custom({.name = "positive axes", .maximize = [](ConstVectorRef g) -> Vector {
                             Index best = 0;
                             g.maxCoeff(&best);
                             return Vector::Unit(g.size(), best);
                           }});
  const Vector b = (Vector(3) << 1, -4, 2).finished();
  Vector u(3);
  EXPECT_EQ(set->fit(2.0, b, Sign::free, u), -2);
  EXPECT_EQ(u, Vector::Unit(3, 1));
  EXPECT_EQ(set->fit(2.0, b, Sign::nonnegative, u), 1);
  EXPECT_EQ(u, Vector::Unit(3, 2));
  EXPECT_EQ(set->fit(2.0, -Vector::Ones(3), Sign::nonnegative, u), 0);
}

TEST(CustomSet, DefaultFitFollowsTheCurvaturesToTheSphereOptimum) {
  // On the sphere the parabolas are free, so that the repeated majorisation must approach b / a.
  const auto set = custom({.name = "ball",
                           .maximize = [](ConstVectorRef g) -> Vector { return g.normalized(); },
                           .symmetric = true});
  const Vector a = (Vector(3) << 1, 2, 1.5).finished(), b = (Vector(3) << 1, -4, 2).finished();
  Vector u(3);
  const double t = set->fit(a, b, Sign::free, u);
  EXPECT_LT(max_difference(t * u, b.cwiseQuotient(a)), 1e-5);
  EXPECT_EQ(set->fit(Vector::Zero(3), Vector::Zero(3), Sign::free, u), 0);
}

TEST(CustomSet, IsToldWhatItsFunctionDidWrong) {
  EXPECT_THAT(message_of<InvalidArgument>([] { custom({.name = "empty", .maximize = {}}); }),
              HasSubstr("custom set 'empty' has no maximize function"));
  Vector u(3);
  const auto shorter =
      custom({.name = "shorter", .maximize = [](ConstVectorRef) -> Vector { return Vector::Ones(2); }});
  EXPECT_THAT(message_of<InvalidArgument>([&] { shorter->maximize(Vector::Ones(3), u); }),
              HasSubstr("'shorter' answered a vector of 2 entries to one of 3"));
  const auto broken =
      custom({.name = "broken", .maximize = [](ConstVectorRef g) -> Vector { return g / 0.0; }});
  EXPECT_THAT(message_of<InvalidArgument>([&] { broken->maximize(Vector::Ones(3), u); }),
              HasSubstr("'broken' answered a vector that is not finite"));
}

}  // namespace
}  // namespace pursuit
