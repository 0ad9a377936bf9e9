#pragma once
// Questions to a model in JSON, and the answers: what `serve` gives to whoever asks over HTTP, of which
// nothing is known here.

#include <memory>
#include <mutex>
#include <string>

#include "apps/serving.hpp"

namespace pursuit::app {

struct Answer {
  int status;  // as HTTP counts: 200, 400 for a question that makes no sense, 404 for what there is not
  Json body;   // {"error": ...} where the status is not 200
};

class Service {
 public:
  /// Reads the model, and names where `names` is not empty.
  Service(std::string path, std::string names);

  /// /health, /predict, /recommend, /similar. Safe to ask from many threads.
  Answer answer(const std::string& endpoint, const Json& question) const;

  /// Reads model and names again; where they cannot be used those there are stay, and the error is thrown.
  void reload();

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> now() const;

  std::string path_, names_;
  mutable std::mutex swapping_;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace pursuit::app
