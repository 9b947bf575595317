#include "simulation/server/script_engine.hpp"

#include <array>
#include <cstdio>
#include <lua.hpp>
#include <memory>

namespace holdfast::simulation {
namespace {

using resp::type;
using resp::value;

// The script that runs on this thread.
thread_local const command_runner* runner = nullptr;

void push(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }

void push_field(lua_State* lua, const char* name, std::string_view text) {
  lua_createtable(lua, 0, 3);
  push(lua, text);
  lua_setfield(lua, -2, name);
}

void push(lua_State* lua, const value& v) {
  switch (v.kind) {
    case type::null:
      return lua_pushboolean(lua, 0);
    case type::simple:
      return push_field(lua, "ok", v.text);
    case type::error:
      return push_field(lua, "err", v.text);
    case type::integer:
      return lua_pushnumber(lua, static_cast<lua_Number>(v.number));
    case type::array:
      break;
    default:
      return push(lua, std::string_view{v.text});
  }
  lua_createtable(lua, static_cast<int>(v.items.size()), 0);
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    push(lua, v.items[i]);
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
}

// Leaves the answer, or a table with `err`, on the stack. Lua leaves the caller by a jump, over
// which no destructor runs: hence a function of its own.
bool command_from(lua_State* lua) {
  constexpr int most = 200;
  std::array<std::string_view, most> arguments;
  std::array<char, 40> digits;
  const int count = lua_gettop(lua);
  for (int i = 1; i <= count; ++i) {
    if (count > most || (lua_type(lua, i) != LUA_TNUMBER && lua_type(lua, i) != LUA_TSTRING)) {
      push_field(lua, "err", "ERR Lua redis lib command arguments must be strings or integers");
      return false;
    }
    if (lua_type(lua, i) == LUA_TNUMBER) {
      // As Redis prints it, which is not as Lua does.
      const int size = std::snprintf(digits.data(), digits.size(), "%.17g", lua_tonumber(lua, i));
      lua_pushlstring(lua, digits.data(), static_cast<std::size_t>(size));
      lua_replace(lua, i);
    }
    std::size_t size = 0;
    const char* text = lua_tolstring(lua, i, &size);
    arguments[static_cast<std::size_t>(i - 1)] = {text, size};
  }
  if (count == 0) {
    push_field(lua, "err", "ERR Please specify at least one argument for this redis.call()");
    return false;
  }
  const auto answer = (*runner)(words{arguments.data(), static_cast<std::size_t>(count)});
  push(lua, answer);
  return !answer.is(type::error);
}

int redis_call(lua_State* lua) { return command_from(lua) ? 1 : lua_error(lua); }

int redis_pcall(lua_State* lua) {
  command_from(lua);
  return 1;
}

// Lua's own, except that Redis 7 hands on the text of a server's error instead of the table.
int plain_pcall(lua_State* lua) {
  luaL_checkany(lua, 1);
  const bool fine = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0) == 0;
  if (!fine && lua_istable(lua, -1)) {
    lua_getfield(lua, -1, "err");
    if (lua_isstring(lua, -1) != 0) {
      lua_replace(lua, -2);
    } else {
      lua_pop(lua, 1);
    }
  }
  lua_pushboolean(lua, fine ? 1 : 0);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

value from_lua(lua_State* lua, int at);

value from_table(lua_State* lua, int at) {
  value v;
  for (const auto& [name, kind] : {std::pair{"err", type::error}, std::pair{"ok", type::simple}}) {
    lua_getfield(lua, at, name);
    if (lua_type(lua, -1) == LUA_TSTRING) {
      v.kind = kind;
      v.text = lua_tostring(lua, -1);
    }
    lua_pop(lua, 1);
    if (!v.is(type::null)) return v;
  }
  v.kind = type::array;
  for (int i = 1;; ++i) {
    lua_rawgeti(lua, at, i);
    const bool ends = lua_isnil(lua, -1);
    if (!ends) v.items.push_back(from_lua(lua, lua_gettop(lua)));
    lua_pop(lua, 1);
    if (ends) return v;
  }
}

value from_lua(lua_State* lua, int at) {
  value v;
  switch (lua_type(lua, at)) {
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(lua, at, &size);
      v.kind = type::bulk;
      v.text.assign(text, size);
      break;
    }
    case LUA_TBOOLEAN:
      if (lua_toboolean(lua, at) == 0) break;
      v.kind = type::integer;
      v.number = 1;
      break;
    case LUA_TNUMBER:
      v.kind = type::integer;
      v.number = static_cast<std::int64_t>(lua_tonumber(lua, at));
      break;
    case LUA_TTABLE:
      return from_table(lua, at);
    default:
      break;
  }
  return v;
}

// Who else is sent what a script does: nobody, the append-only file (1), replicas (2), or both.
constexpr int repl_none = 0;
constexpr int repl_replica = 2;
constexpr int repl_all = 3;
thread_local bool to_replicas = true;
int set_repl(lua_State* lua) {
  to_replicas = (luaL_checkinteger(lua, 1) & repl_replica) != 0;
  return 0;
}

lua_State* interpreter() {
  static thread_local const std::unique_ptr<lua_State, decltype(&lua_close)> one = [] {
    lua_State* lua = luaL_newstate();
    luaL_openlibs(lua);
    lua_createtable(lua, 0, 5);
    lua_pushcfunction(lua, redis_call);
    lua_setfield(lua, -2, "call");
    lua_pushcfunction(lua, redis_pcall);
    lua_setfield(lua, -2, "pcall");
    lua_pushcfunction(lua, set_repl);
    lua_setfield(lua, -2, "set_repl");
    lua_pushinteger(lua, repl_none);
    lua_setfield(lua, -2, "REPL_NONE");
    lua_pushinteger(lua, repl_all);
    lua_setfield(lua, -2, "REPL_ALL");
    lua_setglobal(lua, "redis");
    lua_pushcfunction(lua, plain_pcall);
    lua_setglobal(lua, "pcall");
    return std::unique_ptr<lua_State, decltype(&lua_close)>(lua, &lua_close);
  }();
  return one.get();
}

void set_global(lua_State* lua, const char* name, words list) {
  lua_createtable(lua, static_cast<int>(list.size()), 0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    push(lua, list[i]);
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
  lua_setglobal(lua, name);
}

}  // namespace

value compile_script(const std::string& sha1, std::string_view text) {
  lua_State* lua = interpreter();
  value failure;
  lua_getfield(lua, LUA_REGISTRYINDEX, sha1.c_str());
  const bool known = lua_isfunction(lua, -1);
  lua_pop(lua, 1);
  if (known) return failure;
  if (luaL_loadbuffer(lua, text.data(), text.size(), "@user_script") == 0) {
    lua_setfield(lua, LUA_REGISTRYINDEX, sha1.c_str());
  } else {
    failure =
        error(std::string("ERR Error compiling script (new function): ") + lua_tostring(lua, -1));
    lua_pop(lua, 1);
  }
  return failure;
}

bool is_sent_to_replicas() { return to_replicas; }

value run_script(std::string_view sha1, words keys, words args, const command_runner& run) {
  lua_State* lua = interpreter();
  set_global(lua, "KEYS", keys);
  set_global(lua, "ARGV", args);
  push(lua, sha1);
  lua_rawget(lua, LUA_REGISTRYINDEX);
  runner = &run;
  to_replicas = true;
  const bool fine = lua_pcall(lua, 0, 1, 0) == 0;
  to_replicas = true;
  runner = nullptr;
  value answer = from_lua(lua, lua_gettop(lua));
  if (!fine && !answer.is(type::error)) answer = error("ERR " + answer.text);
  if (!fine) answer.text += " script: " + std::string(sha1) + ", on @user_script.";
  lua_settop(lua, 0);
  return answer;
}

}  // namespace holdfast::simulation
