#include <holdfast/errc.hpp>
#include <holdfast/fencing_token.hpp>

namespace holdfast {

std::uint64_t fencing_token::value() const {
  if (!*this) throw failure{errc::unsupported, "this lock has no fencing token"};
  return value_;
}

std::string fencing_token::to_string() const { return *this ? std::to_string(value_) : "none"; }

}  // namespace holdfast
