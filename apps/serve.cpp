// A model behind HTTP. Threads, sockets and signals are here, questions and answers in service.hpp; the one
// file that is compiled with cpp-httplib.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/console.hpp"
#include "apps/service.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"

#ifdef PURSUIT_HAS_HTTPLIB
#include <httplib.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#endif

namespace pursuit::app {
namespace {

struct ServeCommand {
  std::string model, names, host = "127.0.0.1";
  int port = 8080, connections = 32, waiting = 128;
  double max_body = 1;
};

#ifdef PURSUIT_HAS_HTTPLIB

constexpr int kIdleSeconds = 2;  // a connection without a question; as long may the end take
constexpr int kReadSeconds = 5;  // for the rest of a question
constexpr int kMostPerConnection = 10'000;

thread_local bool too_many = false;  // others wait already: this one is told to come back

/// Threads of their own for connections, and no more of these waiting than are worth it: the others get an
/// answer that says so.
class BoundedQueue : public httplib::TaskQueue {
 public:
  BoundedQueue(int connections, int waiting) : workers_(std::size_t(connections)), most_(waiting) {}

  void enqueue(std::function<void()> task) override {
    const bool refused = waiting_.fetch_add(1) >= most_;
    workers_.enqueue([this, refused, task = std::move(task)] {
      waiting_.fetch_sub(1);
      too_many = refused;
      task();
    });
  }
  void shutdown() override { workers_.shutdown(); }

 private:
  httplib::ThreadPool workers_;
  std::atomic<int> waiting_ = 0;
  const int most_;
};

void put(httplib::Response& response, const Answer& answer) {
  response.status = answer.status;
  response.set_content(answer.body.on_one_line() + "\n", "application/json");
}

/// What came in the body, or else in the address.
Json question_of(const httplib::Request& request) {
  if (request.method == "POST") return Json::parse(request.body);
  Json question = Json::object();
  for (const auto& [field, value] : request.params) question.set(field, value);
  return question;
}

void set_up(httplib::Server& server, const Service& service, const ServeCommand& c) {
  server.new_task_queue = [&c] { return new BoundedQueue(c.connections, c.waiting); };
  server.set_payload_max_length(std::size_t(c.max_body * 1048576));
  server.set_keep_alive_timeout(kIdleSeconds);
  server.set_keep_alive_max_count(kMostPerConnection);
  server.set_read_timeout(kReadSeconds);
  server.set_tcp_nodelay(true);
  server.set_socket_options([](socket_t socket) {  // a port is one server's, unlike by default
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_pre_routing_handler([](const httplib::Request&, httplib::Response& response) {
    if (!too_many) return httplib::Server::HandlerResponse::Unhandled;
    response.set_header("Connection", "close");
    response.set_header("Retry-After", "1");
    put(response, {503, {{"error", "too many questions wait already"}}});
    return httplib::Server::HandlerResponse::Handled;
  });
  const auto answer = [&service](const httplib::Request& request, httplib::Response& response) {
    try {
      put(response, service.answer(request.path, question_of(request)));
    } catch (const InvalidInput& error) {
      put(response, {400, {{"error", error.what()}}});
    }
  };
  server.Get(".*", answer);
  server.Post(".*", answer);
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        put(response, {500, {{"error", "something unexpected happened"}}});
      });
  server.set_error_handler([&c](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;
    std::string what = "a request that is not understood";
    if (response.status == 413) what = fmt::format("the body is larger than {:g} MiB", c.max_body);
    if (response.status == 404)
      what = fmt::format("{} is not understood; there are GET and POST", request.method);
    put(response, {response.status, {{"error", what}}});
  });
}

std::atomic<bool> end_asked = false, reload_asked = false;
sem_t asked;

void on_server_signal(int signal) {
  (signal == SIGHUP ? reload_asked : end_asked) = true;
  ::sem_post(&asked);
}

/// Hangup asks to read the model again, the others to end; of these a second one ends at once.
void watch_signals() {
  ::sem_init(&asked, 0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    action.sa_handler = on_server_signal;
    action.sa_flags = SA_RESTART | (signal == SIGHUP ? 0 : int(SA_RESETHAND));
    ::sigaction(signal, &action, nullptr);
  }
}

int run_serve(const ServeCommand& c) {
  if (!(c.max_body > 0 && c.max_body <= 1024))
    throw InvalidArgument(fmt::format("--max-body {}: must be above 0 and at most 1024 (MiB)", c.max_body));
  Service service(c.model, c.names);
  httplib::Server server;
  set_up(server, service, c);
  const int port =
      c.port == 0 ? server.bind_to_any_port(c.host) : (server.bind_to_port(c.host, c.port) ? c.port : -1);
  if (port <= 0)
    throw InvalidArgument(fmt::format(
        "--host {} --port {}: cannot listen there; is the port taken, or not allowed?", c.host, c.port));
  watch_signals();
  std::atomic<bool> failed = false;
  std::thread listening([&] {
    if (server.listen_after_bind()) return;
    failed = true;
    ::sem_post(&asked);
  });
  while (!server.is_running() && !failed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  say("listening on http://{}:{}\n", c.host, port);
  std::fflush(stdout);
  while (!end_asked && !failed) {
    if (::sem_wait(&asked) != 0 || !reload_asked.exchange(false)) continue;
    try {
      service.reload();
      tell("pursuit: {} read again\n", c.model);
    } catch (const std::exception& error) {
      tell("pursuit: warning: {}; the model there is stays\n", error.what());
    }
  }
  server.stop();  // no new connections; what was asked is answered
  listening.join();
  if (failed) throw InvalidArgument(fmt::format("--port {}: listening failed", c.port));
  tell("pursuit: stopped\n");
  return success;
}

#else

int run_serve(const ServeCommand&) {
  throw InvalidArgument(
      "serve: this program was built without it, for want of cpp-httplib (Debian: libcpp-httplib-dev)");
}

#endif

}  // namespace

void add_serve(Command& program) {
  Command sub = program.add_command("serve", "Answer questions to a model over HTTP, in JSON");
  auto c = std::make_shared<ServeCommand>();
  sub.footer(
      R"(GET with fields in the address, or POST of a JSON object with the same fields:
  /health
  /predict     row, column; or pairs: [[row, column], ...]
  /recommend   row, rows, or entries: {column: value, ...} of a newcomer; top, exclude_seen, candidates, block,
               optimism, explain
  /similar     column, columns, row or rows; top

SIGHUP reads the model again (one that cannot be used changes nothing), Ctrl-C and SIGTERM end after the questions
that were asked. There is no encryption and no login: on other addresses than this machine's own, put it behind a
server that has both.

Examples:
  pursuit serve model.npz --port 8080 --names movies.csv:title
  curl 'http://127.0.0.1:8080/recommend?row=42&top=5')");
  sub.add_option("MODEL", c->model, "A model written by complete or factor").required();
  sub.add_option("--port", c->port, "Port to listen on; 0 takes any that is free, and says which")
      .between(0, 65535)
      .show_default();
  sub.add_option("--host", c->host, "Address to listen on").show_default();
  sub.add_option("--names", c->names, "What to call columns: a table, FILE or FILE:COLUMN");
  sub.add_option("--connections", c->connections, "Connections that are served at the same time")
      .between(1, 4096)
      .show_default();
  sub.add_option("--waiting", c->waiting, "Connections that may wait for their turn; others get status 503")
      .between(0, 65536)
      .show_default();
  sub.add_option("--max-body", c->max_body, "Largest question, in MiB; others get status 413").show_default();
  sub.runs([c] { return run_serve(*c); });
}

}  // namespace pursuit::app
