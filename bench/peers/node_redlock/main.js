#!/usr/bin/env node
// Redlock of Node over several servers: one task that takes and gives back one lock. Prints the
// median of a pair, and the processor time that it took of this process, in microseconds.
//
//   main.js LIBRARY MILLISECONDS SOCKET...
//
// LIBRARY: `redlock`, the maintained fork of node-redlock, or `universal`, redlock-universal.
'use strict';
const { Redis } = require('ioredis');

const [library, milliseconds, ...sockets] = process.argv.slice(2);
const members = sockets.map((path) => new Redis(path));
const [name, lease] = ['bench-node-redlock', 30000];
const microseconds = () => Number(process.hrtime.bigint()) / 1000;

const libraries = {
  redlock() {
    const { Redlock } = require('@sesamecare-oss/redlock');
    const redlock = new Redlock(members);
    return async () => (await redlock.acquire([name], lease)).release();
  },
  universal() {
    const { createRedlock, IoredisAdapter } = require('redlock-universal');
    const adapters = members.map((one) => new IoredisAdapter(one));
    const redlock = createRedlock({ adapters, key: name, ttl: lease });
    return async () => redlock.release(await redlock.acquire());
  },
};
const acquireAndRelease = libraries[library]();

async function pair() {
  const begin = microseconds();
  await acquireAndRelease();
  return microseconds() - begin;
}

async function main() {
  for (let i = 0; i < 1000; ++i) await pair(); // until it is compiled
  const took = [];
  const before = process.cpuUsage();
  for (const end = microseconds() + milliseconds * 1000; microseconds() < end; ) {
    took.push(await pair());
  }
  const used = process.cpuUsage(before);
  took.sort((a, b) => a - b);
  console.log(took[took.length >> 1], (used.user + used.system) / took.length);
  for (const one of members) one.disconnect();
}

main().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
