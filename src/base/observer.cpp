#include <holdfast/observer.hpp>

namespace holdfast {

observer::~observer() = default;

}  // namespace holdfast
