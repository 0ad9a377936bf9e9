#include "pursuit/io/tensor_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/test_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "tensor_test_support.hpp"

namespace pursuit::io {
namespace {

using testing::HasSubstr;

std::string npy_of(const PlainTensor& t) {
  return format_npy(NpyArray{t.shape, t.values});
}

/// The entries of a target, one after the other.
PlainTensor entries_of_target(const TensorData& data) {
  PlainTensor t(data.shape);
  for (Index e = 0; e < t.count(); ++e) {
    const auto at = t.position(e);
    std::vector<Panel> panels;
    std::vector<Index> panel_of;
    for (Index m = 0; m < t.modes(); ++m) {
      panel_of.push_back(m);
      panels.push_back(Panel::Zero(t.shape[std::size_t(m)], 1));
      panels.back()(at[std::size_t(m)], 0) = 1;
    }
    Panel out;
    data.target->contract(0, {std::move(panels), std::move(panel_of)}, out);
    t.values[std::size_t(e)] = out(at[0], 0);
  }
  return t;
}

TEST(TensorFile, ArraysOfAnyTypeAndOrderAreTheSameNumbers) {
  const ScratchDirectory folder;
  PlainTensor t({3, 4, 2});
  for (Index e = 0; e < t.count(); ++e) t.values[std::size_t(e)] = double(e % 7);
  const std::vector<float> floats(t.values.begin(), t.values.end());
  const std::vector<std::int64_t> whole(t.values.begin(), t.values.end());
  std::string fortran = format_npy_header("<f8", true, t.shape);
  for (Index k = 0; k < 2; ++k)
    for (Index j = 0; j < 4; ++j)
      for (Index i = 0; i < 3; ++i) {
        const double value = t.values[std::size_t((i * 4 + j) * 2 + k)];
        fortran.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
  for (const std::string& bytes :
       {npy_of(t), format_npy(NpyArray{t.shape, floats}), format_npy(NpyArray{t.shape, whole}), fortran}) {
    const auto path = folder.with("t.npy", bytes);
    EXPECT_TRUE(is_tensor_file(path));
    const TensorData data = read_tensor(path);
    EXPECT_EQ(data.shape, t.shape);
    EXPECT_EQ(data.stored, 24);
    EXPECT_EQ(distance(entries_of_target(data), t), 0);
  }
  write_npz(folder / "t.npz", {{"x", NpyArray{t.shape, t.values}}});
  EXPECT_TRUE(is_tensor_file(folder / "t.npz"));
  EXPECT_EQ(distance(entries_of_target(read_tensor(folder / "t.npz")), t), 0);
}

TEST(TensorFile, ListsOfEntriesWithRemarksAndBlankLines) {
  const ScratchDirectory folder;
  const auto path = folder.with("t.tns", "# made by hand\n\n1 1 1 0.5\n 3 2 2  -1e1\n# the end\n2 2 1 4\r\n");
  EXPECT_TRUE(is_tensor_file(path));
  const TensorData data = read_tensor(path);
  EXPECT_EQ(data.shape, (std::vector<Index>{3, 2, 2}));
  EXPECT_EQ(data.stored, 3);
  const PlainTensor t = entries_of_target(data);
  EXPECT_EQ(t.values, (std::vector<double>{0.5, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, -10}));
  const auto packed = folder.with("t.tns.gz", gzip("1 1 1 0.5\n2 2 2 1\n"));
  EXPECT_EQ(read_tensor(packed).shape, (std::vector<Index>{2, 2, 2}));
}

TEST(TensorFile, CoordinatesAsThePackageSparseWritesThem) {
  const ScratchDirectory folder;
  write_npz(folder / "c.npz", {{"coords", NpyArray{{3, 2}, std::vector<std::int64_t>{0, 2, 1, 0, 1, 1}}},
                               {"data", NpyArray{{2}, std::vector<double>{3, 4}}},
                               {"shape", NpyArray{{3}, std::vector<std::int64_t>{3, 2, 2}}},
                               {"fill_value", NpyArray{{}, std::vector<double>{0}}}});
  EXPECT_TRUE(is_tensor_file(folder / "c.npz"));
  const PlainTensor t = entries_of_target(read_tensor(folder / "c.npz"));
  EXPECT_EQ(t.values, (std::vector<double>{0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0, 0}));
}

TEST(TensorFile, TablesOfIdsHaveNames) {
  const ScratchDirectory folder;
  const auto path = folder.with(
      "t.csv", "station,day,hour,trips\nnorth,tue,10,3\n\"old, town\",mon,2,1.5\nnorth,mon,2,4\n");
  const TensorData data = read_tensor(path);
  EXPECT_EQ(data.shape, (std::vector<Index>{2, 2, 2}));
  EXPECT_EQ(data.stored, 3);
  EXPECT_EQ(data.labels, (std::vector<std::string>{"station", "day", "hour"}));
  EXPECT_EQ(data.names, (ModeNames{{"north", "old, town"}, {"tue", "mon"}, {"2", "10"}}))
      << "numbers in their order, others as they come";
  EXPECT_EQ(entries_of_target(data).values, (std::vector<double>{0, 3, 4, 0, 0, 0, 1.5, 0}));
  const TensorData plain = read_tensor(folder.with("t.tsv", "a\tx\t1\t2\nb\tx\t3\t5\n"));
  EXPECT_EQ(plain.shape, (std::vector<Index>{2, 1, 2}));
  EXPECT_TRUE(plain.labels.empty());
}

TEST(TensorFile, LongTablesAreReadInPiecesToTheSameEntries) {
  const ScratchDirectory folder;
  std::string text;
  for (int i = 0; i < 60000; ++i) text += fmt::format("row {},{},{},{}\n", i % 300, i / 300, i % 7, i);
  const auto path = folder.with("t.csv", text);
  const TensorData one = read_tensor(path, 1), many = read_tensor(path, 3);
  EXPECT_EQ(one.shape, (std::vector<Index>{300, 200, 7}));
  EXPECT_EQ(one.names, many.names);
  EXPECT_EQ(one.target->squared_norm(), many.target->squared_norm());
}

TEST(TensorFile, DefectsOfTablesAreNamedWithTheirLine) {
  const ScratchDirectory folder;
  for (const auto& [text, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a,b,c,1\na,b,2\n", "line 2: the value is missing"},
           {"a,b,c,1\na,b\n", "line 2: 2 cells; an entry here has 3 ids and a value"},
           {"a,b,c,1\na,,c,2\n", "line 2: the id of mode 1 is empty"},
           {"a,b,c,1\na,b,d,x\n", "line 2: value 'x' is not a finite number"},
           {"a,b,c,1\na,b,d,inf\n", "line 2: value 'inf' is not a finite number"},
           {"a,b,c,1\na,b,d,2,3\n", "line 2: unexpected '3' after the end of the entry"},
           {"i,j,k,value\na,b,c,1\na,b,d,1\na,b,c,3\n", "line 4: this place was already given on line 2"},
           {"i,j,k,value\n", "the file lists no entry"},
           {"a,1\n", "line 1: 2 cells; an entry has 2 to 8 ids and a value"},
           {"1,2,3,4,5,6,7,8,9,10\n", "line 1: 10 cells"}})
    EXPECT_THAT(message_of<InvalidInput>([&, given = text] { read_tensor(folder.with("t.csv", given)); }),
                HasSubstr(message))
        << text;
}

TEST(TensorFile, ArchivesMayHoldNames) {
  const ScratchDirectory folder;
  const PlainTensor t = gaussian_tensor({2, 3, 2}, 1);
  NpzArchive archive{{"x", NpyArray{t.shape, t.values}},
                     {"names_1", NpyArray{{3}, std::vector<std::string>{"a", "b", "c"}}}};
  write_npz(folder / "t.npz", archive);
  EXPECT_TRUE(is_tensor_file(folder / "t.npz"));
  EXPECT_EQ(read_tensor(folder / "t.npz").names, (ModeNames{{}, {"a", "b", "c"}, {}}));
  archive["names_1"] = NpyArray{{2}, std::vector<std::string>{"a", "b"}};
  write_npz(folder / "t.npz", archive);
  EXPECT_THAT(message_of<InvalidInput>([&] { read_tensor(folder / "t.npz"); }),
              HasSubstr("names of mode 1 must be a list of texts, one for each of its 3 indices"));
  ModelFile file;
  file.model = {random_factors({4, 3, 2}, 2, 1), Vector::Ones(2)};
  file.mode_names = {{}, {"a", "b", "c"}, {"p", "q"}};
  save_model(folder / "m.npz", file);
  const AnyModelFile any = load_any_model(folder / "m.npz");
  EXPECT_EQ(std::get<ModelFile>(any).mode_names, file.mode_names);
}

TEST(TensorFile, MatricesAreNotTakenForArrays) {
  const ScratchDirectory folder;
  EXPECT_FALSE(is_tensor_file(folder.with("m.npy", format_npy(Matrix(Matrix::Ones(2, 3))))));
  EXPECT_FALSE(is_tensor_file(folder.with("m.csv", "1,2\n3,4\n")));
  EXPECT_FALSE(is_tensor_file(folder / "missing.npy"));
  write_matrix(folder / "s.npz", {SparseMatrix(Matrix(Matrix::Identity(3, 3)).sparseView()), {}, {}});
  EXPECT_FALSE(is_tensor_file(folder / "s.npz"));
}

TEST(TensorFile, APipeIsNotReadToFindOutWhatItIs) {
  const ScratchDirectory folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(is_tensor_file(pipe));
}

struct BadTensor {
  const char* text;
  const char* message;
};

TEST(TensorFile, DefectsOfTextAreNamedWithTheirLine) {
  const ScratchDirectory folder;
  for (const auto& [text, message] :
       {BadTensor{"1 1 1 2\n1 1 2\n", "line 2: the value is missing"},
        BadTensor{"1 1 1 2\n1 1\n", "line 2: 2 numbers; an entry here has 3 indices and a value"},
        BadTensor{"1 1 1 2\n1 0 1 2\n", "line 2: index '0' of mode 1 is not a whole number from 1"},
        BadTensor{"1 1 1 2\n1 x 1 2\n", "line 2: index 'x' of mode 1"},
        BadTensor{"1 1 1 2\n1 99999999999 1 2\n", "line 2: index '99999999999' of mode 1"},
        BadTensor{"1 1 1 2\n\n1 2 1 nan\n", "line 3: value 'nan' is not a finite number"},
        BadTensor{"1 1 1 2\n1 2 1 3 4\n", "line 2: unexpected '4' after the end of the entry"},
        BadTensor{"1 1 1 2\n# x\n2 1 1 3\n1 1 1 4\n", "line 4: this place was already given on line 1"},
        BadTensor{"1 2\n", "line 1: 2 numbers; an entry has 2 to 8 indices and a value"},
        BadTensor{"1 1 1 1 1 1 1 1 1 2\n", "line 1: 10 numbers"},
        BadTensor{"# nothing\n", "the file lists no entry"},
        BadTensor{"1 1 2000000000 2\n", "this is no array of data"}}) {
    EXPECT_THAT(message_of<InvalidInput>([&] { read_tensor(folder.with("t.tns", text)); }),
                HasSubstr(message))
        << text;
  }
}

TEST(TensorFile, DefectsOfArraysAreNamed) {
  const ScratchDirectory folder;
  PlainTensor t({2, 3, 2});
  t.values[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message_of<InvalidInput>([&] { read_tensor(folder.with("t.npy", npy_of(t))); }),
              HasSubstr("the entry at (1, 0, 1) (counted from 0) is nan"));
  EXPECT_THAT(message_of<InvalidInput>([&] {
                read_tensor(folder.with("t.npy", npy_of(PlainTensor({2, 0, 2}))));
              }),
              HasSubstr("mode 1 has size 0"));
  EXPECT_THAT(message_of<InvalidInput>([&] {
                read_tensor(folder.with("t.npy", npy_of(PlainTensor({1, 1, 1, 1, 1, 1, 1, 1, 1}))));
              }),
              HasSubstr("an array of 9 modes; allowed are 2 to 8"));
  const auto coordinates = [&](std::vector<std::int64_t> coords, double fill) {
    write_npz(folder / "c.npz", {{"coords", NpyArray{{3, 2}, std::move(coords)}},
                                 {"data", NpyArray{{2}, std::vector<double>{3, 4}}},
                                 {"shape", NpyArray{{3}, std::vector<std::int64_t>{3, 2, 2}}},
                                 {"fill_value", NpyArray{{}, std::vector<double>{fill}}}});
    return message_of<InvalidInput>([&] { read_tensor(folder / "c.npz"); });
  };
  EXPECT_THAT(coordinates({0, 3, 1, 0, 1, 1}, 0), HasSubstr("entry 2: index 3 of mode 0 lies outside 0..2"));
  EXPECT_THAT(coordinates({0, 1, 1, 0, 1, 1}, 7), HasSubstr("places that are not listed are 7"));
  EXPECT_THAT(coordinates({0, 0, 1, 1, 1, 1}, 0), HasSubstr("entries 1 and 2 are the same place"));
}

TEST(TensorFile, ModelsKeepAllTheirModes) {
  const ScratchDirectory folder;
  for (const auto& panel_of : {std::vector<Index>{0, 1, 2}, std::vector<Index>{0, 0, 1}}) {
    std::vector<Panel> panels;
    for (Index p = 0; p <= panel_of.back(); ++p) panels.push_back(gaussian(4, 2, std::uint64_t(p)));
    ModelFile file;
    file.model = {Factors(panels, panel_of), Vector::Ones(2)};
    file.metadata = {{"stop", "rank_reached"}};
    save_model(folder / "m.npz", file);
    const AnyModelFile any = load_any_model(folder / "m.npz");
    const auto& back = std::get<ModelFile>(any);
    ASSERT_EQ(back.model.factors.modes(), 3);
    EXPECT_EQ(back.model.factors.panels(), Index(panels.size()));
    for (Index m = 0; m < 3; ++m) EXPECT_EQ(back.model.factors[m], file.model.factors[m]);
    EXPECT_THAT(message_of<InvalidInput>([&] { load_model(folder / "m.npz"); }),
                HasSubstr("a model of 3 modes, where one of a matrix is needed"));
    write_tensor(folder / "x.npy", back.model);
    EXPECT_LT(distance(entries_of_target(read_tensor(folder / "x.npy")), dense(file.model)), 1e-12);
  }
}

TEST(TensorFile, ModelsOfModesThatDoNotBelongTogetherAreRefused) {
  const ScratchDirectory folder;
  ModelFile file;
  file.model = {random_factors({4, 3, 2}, 2, 1), Vector::Ones(2)};
  save_model(folder / "m.npz", file);
  const NpzArchive sound = read_npz(folder / "m.npz");
  const auto damaged = [&](const std::string& name, const NpyArray& array) {
    NpzArchive archive = sound;
    archive[name] = array;
    write_npz(folder / "d.npz", archive);
    return message_of<InvalidInput>([&] { load_any_model(folder / "d.npz"); });
  };
  EXPECT_THAT(damaged("factor_2", NpyArray{{2, 3}, std::vector<double>(6, 1.0)}),
              HasSubstr("2 and 3 atoms do not belong together"));
  EXPECT_THAT(damaged("weights", NpyArray{{3}, std::vector<double>(3, 1.0)}),
              HasSubstr("do not belong together"));
  NpzArchive one_mode = sound;
  one_mode.erase("factor_1");
  one_mode.erase("factor_2");
  write_npz(folder / "d.npz", one_mode);
  EXPECT_THAT(message_of<InvalidInput>([&] { load_any_model(folder / "d.npz"); }),
              HasSubstr("factors of 1 modes"));
}

}  // namespace
}  // namespace pursuit::io
