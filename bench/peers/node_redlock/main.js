#!/usr/bin/env node
// The maintained fork of node-redlock over several servers: one task that takes and gives back one
// lock. Prints the median of a pair, and the processor time that it took of this process, in
// microseconds.
//
//   main.js MILLISECONDS SOCKET...
'use strict';
const { Redis } = require('ioredis');
const { Redlock } = require('@sesamecare-oss/redlock');

const [milliseconds, ...sockets] = process.argv.slice(2);
const members = sockets.map((path) => new Redis(path));
const redlock = new Redlock(members);
const microseconds = () => Number(process.hrtime.bigint()) / 1000;

async function pair() {
  const begin = microseconds();
  const lock = await redlock.acquire(['bench-node-redlock'], 30000);
  await lock.release();
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
