// The name of this machine, for people.
#pragma once

#include <string>

namespace holdfast::net {

std::string host_name();

}  // namespace holdfast::net
