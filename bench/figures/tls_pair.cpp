// The same pair in the clear and over TLS, at the same server: what does encryption cost?
#include <string>

#include <holdfast/client.hpp>

#include "support/measure.hpp"
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
  const auto pairs = [&](const holdfast::client& client) {
    return [lock = client.mutex("bench"), length = with.turn()] {
      return run_slice(1, length, [&](int) { lock.acquire().release().value(); });
    };
  };
  const std::vector<contestant> both{pairs(in_the_clear), pairs(encrypted)};
  run_by_turns(redis, 1, both);  // their threads are alive now, and move with the process
  redis.place(placement::two_cores);
  const auto figures = run_by_turns(redis, with.turns(), both);
  redis.place(placement::free);
  auto& results = with.results;
  results.at_most("tls_pair.p50_vs_plain", figures[1].p50 / figures[0].p50, "x", 1.3);
  results.tell("tls_pair.p50", figures[1].p50, "us");
  results.tell("tls_pair.plain_p50", figures[0].p50, "us");
  results.tell("tls_pair.processor_per_pair", figures[1].processor, "us");
  results.tell("tls_pair.plain_processor_per_pair", figures[0].processor, "us");
}
#else
void tls_pair(const setting& with) { with.results.skip("tls_pair", "built without TLS"); }
#endif

}  // namespace holdfast::bench
