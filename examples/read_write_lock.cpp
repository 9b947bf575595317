// Many read, one writes; and a reader may become the writer without anybody writing in between.
#include <chrono>
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const auto url = server_url(argc, argv);
  const holdfast::client redis{url};  // others may be on other machines
  int price = 10;

  // [snippet rw]
  const auto prices = redis.read_write_lock("prices");
  auto reader = redis.read_write_lock("prices").shared().acquire();
  auto editor = prices.upgradeable().acquire();  // reads beside the reader
  const int seen = price;
  reader.release().value();
  auto writer = prices.upgrade(editor).acquire({.timeout = 2s});  // now alone
  price = seen + 1;                                               // the value read is still true
  auto again = prices.downgrade(writer).acquire();                // readers come in at once
  // [snippet end]
  const auto other = redis.read_write_lock("prices").shared().try_acquire();
  std::cout << "read " << seen << ", wrote " << price << ", token "
            << (writer.token() > reader.token() ? "grew" : "did not grow") << '\n';
  return other && again.held() && !editor.held() ? 0 : 1;
}
