// The symmetric experiments of the paper, each as a table (the paper's figure beside ours) and a picture.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <Eigen/QR>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>

#include "pursuit/algorithms/pca.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/baselines/baselines.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/report/svg.hpp"

namespace {

using namespace pursuit;

/// One data set of the paper: rows are samples.
struct Data {
  std::string name;
  Matrix samples;
  Index k;                     // non-zeros of a component
  double deflated, corrected;  // the paper's two numbers for five components
};

struct Experiment {
  std::string folder, out;
  Index components = 10;

  std::vector<Data> data() const {
    std::vector<Data> sets;
    const auto load = [&](const std::string& file) {
      return std::visit([](const auto& m) { return Matrix(m.template cast<double>()); },
                        read_matrix(folder + "/" + file).matrix);
    };
    sets.push_back({"Leukemia", load("leukemia_mll_72x12582.npy"), 300, 0.3438, 0.3472});
    sets.push_back({"CBCL", load("cbcl_2429x361.npy"), 200, 0.7231, 0.7326});
    return sets;
  }

  void write(const std::string& file, const std::string& table) const {
    std::cout << table << std::flush;
    std::filesystem::create_directories(out);
    write_file_atomically(std::filesystem::path(out) / file, table);
  }
  void plot(const std::string& file,
            const std::map<std::string, std::vector<std::pair<double, double>>>& lines,
            const PlotLabels& labels) const {
    std::vector<Series> series;
    for (const auto& [name, points] : lines) {
      Series one{name, Vector(Index(points.size())), Vector(Index(points.size()))};
      for (std::size_t i = 0; i < points.size(); ++i)
        one.x[Index(i)] = points[i].first, one.y[Index(i)] = points[i].second;
      series.push_back(std::move(one));
    }
    std::filesystem::create_directories(out);
    write_file_atomically(std::filesystem::path(out) / file, svg_line_plot(series, labels));
  }
};

/// The sparse PCA paragraph: truncated power method with deflation, the same corrected, and pca.
void sparse_pca(const Experiment& e) {
  std::string table =
      "| data | method | paper, plain | plain | span | seconds |\n|---|---|---|---|---|---|\n";
  for (const Data& d : e.data()) {
    const Covariance C = Covariance::of_samples(data_matrix(d.samples));
    for (const int corrections : {0, 3}) {
      const Timer timer;
      const Matrix U = baseline_components(Baseline::truncated_power, C,
                                           {.components = 5,
                                            .atoms = sparse(d.k),
                                            .deflation = Deflation::projection,
                                            .corrections = corrections});
      const ExplainedVariance explained = explained_variance(C, U);
      table +=
          fmt::format("| {} | truncated power{} | {} | {:.4f} | {:.4f} | {:.2f} |\n", d.name,
                      corrections ? ", corrected" : ", deflation", corrections ? d.corrected : d.deflated,
                      explained.plain, explained.span, timer.seconds());
    }
    for (const auto& [name, atoms] :
         {std::pair("pca", sparse(d.k)), std::pair("pca, non-negative", nonneg() + sparse(d.k))}) {
      const PcaResult result = pca(data_matrix(d.samples), {.components = 5, .atoms = atoms});
      table += fmt::format("| {} | {} | | {:.4f} | {:.4f} | {:.2f} |\n", d.name, name, result.explained_plain,
                           result.explained_span, result.seconds);
    }
  }
  e.write("sparse_pca.md", table);
}

/// Section 5, inadequacy of deflation: span explained for r = 1, 2, ... components.
void deflation(const Experiment& e) {
  for (const Data& d : e.data()) {
    const Covariance C = Covariance::of_samples(data_matrix(d.samples));
    std::string table =
        "| components | hotelling | projection | schur | orthogonal | orthogonal, corrected | pca "
        "|\n|---|---|---|---|---|---|---|\n";
    std::map<std::string, std::vector<std::pair<double, double>>> lines;
    for (Index r = 1; r <= e.components; ++r) {
      table += fmt::format("| {} |", r);
      const auto add = [&](const std::string& name, double span) {
        lines[name].emplace_back(double(r), span);
        table += fmt::format(" {:.4f} |", span);
      };
      const auto deflated = [&](Deflation method, int corrections) {
        return explained_variance(C, baseline_components(Baseline::truncated_power, C,
                                                         {.components = r,
                                                          .atoms = sparse(d.k),
                                                          .deflation = method,
                                                          .corrections = corrections}))
            .span;
      };
      add("hotelling", deflated(Deflation::hotelling, 0));
      add("projection", deflated(Deflation::projection, 0));
      add("schur", deflated(Deflation::schur, 0));
      add("orthogonal projection", deflated(Deflation::orthogonal_projection, 0));
      add("orthogonal projection, corrected", deflated(Deflation::orthogonal_projection, 3));
      add("pca", pca(data_matrix(d.samples), {.components = r, .atoms = sparse(d.k)}).explained_span);
      table += "\n";
    }
    e.write("deflation_" + d.name + ".md", d.name + ", variance explained by the span\n\n" + table + "\n");
    e.plot("deflation_" + d.name + ".svg", lines,
           {"Deflation against corrections, " + d.name, "components", "explained by the span"});
  }
}

/// The relative error of sum_i w_i u_i u_i^T with the best weights, from products with C alone.
double reconstruction_error(const LinearOperator& C, double squared_norm, const Matrix& U) {
  Matrix image;
  C.apply(U, image);
  const Vector targets = U.cwiseProduct(image).colwise().sum().transpose();
  const Matrix gram = (U.transpose() * U).cwiseAbs2();
  const Vector weights = gram.completeOrthogonalDecomposition().solve(targets);
  return std::sqrt(std::max(0.0, 1 - weights.dot(targets) / squared_norm));
}

/// Figure 1: reconstruction of the covariance by sparse non-negative atoms.
void reconstruction(const Experiment& e) {
  for (const Data& d : e.data()) {
    const auto data = data_matrix(d.samples);
    const Covariance C = Covariance::of_samples(data);
    const DataMatrixPtr operator_C = gram_matrix(centered(data), 1.0 / double(d.samples.rows() - 1));
    const double norm = operator_C->squared_norm();
    const Atoms atoms = nonneg() + sparse(d.k);
    std::string table =
        "| rank | emPCA, deflation | spannogram, deflation | pursuit, no corrections | pursuit "
        "|\n|---|---|---|---|---|\n";
    std::map<std::string, std::vector<std::pair<double, double>>> lines;
    const Matrix em = baseline_components(Baseline::empca, C, {.components = e.components, .atoms = atoms});
    const Matrix span =
        baseline_components(Baseline::spannogram, C, {.components = e.components, .atoms = atoms});
    FactorOptions greedy{.rank = e.components, .left = atoms, .corrections = 0, .polish = 0};
    const FactorResult plain = factor_symmetric(operator_C, greedy);
    for (Index r = 1; r <= e.components; ++r) {
      table += fmt::format("| {} |", r);
      const auto add = [&](const std::string& name, double error) {
        lines[name].emplace_back(double(r), error);
        table += fmt::format(" {:.4f} |", error);
      };
      add("emPCA", reconstruction_error(*operator_C, norm, em.leftCols(r)));
      add("spannogram", reconstruction_error(*operator_C, norm, span.leftCols(r)));
      add("pursuit, no corrections",
          plain.trace[std::size_t(std::min<Index>(r, Index(plain.trace.size())) - 1)].relative_error);
      // Gains are not nested, so every rank is a run of its own, and the best of a few.
      double best = 1;
      for (const int corrections : {2, 10})
        for (const int restarts : {8, 32})
          best = std::min(
              best,
              factor_symmetric(operator_C,
                               {.rank = r, .left = atoms, .corrections = corrections, .restarts = restarts})
                  .relative_error);
      add("pursuit", best);
      table += "\n";
    }
    e.write(
        "figure1_" + d.name + ".md",
        d.name + fmt::format(", relative error, sparse non-negative atoms, k = {}\n\n", d.k) + table + "\n");
    e.plot("figure1_" + d.name + ".svg", lines,
           {"Reconstruction error, " + d.name, "rank", "relative error"});
  }
}

/// Figure 2: one sparse non-negative component against the top eigenvector, for many k.
void variance_ratio(const Experiment& e) {
  for (const Data& d : e.data()) {
    const auto data = data_matrix(d.samples);
    const Covariance C = Covariance::of_samples(data);
    const double top = pca(data, {.components = 1}).explained_span;
    std::string table =
        "| k | emPCA | spannogram d=2 | truncated power | pursuit | pursuit, seconds | spannogram, seconds "
        "|\n|---|---|---|---|---|---|---|\n";
    std::map<std::string, std::vector<std::pair<double, double>>> lines;
    for (const Index k : {20, 50, 100, 200, 300, 500, 1000}) {
      if (k > d.samples.cols()) continue;
      table += fmt::format("| {} |", k);
      const Atoms atoms = nonneg() + sparse(k);
      double spannogram_seconds = 0;
      const auto add = [&](const std::string& name, double explained) {
        lines[name].emplace_back(double(k), explained / top);
        table += fmt::format(" {:.6f} |", explained / top);
      };
      for (const auto& [name, method] :
           {std::pair("emPCA", Baseline::empca), std::pair("spannogram", Baseline::spannogram),
            std::pair("truncated power", Baseline::truncated_power)}) {
        const Timer timer;
        add(name,
            explained_variance(C, baseline_components(method, C, {.components = 1, .atoms = atoms})).plain);
        if (method == Baseline::spannogram) spannogram_seconds = timer.seconds();
      }
      const PcaResult result = pca(data, {.components = 1, .atoms = atoms});
      add("pursuit", result.explained_span);
      table += fmt::format(" {:.3f} | {:.3f} |\n", result.seconds, spannogram_seconds);
    }
    e.write("figure2_" + d.name + ".md",
            d.name + ", variance of one sparse non-negative component over that of the top eigenvector\n\n" +
                table + "\n");
    e.plot("figure2_" + d.name + ".svg", lines,
           {"One sparse non-negative component, " + d.name, "non-zeros", "variance over top eigenvector's"});
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "The symmetric experiments of Khanna, Tschannen and Jaggi (2016): tables on standard output, tables "
      "and pictures in a folder");
  Experiment experiment;
  app.require_subcommand(1);
  const std::vector<std::pair<std::string, std::function<void(const Experiment&)>>> all = {
      {"sparse-pca", sparse_pca},
      {"deflation", deflation},
      {"figure1", reconstruction},
      {"figure2", variance_ratio}};
  for (const auto& [name, run] : all) {
    CLI::App* sub = app.add_subcommand(name, "");
    sub->add_option("DATA", experiment.folder, "Folder with leukemia_mll_72x12582.npy and cbcl_2429x361.npy")
        ->required();
    sub->add_option("--out", experiment.out, "Folder for tables and pictures")->default_val("results");
    sub->add_option("--components", experiment.components, "Largest number of components")->default_val(10);
    sub->callback([&experiment, run = run] { run(experiment); });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "experiments: {}\n", error.what());
    return 1;
  }
  return 0;
}
