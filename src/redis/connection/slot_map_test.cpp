#include "redis/connection/slot_map.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using resp::type;
using resp::value;

const net::tcp_endpoint asked{"10.0.0.9", 7000};

value text(std::string what) {
  value v;
  v.kind = type::bulk;
  v.text = std::move(what);
  return v;
}
value whole(std::int64_t number) {
  value v;
  v.kind = type::integer;
  v.number = number;
  return v;
}
value list(std::vector<value> items) {
  value v;
  v.kind = type::array;
  v.items = std::move(items);
  return v;
}
value run(std::int64_t first, std::int64_t last, value host, std::int64_t port) {
  return list({whole(first), whole(last), list({std::move(host), whole(port), text("id")}),
               list({text("replica"), whole(1), text("other")})});
}

TEST(Slots, AreToldWithTheirMasters) {
  const auto map = read_slots(
      list({run(0, 5460, text("10.0.0.1"), 7001), run(5461, 16383, text("::1"), 7002)}), asked);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 2U);
  EXPECT_EQ((*map)[0].first, 0);
  EXPECT_EQ((*map)[0].last, 5460);
  EXPECT_EQ((*map)[0].master.host, "10.0.0.1");
  EXPECT_EQ((*map)[0].master.port, 7001);
  EXPECT_EQ((*map)[0].id, "id");
  EXPECT_EQ((*map)[1].last, 16383);
  EXPECT_EQ((*map)[1].master.host, "::1");
}

TEST(Slots, WithoutAHostAreWhereItWasAsked) {
  value null;
  null.kind = type::null;
  const auto map = read_slots(list({run(0, 1, text(""), 7001), run(2, 3, null, 7002)}), asked);
  ASSERT_TRUE(map);
  EXPECT_EQ((*map)[0].master.host, "10.0.0.9");
  EXPECT_EQ((*map)[0].master.port, 7001);
  EXPECT_EQ((*map)[1].master.host, "10.0.0.9");
}

// Names are preferred, and the node has none.
TEST(Slots, OfANodeWithoutANameAreWhereItsAddressIsOrWhereItWasAsked) {
  const auto with = [](std::vector<value> further) {
    return list(
        {whole(4), whole(5), list({text("?"), whole(7003), text("id"), list(std::move(further))})});
  };
  const auto map = read_slots(
      list({run(0, 1, text("?"), 7001), with({text("ip"), text("10.0.0.3")}), with({}),
            with({text("ip")}), with({text("x"), text("y")}), with({whole(1), whole(2)})}),
      asked);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 6U);
  EXPECT_EQ((*map)[0].master.host, "10.0.0.9");
  EXPECT_EQ((*map)[0].master.port, 7001);
  EXPECT_EQ((*map)[1].master.host, "10.0.0.3");
  EXPECT_EQ((*map)[1].master.port, 7003);
  for (std::size_t i = 2; i < map->size(); ++i) EXPECT_EQ((*map)[i].master.host, "10.0.0.9");
}

TEST(Slots, OfAMasterWithoutAKnownAddressAreLeftOut) {
  const auto map = read_slots(list({run(2, 3, text("b"), 0), run(4, 5, text("c"), 7003)}), asked);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 1U);
  EXPECT_EQ(map->front().master.host, "c");
  const auto nowhere = read_slots(list({run(0, 1, text("?"), 7001)}), {});
  ASSERT_TRUE(nowhere);
  EXPECT_TRUE(nowhere->empty()) << "told by a node whose own host is not known";
}

TEST(Slots, ThatCannotBeReadHideNoOthers) {
  const auto map =
      read_slots(list({whole(1), run(0, 16384, text("a"), 1), run(-1, 5, text("a"), 1),
                       list({whole(0), whole(5), text("c")}), run(6, 7, text("b"), 7002)}),
                 asked);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 1U);
  EXPECT_EQ(map->front().first, 6);
}

TEST(Slots, MayBeNobodys) {
  const auto map = read_slots(list({}), asked);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->empty());
}

TEST(Slots, AreNotReadFromAnythingElse) {
  EXPECT_FALSE(read_slots(text("OK"), asked));
  EXPECT_FALSE(read_slots(list({whole(1)}), asked));
  EXPECT_FALSE(read_slots(list({run(0, 16384, text("a"), 1)}), asked));
  EXPECT_FALSE(read_slots(list({run(-1, 5, text("a"), 1)}), asked));
  EXPECT_FALSE(read_slots(list({run(0, 5, text("a"), 65536)}), asked));
  EXPECT_FALSE(read_slots(list({list({whole(0), whole(5), text("a")})}), asked));
}

TEST(Slots, AreNamedOnceEach) {
  EXPECT_TRUE(
      read_slots(list({run(0, 8191, text("a"), 1), run(8192, 16383, text("b"), 1)}), asked));
  EXPECT_FALSE(
      read_slots(list({run(0, 8191, text("a"), 1), run(8191, 16383, text("b"), 1)}), asked));
}

TEST(Redirection, IsReadFromTheError) {
  const auto moved = read_redirection("MOVED 3999 127.0.0.1:6381", asked);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->how, redirection::kind::moved);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->where.host, "127.0.0.1");
  EXPECT_EQ(moved->where.port, 6381);
  const auto ask = read_redirection("ASK 0 fe80::1:6381", asked);
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->how, redirection::kind::ask);
  EXPECT_EQ(ask->where.host, "fe80::1");
  EXPECT_EQ(ask->where.port, 6381);
}

TEST(Redirection, WithoutAHostIsToAnotherPort) {
  for (const auto* error : {"MOVED 1 :6381", "MOVED 1 ?:6381", "ASK 1 ?:6381"}) {
    const auto moved = read_redirection(error, asked);
    ASSERT_TRUE(moved) << error;
    EXPECT_EQ(moved->where.host, "10.0.0.9");
    EXPECT_EQ(moved->where.port, 6381);
    EXPECT_FALSE(read_redirection(error, {})) << "of a node whose own is not known";
  }
}

TEST(Redirection, IsNotReadFromAnythingElse) {
  for (const auto* error :
       {"MOVED", "MOVED ", "MOVED 1", "MOVED 1 ", "MOVED 1 host", "MOVED 1 host:", "MOVED 1 host:x",
        "MOVED 1 host:99999", "MOVED 16384 host:1", "MOVED x host:1", "MOVED :1 ", "MOVED 1 host:0",
        "ASKING 1 host:1", "ERR MOVED 1 host:1", "TRYAGAIN later", ""}) {
    EXPECT_FALSE(read_redirection(error, asked)) << error;
  }
}

}  // namespace
}  // namespace holdfast::redis
