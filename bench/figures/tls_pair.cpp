// The same pair in the clear and over TLS, at the same server: what does encryption cost us, and
// what does it cost a socket with OpenSSL on it and nothing else?
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "support/carrier.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"
#ifdef HOLDFAST_WITH_TLS
#include "support/certificates.hpp"
#endif

namespace holdfast::bench {

#ifdef HOLDFAST_WITH_TLS
void tls_pair(const setting& with) {
  support::certificate_authority authority;
  const auto own = authority.issue();
  const server redis{server_certificate{own.certificate, own.key, authority.file()}};
  load_scripts(redis.port());
  const holdfast::client in_the_clear(redis.url());
  const holdfast::client encrypted(redis.tls_url(), {.tls = {.ca_file = authority.file()}});
  const auto spin = client_options{}.spin;
  raw_client plain_socket(redis.port(), spin);
  raw_client tls_socket(tls_carrier(redis.tls_port(), authority.file()), spin);
  const auto length = with.turn();
  const std::vector<contestant> all{pairs_of(in_the_clear.mutex("bench"), length),
                                    pairs_of(encrypted.mutex("bench"), length),
                                    pairs_of(plain_socket, length), pairs_of(tls_socket, length)};
  run_by_turns(redis, 1, all);  // their threads are alive now, and move with the process
  redis.place(placement::two_cores);
  const auto figures = run_by_turns(redis, with.turns(), all);
  redis.place(placement::free);
  auto& results = with.results;
  results.at_most("tls_pair.p50_vs_plain", figures[1].p50 / figures[0].p50, "x", 1.3);
  results.tell("tls_pair.sockets_p50_vs_plain", figures[3].p50 / figures[2].p50, "x");
  results.tell("tls_pair.p50_vs_tls_socket", figures[1].p50 / figures[3].p50, "x");
  results.tell("tls_pair.p50", figures[1].p50, "us");
  results.tell("tls_pair.plain_p50", figures[0].p50, "us");
  results.tell("tls_pair.processor_per_pair", figures[1].processor, "us");
  results.tell("tls_pair.plain_processor_per_pair", figures[0].processor, "us");
}
#else
void tls_pair(const setting& with) { with.results.skip("tls_pair", "built without TLS"); }
#endif

}  // namespace holdfast::bench
