// The server as whoever asks it meets it: over a socket, on a port that was free.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli_support.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A connection to this machine; everything that comes until the other end closes it.
class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  bool is_open() const { return open_; }
  void send(const std::string& text) const { ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  std::string receive_all() const {
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(socket_, buffer, sizeof buffer, 0)) > 0;)
      text.append(buffer, std::size_t(got));
    return text;
  }

 private:
  int socket_;
  bool open_ = false;
};

struct HttpAnswer {
  int status = 0;
  json body;
};

HttpAnswer parsed(const std::string& text) {
  const std::size_t head = text.find("\r\n\r\n");
  if (text.size() < 12 || head == std::string::npos) return {};
  return {std::atoi(text.c_str() + 9), json::parse(text.substr(head + 4), nullptr, false)};
}

class ServeCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (run("serve nothing.npz").err.find("built without") != std::string::npos)
      GTEST_SKIP() << "the program was built without serve";
    ASSERT_EQ(
        run("generate ratings --rows 60 --cols 40 --entries 900 --rank 2 --noise 0.3 --seed 3 --out r.csv")
            .status,
        0);
    ASSERT_EQ(run("complete r.csv --rank 2 --out m.npz").status, 0);
    write("names.csv", "id,title\n1,One\n2,\"Two, the second\"\n");
  }
  void TearDown() override {
    if (process_ > 0) end(SIGKILL);
    ProgramTest::TearDown();
  }

  /// Starts the server and waits until it says where it listens.
  void start(const std::string& options = "") {
    process_ = ::fork();
    if (process_ == 0) {
      const std::string command =
          fmt::format("cd '{}' && exec '{}' serve m.npz --port 0 {} > out.txt 2> err.txt", path("."),
                      PURSUIT_PROGRAM, options);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    for (int k = 0; k < 3000 && port_ == 0; ++k) {
      const std::string said = read("out.txt");
      if (const std::size_t at = said.find("127.0.0.1:"); said.ends_with('\n') && at != std::string::npos)
        port_ = std::atoi(said.c_str() + at + 10);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_GT(port_, 0) << read("err.txt");
  }
  int end(int signal) {
    ::kill(process_, signal);
    return wait_for_the_end();
  }
  int wait_for_the_end() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  void signal(int number) const { ::kill(process_, number); }

  HttpAnswer get(const std::string& target) const {
    const Connection connection(port_);
    connection.send(fmt::format("GET {} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", target));
    return parsed(connection.receive_all());
  }
  HttpAnswer post(const std::string& target, const std::string& body) const {
    const Connection connection(port_);
    connection.send(fmt::format(
        "POST {} HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        target, body.size(), body));
    return parsed(connection.receive_all());
  }
  /// What the server has told, once it has told it.
  bool tells(const std::string& words) const {
    for (int k = 0; k < 1000; ++k) {
      if (read("err.txt").find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  int port() const { return port_; }

 private:
  pid_t process_ = -1;
  int port_ = 0;
};

TEST_F(ServeCli, AnswersAsTheCommandsDo) {
  start("--names names.csv:title");
  const HttpAnswer health = get("/health");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body["rows"], 60);
  EXPECT_EQ(health.body["columns"], 40);

  write("pairs.csv", "1,2\n7,999\n");
  const json predicted = run_json("predict m.npz pairs.csv")["predictions"];
  EXPECT_EQ(post("/predict", R"({"pairs": [["1", "2"], [7, "999"]]})").body["predictions"], predicted);
  EXPECT_EQ(get("/predict?row=1&column=2").body["predictions"][0], predicted[0]);

  const json listed = run_json(
      "recommend m.npz --row 1 --row 5 --top 4 --names names.csv:title --explain 2")["recommendations"];
  EXPECT_EQ(post("/recommend", R"({"rows": [1, "5"], "top": 4, "explain": 2})").body["recommendations"],
            listed);
  EXPECT_EQ(get("/recommend?row=1&top=4&explain=2").body["recommendations"][0], listed[0]);
  EXPECT_EQ(get("/recommend?row=1&exclude_seen=false&top=1000").body["recommendations"][0]["columns"].size(),
            40U);

  const json alike = run_json("similar m.npz --column 2 --top 3 --names names.csv:title")["lists"];
  EXPECT_EQ(get("/similar?column=2&top=3").body["lists"], alike);
  EXPECT_EQ(post("/similar", R"({"rows": ["3", "4"]})").body["lists"].size(), 2U);
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(ServeCli, ListsGoTheOtherWayRoundToo) {
  start();
  const json listed = run_json("recommend m.npz --column 3 --column 4 --top 5")["recommendations"];
  EXPECT_EQ(post("/recommend", R"({"columns": [3, 4], "top": 5})").body["recommendations"], listed);
  EXPECT_EQ(get("/recommend?column=3&top=5").body["recommendations"][0], listed[0]);
  EXPECT_EQ(listed[0]["rows"].size(), 5U);
  EXPECT_EQ(get("/recommend?column=none").status, 404);
  EXPECT_EQ(get("/recommend?column=3&row=1").status, 400);
}

TEST_F(ServeCli, NewcomersComeWithTheirEntries) {
  start();
  write("new.csv", "somebody,3,5\nsomebody,4,1\n");
  write("block.txt", "7\n");
  const json shell =
      run_json("recommend m.npz --for new.csv --top 3 --block block.txt --explain 1")["recommendations"][0];
  const json web =
      post("/recommend", R"({"entries": {"3": 5, "4": 1}, "top": 3, "block": [7], "explain": 1})")
          .body["recommendations"][0];
  ASSERT_EQ(web["columns"].size(), 3U);
  EXPECT_EQ(web["columns"], shell["columns"]);
  EXPECT_TRUE(web["row"].is_null());
}

TEST_F(ServeCli, WhatMakesNoSenseGetsOneErrorAndChangesNothing) {
  start("--max-body 0.01");
  struct Wrong {
    std::string target, body;
    int status;
    std::string message;
  };
  for (const Wrong& wrong :
       std::vector<Wrong>{{"/recommend", "{", 400, "no JSON"},
                          {"/recommend", "[]", 400, "object"},
                          {"/recommend", std::string(5000, '['), 400, "deep"},
                          {"/recommend", "{}", 400, "row"},
                          {"/recommend", R"({"row": "nobody"})", 404, "nobody"},
                          {"/recommend", R"({"row": "1", "top": 0})", 400, "top"},
                          {"/recommend", R"({"row": "1", "top": 1.5})", 400, "top"},
                          {"/recommend", R"({"row": "1", "topp": 3})", 400, "topp"},
                          {"/recommend", R"({"row": ["1"]})", 400, "ids"},
                          {"/recommend", R"({"row": "1", "rows": ["1"]})", 400, "choose one"},
                          {"/recommend", R"({"row": "1", "optimism": "much"})", 400, "optimism"},
                          {"/recommend", R"({"entries": {"none": 1}})", 404, "none"},
                          {"/recommend", R"({"entries": {"1": "x"}})", 400, "number"},
                          {"/recommend", R"({"entries": {}})", 400, "entries"},
                          {"/recommend", R"({"row": 1e999})", 400, "JSON"},
                          {"/predict", R"({"pairs": [[1]]})", 400, "pairs"},
                          {"/predict", R"({"row": 1})", 400, "column"},
                          {"/similar", R"({"column": "none"})", 404, "none"},
                          {"/similar", "{}", 400, "column"},
                          {"/elsewhere", "{}", 404, "/health"},
                          {"/predict", std::string(20000, ' '), 413, "0.01 MiB"}}) {
    const HttpAnswer answer = post(wrong.target, wrong.body);
    EXPECT_EQ(answer.status, wrong.status) << wrong.target << " " << wrong.body.substr(0, 60);
    ASSERT_TRUE(answer.body.is_object() && answer.body.contains("error")) << wrong.body.substr(0, 60);
    EXPECT_THAT(answer.body["error"].get<std::string>(), HasSubstr(wrong.message));
  }
  EXPECT_EQ(get("/elsewhere").status, 404);
  const Connection garbage(port());
  garbage.send("this is no HTTP\r\n\r\n");
  EXPECT_THAT(garbage.receive_all(), HasSubstr("400"));
  EXPECT_EQ(get("/health").status, 200);
}

TEST_F(ServeCli, TheModelIsReadAgainOnHangupUnlessItCannotBe) {
  start();
  ASSERT_EQ(get("/health").body["rows"], 60);
  ASSERT_EQ(run("generate ratings --rows 50 --cols 40 --entries 700 --rank 2 --seed 4 --out s.csv").status,
            0);
  ASSERT_EQ(run("complete s.csv --rank 1 --out m.npz").status, 0);
  signal(SIGHUP);
  ASSERT_TRUE(tells("read again"));
  EXPECT_EQ(get("/health").body["rows"], 50);
  write("m.npz", "no model at all");
  signal(SIGHUP);
  ASSERT_TRUE(tells("the model there is stays"));
  EXPECT_EQ(get("/health").body["rows"], 50);
  EXPECT_EQ(get("/recommend?row=1").status, 200);
}

TEST_F(ServeCli, ItEndsAfterTheQuestionsThatWereAsked) {
  start();
  const Connection half(port());
  ASSERT_TRUE(half.is_open());
  half.send(
      "POST /recommend HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{\"row\"");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it is being read by now
  signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(Connection(port()).is_open()) << "nobody new is let in";
  half.send(": \"1\"}");
  const HttpAnswer answer = parsed(half.receive_all());
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(wait_for_the_end(), 0);
}

TEST_F(ServeCli, ManyAtOnceGetTheSameAnswersAndTooManyAreToldSo) {
  start("--connections 2 --waiting 1");
  const json expected = get("/recommend?row=1&top=5").body;
  std::vector<std::thread> clients;
  std::atomic<int> right = 0, refused = 0, wrong = 0;
  for (int k = 0; k < 12; ++k)
    clients.emplace_back([&] {
      for (int q = 0; q < 20; ++q) {
        const HttpAnswer answer = get("/recommend?row=1&top=5");
        ++(answer.status == 200 && answer.body == expected ? right : answer.status == 503 ? refused : wrong);
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_GT(right, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(right + refused, 240);
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(ServeCli, WhatItCannotStartWithIsRefused) {
  start();
  expect_refused({{"no model", "serve none.npz", 3, "none.npz"},
                  {"taken", fmt::format("serve m.npz --port {}", port()), 2, "cannot listen"},
                  {"port", "serve m.npz --port 70000", 2, "70000"},
                  {"body", "serve m.npz --port 0 --max-body 0", 2, "--max-body 0"},
                  {"names", "serve m.npz --port 0 --names nothing.csv", 3, "nothing.csv"}});
}

}  // namespace
}  // namespace pursuit
