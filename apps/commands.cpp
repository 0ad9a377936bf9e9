#include "apps/session.hpp"

namespace pursuit::app {

void add_commands(Command& program) {
  for (const auto add : {add_factor, add_pca, add_choose, add_consensus, add_omp, add_complete, add_predict,
                         add_recommend, add_similar, add_serve, add_evaluate, add_atoms, add_inspect,
                         add_report, add_reconstruct, add_convert, add_demo, add_generate, add_completions})
    add(program);
}

}  // namespace pursuit::app
