#include "faults/moving_name.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <mutex>

namespace holdfast::faults {
namespace {

std::mutex guard;
std::vector<std::string> leads_to;
std::atomic<int> hanging{0};
std::atomic<bool> may_go{false};

using look_up = int(const char*, const char*, const addrinfo*, addrinfo**);

look_up& system_look_up() {
  static auto* const found = reinterpret_cast<look_up*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return *found;
}

int look_up_all(const std::vector<std::string>& numbers, const char* port, const addrinfo* hints,
                addrinfo** into) {
  *into = nullptr;
  for (const auto& number : numbers) {
    if (const int code = system_look_up()(number.c_str(), port, hints, into); code != 0) {
      return code;
    }
    while (*into != nullptr) into = &(*into)->ai_next;
  }
  return numbers.empty() ? EAI_NONAME : 0;
}

}  // namespace

void lead_to(std::vector<std::string> addresses) {
  const std::lock_guard lock(guard);
  leads_to = std::move(addresses);
}

int hanging_look_ups() { return hanging; }

void let_hanging_look_ups_go() {
  may_go = true;
  may_go.notify_all();
}

}  // namespace holdfast::faults

// Instead of that of the C library, which freeaddrinfo() knows lists of.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** into) {
  using namespace holdfast::faults;
  if (host != nullptr && host == std::string(hanging_name) &&
      (hints->ai_flags & AI_NUMERICHOST) == 0) {
    ++hanging;
    may_go.wait(false);
    return EAI_NONAME;
  }
  const bool numeric = hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (host == nullptr || numeric || host != std::string(moving_name)) {
    return system_look_up()(host, port, hints, into);
  }
  std::vector<std::string> numbers;
  {
    const std::lock_guard lock(guard);
    numbers = leads_to;
  }
  return look_up_all(numbers, port, hints, into);
}
