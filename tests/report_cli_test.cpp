// `pursuit report` from the outside, and its pages as a browser shows them.

#include "cli_support.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ReportCli : public ProgramTest {
 protected:
  static std::string model(const std::string& name) {
    return (fs::path(PURSUIT_SOURCE_DIR) / "tests/models" / (name + ".npz")).string();
  }

  /// Column names that would be scripts, and the page of a factorization of them.
  void write_hostile_page() const {
    std::string table = "\"<script>document.body.dataset.broken='yes'</script>\",\"<img src=x>\",b,c,d,e\n";
    for (int i = 0; i < 9; ++i)
      table += fmt::format("{},{},{},{},{},{}\n", i, i % 2 + 1, 9 - i, i % 3 + 0.5, 4, i * i % 5);
    write("hostile.csv", table);
    ASSERT_EQ(
        run("factor hostile.csv --rank 3 --left nonneg --right nonneg --weights nonneg --out m.npz").status,
        0);
    const Finished finished = run("report m.npz --out page.html --lines");
    ASSERT_EQ(finished.status, 0) << finished.err;
  }

  /// The page after its script and `probe` have run, as the browser has it.
  std::string rendered(const std::string& probe) const {
    std::string page = read("page.html");
    page.insert(page.rfind("</body>"), "<script>" + probe + "</script>");
    write("probed.html", page);
    return browser("--dump-dom", "probed.html");
  }

  std::string browser(const std::string& what, const std::string& page) const {
    const std::string command = fmt::format(
        "cd '{0}' && HOME='{0}' timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars "
        "--user-data-dir='{0}/profile' --window-size=1200,2400 {1} 'file://{0}/{2}' > dom.txt 2> browser.txt "
        "< /dev/null",
        path("."), what, page);
    EXPECT_EQ(std::system(command.c_str()), 0) << read("browser.txt");
    return read("dom.txt");
  }
};

#define SKIP_WITHOUT_CHROMIUM()                                 \
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) \
  GTEST_SKIP() << "chromium is not installed: pages are not looked at"

TEST_F(ReportCli, EveryModelHasAPage) {
  for (const char* name : {"factor", "symmetric", "fixed", "per_atom", "pca", "sparse_pca", "completion",
                           "features", "no_ids", "structured"}) {
    SCOPED_TRACE(name);
    const auto answer = run_json(fmt::format("report '{}' --out page.html", model(name)));
    EXPECT_EQ(answer["output"], "page.html");
    const std::string page = read("page.html");
    EXPECT_EQ(answer["bytes"], page.size());
    EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
    EXPECT_THAT(page, testing::EndsWith("</html>\n"));
    EXPECT_THAT(page, HasSubstr(fmt::format("<h1>{}.npz</h1>", name)));
  }
}

TEST_F(ReportCli, TakesTitleLabelsAndShape) {
  const auto inspected = run_json(fmt::format("inspect '{}'", model("factor")));
  const int rows = inspected["rows"], columns = inspected["columns"];
  std::string labels;
  for (int i = 0; i < rows; ++i) labels += i % 2 == 0 ? "even\n" : "odd\n";
  write("labels.txt", labels);
  const Finished finished = run(
      fmt::format("report '{}' --out page.html --title 'My parts' --labels labels.txt --shape 1x{} --top 3",
                  model("factor"), columns));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("report written to page.html"));
  const std::string page = read("page.html");
  EXPECT_THAT(page, HasSubstr("<h1>My parts</h1>"));
  EXPECT_THAT(page, HasSubstr("mean of even"));
  EXPECT_THAT(page, HasSubstr("crispEdges"));
}

TEST_F(ReportCli, RefusesWhatItCannotShow) {
  write("labels.txt", "a\nb\n");
  write("text.npz", "no model");
  const std::string factor = model("factor");
  expect_refused({
      {"no model", "report missing.npz --out page.html", 3, "missing.npz"},
      {"not a model", "report text.npz --out page.html", 3, "text.npz"},
      {"no output", fmt::format("report '{}'", factor), 2, "--out"},
      {"a folder that is not there", fmt::format("report '{}' --out nowhere/page.html", factor), 4,
       "nowhere"},
      {"its own model", "report text.npz --out text.npz", 2, "an input of this run"},
      {"shape", fmt::format("report '{}' --out page.html --shape 64", factor), 2, "--shape 64"},
      {"shape of words", fmt::format("report '{}' --out page.html --shape axb", factor), 2, "64x48"},
      {"shape that does not fit", fmt::format("report '{}' --out page.html --shape 50x50", factor), 2,
       "2500 places"},
      {"labels", fmt::format("report '{}' --out page.html --labels labels.txt", factor), 3, "2 labels"},
      {"top", fmt::format("report '{}' --out page.html --top 0", factor), 2, "at least 1"},
  });
}

TEST_F(ReportCli, ABrowserRunsNoNameAndSortsTables) {
  SKIP_WITHOUT_CHROMIUM();
  write_hostile_page();
  const std::string dom = rendered(R"(
    const table = document.querySelector('#weights table');
    const cells = column => [...table.tBodies[0].rows].map(row => Number(row.cells[column].dataset.value));
    const ordered = values => values.every((v, i) => i === 0 || values[i - 1] <= v);
    table.tHead.rows[0].cells[1].click();
    document.body.dataset.down = ordered(cells(1).reverse());
    table.tHead.rows[0].cells[1].click();
    document.body.dataset.up = ordered(cells(1));
    document.body.dataset.titles = document.querySelectorAll('svg g title').length;
    document.body.dataset.tips = document.querySelectorAll('[data-tip]').length > 10;
    document.body.dataset.images = document.querySelectorAll('img').length;
    const overflow = document.documentElement.scrollWidth > innerWidth;
    document.body.dataset.overflow = overflow;
    const colour = () => getComputedStyle(document.body).backgroundColor;
    document.documentElement.dataset.theme = 'light';
    document.body.dataset.light = colour();
    document.documentElement.dataset.theme = 'dark';
    document.body.dataset.dark = colour();
    const bar = document.querySelector('#atoms [data-tip]');
    bar.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: 9, clientY: 9}));
    document.body.dataset.shown = document.getElementById('tip').textContent === bar.dataset.tip;
  )");
  const std::size_t at = dom.find("<body");
  ASSERT_NE(at, std::string::npos);
  const std::string body = dom.substr(at, dom.find('>', at) - at);
  for (const char* fact :
       {"data-ready=\"yes\"", "data-down=\"true\"", "data-up=\"true\"", "data-titles=\"0\"",
        "data-tips=\"true\"", "data-images=\"0\"", "data-overflow=\"false\"",
        "data-light=\"rgb(255, 255, 255)\"", "data-dark=\"rgb(20, 24, 29)\"", "data-shown=\"true\""})
    EXPECT_THAT(body, HasSubstr(fact));
  EXPECT_THAT(body, Not(HasSubstr("broken"))) << "a name ran as a script";
}

TEST_F(ReportCli, ABrowserFindsNothingOverBarsWhateverNamesThereAre) {
  SKIP_WITHOUT_CHROMIUM();
  std::string table;
  const std::string name = "a column whose name goes on and on, with number ";
  for (int j = 0; j < 6; ++j) table += fmt::format("{}\"{}{}\"", j > 0 ? "," : "patient,", name, j);
  table += "\n";
  for (int i = 0; i < 9; ++i)
    table += fmt::format("the {}th patient of the second ward,{},{},{},{},{},{}\n", i, i, i % 2 + 1, 9 - i,
                         i % 3 + 0.5, i * i % 7, i * i % 5);
  write("long.csv", table);
  ASSERT_EQ(run("factor long.csv --rank 3 --left nonneg --right nonneg --weights nonneg --out m.npz").status,
            0);
  ASSERT_EQ(run("pca long.csv --components 2 --out p.npz").status, 0);
  for (const char* model : {"m.npz", "p.npz"}) {
    ASSERT_EQ(run(fmt::format("report {} --out page.html", model)).status, 0);
    const std::string dom = rendered(R"(
      let over = 0, bars = 0, names = new Set();
      for (const group of document.querySelectorAll('#atoms svg g')) {
        const bar = group.querySelector('.up, .down'), texts = group.querySelectorAll('text');
        if (!bar || texts.length < 2) continue;
        const box = bar.getBoundingClientRect();
        names.add(texts[0].textContent);
        ++bars;
        for (const text of texts) {
          const own = text.getBoundingClientRect();
          if (own.left < box.right - 0.5 && box.left < own.right - 0.5) ++over;
          if (own.left < group.ownerSVGElement.getBoundingClientRect().left - 1) ++over;
        }
      }
      document.body.dataset.bars = bars > 20;
      document.body.dataset.names = names.size;
      document.body.dataset.over = over;
      document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth;
    )");
    const std::size_t at = dom.find("<body");
    ASSERT_NE(at, std::string::npos);
    const std::string body = dom.substr(at, dom.find('>', at) - at);
    for (const char* fact :
         {"data-bars=\"true\"", "data-over=\"0\"", "data-overflow=\"false\"", "data-names=\"15\""})
      EXPECT_THAT(body, HasSubstr(fact)) << model;
  }
}

TEST_F(ReportCli, ABrowserDrawsThePage) {
  SKIP_WITHOUT_CHROMIUM();
  write_hostile_page();
  browser("--screenshot=page.png", "page.html");
  const std::string picture = read("page.png");
  ASSERT_THAT(picture, HasSubstr("IHDR"));
  EXPECT_GT(picture.size(), 30'000U) << "an empty page is smaller";
  browser("--print-to-pdf=page.pdf", "page.html");
  EXPECT_THAT(read("page.pdf").substr(0, 5), "%PDF-");
}

}  // namespace
}  // namespace pursuit
