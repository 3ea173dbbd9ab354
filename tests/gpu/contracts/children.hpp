// This program again, in processes of their own: what may end a CUDA context is tried in a child that answers on its standard
// output.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"

extern char** environ;

namespace contracts {

using Clock = std::chrono::steady_clock;

// All that a child said; `fault`: why that is not its whole answer.
struct Answer {
  std::string said;
  std::string fault;
};

// All that comes through a pipe until its writer ends or the time is up; `ended` says which.
inline std::string read_until(int from, Clock::time_point end, bool& ended) {
  std::string said;
  char buffer[512];
  for (ended = false; !ended;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{from, POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready <= 0) {
      return said;
    }
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count > 0) {
      said.append(buffer, static_cast<size_t>(count));
    }
    ended = count <= 0;
  }
  return said;
}

// Runs this program with `arguments`, at most until `end`; it must end with status 0.
inline Answer ask_child(std::vector<std::string> arguments, Clock::time_point end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return {"", text("pipe: %s", std::strerror(errno))};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  char program[] = "/proc/self/exe";
  std::vector<char*> words{program};
  for (std::string& argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);
  pid_t child = 0;
  const int refused = posix_spawn(&child, program, &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (refused != 0) {
    close(ends[0]);
    return {"", text("posix_spawn: %s", std::strerror(refused))};
  }
  bool ended = false;
  Answer answer{read_until(ends[0], end, ended), ""};
  close(ends[0]);
  if (!ended) {
    kill(child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    answer.fault = "not ended in time";
  } else if (status != 0) {
    answer.fault = text("status %d, said: %s", status, answer.said.c_str());
  }
  return answer;
}

// One line of a child's answer.
inline void tell_parent(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Ends a child at once: nothing more can be done with a context that is broken.
[[noreturn]] inline void leave_child() { std::_Exit(0); }

}  // namespace contracts
