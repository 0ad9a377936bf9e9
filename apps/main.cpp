#include <fmt/format.h>

#include <exception>
#include <sstream>

#include "apps/console.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/model_file.hpp"

namespace {

constexpr const char* kFooter = R"(Examples:
  pursuit factor faces.npy --rank 20 --left nonneg --right nonneg --weights nonneg --out parts.npz
  pursuit factor counts.mtx.gz --rank 10 --right sparse:40 --out topics.npz
  pursuit pca expression.csv --components 5 --atoms sparse:300 --out signatures.npz
  pursuit complete ratings.dat --holdout 0.1 --out model.npz
  pursuit recommend model.npz --row 42 --top 10 --exclude-seen
  pursuit atoms nonneg+unimodal
  pursuit inspect parts.npz
  pursuit demo

Exit status: 0 success, 2 a wrong option, 3 input that cannot be used, 4 output that cannot be written,
1 anything unexpected, 130, 143 or 129 stopped by Ctrl-C, SIGTERM or SIGHUP (the result so far is kept).)";

int fail(int status, const char* what) {
  pursuit::app::tell("pursuit: {}\n", what);
  return status;
}

/// What CLI11 has to say, through our streams.
int finish_parsing(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out, err;
  const int status = app.exit(error, out, err);
  pursuit::app::write_to_stdout(out.str());
  pursuit::app::write_to_stderr(err.str());
  return status == 0 ? pursuit::app::success : pursuit::app::bad_usage;
}

int run(int argc, char** argv) {
  using namespace pursuit::app;
  CLI::App app("pursuit: approximate a matrix by a short sum of structured rank-one atoms", "pursuit");
  app.set_version_flag("--version", pursuit::version());
  app.require_subcommand(1);
  app.footer(kFooter);
  int status = success;
  remember_command(argc, argv);
  add_factor(app, status);
  add_pca(app, status);
  add_omp(app, status);
  add_complete(app, status);
  add_predict(app, status);
  add_recommend(app, status);
  add_evaluate(app, status);
  add_atoms(app, status);
  add_inspect(app, status);
  add_reconstruct(app, status);
  add_convert(app, status);
  add_demo(app, status);
  add_generate(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish_parsing(app, error);
  } catch (const pursuit::InvalidArgument& error) {
    return fail(bad_usage, error.what());
  } catch (const pursuit::InvalidInput& error) {
    return fail(bad_input, error.what());
  } catch (const pursuit::OutputFailure& error) {
    return fail(cannot_write, error.what());
  }
  return status == interrupted ? status_of_interrupt() : status;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pursuit::app;
  secure_standard_streams();
  int status = success;
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc&) {
    status = fail(internal_error, "not enough memory");
  } catch (const std::exception& error) {
    status = fail(internal_error, error.what());
  }
  return finish_stdout() || status != success ? status : int(cannot_write);
}
