#include "support/setting.hpp"

namespace holdfast::bench {

void setting::on_each_placement(std::string_view name, const answering& answer) const {
  for (const auto where : {placement::two_cores, placement::same_core}) {
    redis.place(where);
    answer(where, std::string(name) + "." + to_string(where) + ".");
  }
  redis.place(placement::free);
}

void setting::tell_processor(const std::string& prefix, const bench::slice& one) const {
  results.tell(prefix + "processor_per_pair", one.processor, "us");
  results.tell(prefix + "server_processor_per_pair", one.server, "us");
}

}  // namespace holdfast::bench
