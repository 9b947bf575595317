// Locks of Spring's registries on a real server: what differs from the plain layout.
#include <gmock/gmock.h>

#include "redis/dialects/spring_integration/told_registry_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

class ToldRegistry : public foreign_test<told_registry_recipe> {
 protected:
  ToldRegistry() : foreign_test({{.name = "spring_integration"}, "app"}) {}
  const std::string at = "app:orders:42";
};
HOLDFAST_ON_EACH_SERVER(ToldRegistry);

TEST_P(ToldRegistry, IsAUuidAtTheRegistrysKey) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_THAT(redis().get(at),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  expect_ttl(at, lease);
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(command({"KEYS", "*"}).items.size(), 0U);
}

TEST_P(ToldRegistry, TellsTheKeyOfWhatIsFreeOnItsChannelAndNothingElse) {
  support::raw_connection listener{net::unix_endpoint{server().socket()}};
  listener.command({"PSUBSCRIBE", "app-channel:*"});
  const claim mine = claims.next();
  theirs().acquire(mine);
  EXPECT_EQ(theirs().release(others.next()), release_verdict(not_mine{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(theirs().release(mine), release_verdict(not_mine{}));
  command({"PUBLISH", "app-channel:end", "end"});
  const auto first = listener.read_value();
  ASSERT_EQ(first.items.size(), 4U);
  EXPECT_EQ(first.items[2].text, "app-channel:app:orders:42");
  EXPECT_EQ(first.items[2].text, layout().channel_of(key.name()));
  EXPECT_EQ(first.items[3].text, at);
  EXPECT_EQ(listener.read_value().items.at(3).text, "end");
}

}  // namespace
}  // namespace holdfast::dialects
