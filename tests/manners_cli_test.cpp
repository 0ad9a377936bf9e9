// What the program says and how it takes what it is given, beside the work itself.

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kNmf = "--left nonneg --right nonneg --weights nonneg";

class MannersCli : public ProgramTest {
 protected:
  Matrix matrix(const std::string& name) const { return std::get<Matrix>(read_matrix(path(name)).matrix); }
};

TEST_F(MannersCli, WordsThatMeanNothingLeadToThoseThatDo) {
  expect_refused(
      {{"a command", "complet x.csv", 2, "pursuit: pursuit has no command complet; did you mean complete?"},
       {"a part of one", "generate rating", 2,
        "pursuit: pursuit generate has no command rating; did you mean ratings?"},
       {"an option", "factor x.csv --rnak 3", 2,
        "pursuit: pursuit factor has no option --rnak; did you mean --rank?"},
       {"a longer one", "complete x.csv --column-features y.csv", 2, "did you mean --col-features?"},
       {"nothing like any", "factor x.csv --unheard-of", 2,
        "no option --unheard-of. `pursuit factor --help`"},
       {"too many", "complete one.csv two.csv", 2,
        "pursuit: pursuit complete: 'two.csv' is one argument too many"},
       {"no command", "", 2, "A subcommand is required"}});
}

TEST_F(MannersCli, NegativeDataOfAnNmfAreNamed) {
  write("mixed.csv", "1,2,3\n4,-5,6\n7,8,-0.5\n");
  const Finished warned = run(fmt::format("factor mixed.csv --rank 1 {}", kNmf));
  EXPECT_EQ(warned.status, 0);
  EXPECT_THAT(warned.err, HasSubstr("2 entries are negative, down to -5 ("));
  for (const char* other :
       {"--right nonneg", "--left nonneg --right nonneg", "--left nonneg --weights nonneg"})
    EXPECT_THAT(run(fmt::format("factor mixed.csv --rank 1 {}", other)).err, Not(HasSubstr("negative")))
        << other;
  write("positive.csv", "1,2,3\n4,5,6\n7,8,0\n");
  EXPECT_EQ(run(fmt::format("factor positive.csv --rank 1 {}", kNmf)).err, "");
}

TEST_F(MannersCli, TransposedInputIsTheTransposedMatrix) {
  write("table.csv", "name,a,b,c\nx,1,2,3\ny,4,5,7\n");
  ASSERT_EQ(run("convert table.csv turned.csv --transpose").status, 0);
  EXPECT_EQ(read("turned.csv").substr(0, read("turned.csv").find('\n')), ",x,y");
  EXPECT_THAT(read("turned.csv"), HasSubstr("c,3,7"));
  write_matrix(path("sparse.npz"), {SparseMatrix(Random(1).gaussian_matrix(6, 4).sparseView()), {}, {}});
  for (const char* input : {"table.csv", "sparse.npz"}) {
    const auto plain = run_json(fmt::format("factor {} --rank 2 --out plain.npz", input));
    const auto turned = run_json(fmt::format("factor {} --rank 2 --transpose --out turned.npz", input));
    EXPECT_EQ(plain["rows"], turned["columns"]);
    EXPECT_EQ(plain["columns"], turned["rows"]);
    ASSERT_EQ(run("reconstruct plain.npz --out plain.npy").status, 0);
    ASSERT_EQ(run("reconstruct turned.npz --out turned.npy").status, 0);
    EXPECT_LT((matrix("plain.npy").transpose() - matrix("turned.npy")).norm(), 1e-9);
  }
  const auto pca = run_json("pca table.csv --components 1 --transpose");
  EXPECT_EQ(pca["columns"], 2);
  EXPECT_THAT(run("pca table.csv --components 1 --transpose").out, testing::ContainsRegex(" [xy]\n"));
}

TEST_F(MannersCli, MissingValuesLeadToComplete) {
  Matrix gaps = Matrix::Ones(3, 2);
  gaps(1, 1) = std::nan("");
  std::ofstream(path("gaps.csv")) << "1,2\n3,nan\n";
  {
    std::ofstream file(path("gaps.npy"), std::ios::binary);
    const std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }";
    const std::string padded = header + std::string(118 - 1 - header.size(), ' ') + "\n";
    file << "\x93NUMPY" << '\x01' << '\0' << char(118) << '\0' << padded;
    file.write(reinterpret_cast<const char*>(gaps.data()), 6 * 8);
  }
  expect_refused({
      {"text", "factor gaps.csv --rank 1", 3, "`pursuit complete` fills in missing entries"},
      {"array", "factor gaps.npy --rank 1", 3, "is nan, not a finite number; `pursuit complete`"},
      {"components", "pca gaps.npy --components 1", 3, "`pursuit complete`"},
      {"ranks", "choose gaps.npy --ranks 1", 3, "`pursuit complete`"},
  });
}

TEST_F(MannersCli, InspectShowsWhatComponentsExplain) {
  write("table.csv", "alpha,beta,gamma\n1,2,3.5\n2,1,5\n4,0,9\n3,2,7.5\n0,1,1\n");
  const auto fitted = run_json("pca table.csv --components 2 --out pca.npz");
  const auto answer = run_json("inspect pca.npz");
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(answer["atoms"][i]["variance"].get<double>(), fitted["explained"]["shares"][i].get<double>(),
                1e-9);
  EXPECT_EQ(answer["atoms"][0]["largest"][0]["name"], "gamma");
  EXPECT_EQ(answer["atoms"][0]["largest"][0]["column"], 2);
  const std::string words = run("inspect pca.npz").out;
  EXPECT_THAT(words, HasSubstr("variance"));
  EXPECT_THAT(words, testing::ContainsRegex("1  gamma -?0\\.[0-9]+, alpha"));
  write("plain.csv", "1,2,3.5\n2,1,5\n4,0,9\n3,2,7.5\n0,1,1\n");
  run("pca plain.csv --components 1 --out plain.npz");
  EXPECT_THAT(run("inspect plain.npz").out, HasSubstr("variable 3"));
}

TEST_F(MannersCli, NoZeroHasASign) {
  Matrix Y = Matrix::Zero(12, 9);
  Y.topLeftCorner(6, 4) = -Random(2).gaussian_matrix(6, 4).cwiseAbs();
  Y.bottomRightCorner(5, 4) = Random(3).gaussian_matrix(5, 4);
  write_matrix(path("Y.npy"), {Y, {}, {}});
  for (const char* sets :
       {"--left sparse:6 --right sparse:4", "--right sparse:3", "--left nonneg+sparse:6"}) {
    ASSERT_EQ(run(fmt::format("factor Y.npy --rank 3 {} --out model.npz", sets)).status, 0);
    ASSERT_EQ(run("inspect model.npz").status, 0);
    EXPECT_THAT(run("inspect model.npz").out, Not(testing::ContainsRegex(" -0[ ,\n]"))) << sets;
  }
  ASSERT_EQ(
      run("pca Y.npy --components 3 --atoms sparse:3 --loadings loadings.csv --scores scores.csv").status, 0);
  for (const char* file : {"loadings.csv", "scores.csv"})
    EXPECT_THAT("," + read(file), Not(testing::ContainsRegex("[,\n]-0[,\n]"))) << file;
}

}  // namespace
}  // namespace pursuit
