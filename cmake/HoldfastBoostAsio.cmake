# Sets HOLDFAST_HAS_BOOST_ASIO. The bridge needs headers that Holdfast itself does not, and a
# compiler whose coroutines they know (Boost 1.74 does not know those of clang).
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-std=c++20")
set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
check_cxx_source_compiles("
  #include <utility>
  #include <boost/asio.hpp>
  boost::asio::awaitable<void> nothing() { co_return; }
  int main() {}" HOLDFAST_HAS_BOOST_ASIO)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LIBRARIES)
