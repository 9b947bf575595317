// Passwords that stand in files.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "redis/connection/breakdown.hpp"
#include "redis/connection/credentials.hpp"

namespace holdfast::redis {

// The first line without its end; nothing when it is empty, or when this is no regular file that
// can be read and trusted.
std::optional<std::string> first_line(const std::string& path);

// Why what stands in it cannot be trusted, by what fstat() says; empty: it can.
std::string why_not_trusted(const struct stat&);

// Puts the password of now into `login`: its file may have changed since the last log-in.
std::optional<breakdown> read_password(credentials& login);

}  // namespace holdfast::redis
