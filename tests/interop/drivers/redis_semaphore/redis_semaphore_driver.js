// Takes permits as redis-semaphore does, of which there are LIMIT each; NAME/N are N of them, one
// as its Semaphore, several as its MultiSemaphore. All have one lease, the lockTimeout; see
// tests/interop/README.md.
'use strict';
const { Redis } = require('ioredis');
const { MultiSemaphore, Semaphore } = require('redis-semaphore');
const answerLines = require('../node/lines.js');

const [host, port, lease] = process.argv.slice(2);
const redis = new Redis({ host, port: Number(port) });
const LIMIT = 3;
const LOCK_TIMEOUT = Number(lease);
const PATIENCE = 60000;

const held = new Map(); // word -> what was acquired last is the last

// `renews`: otherwise it ends after its lease. A wait of 0 asks once.
function make(word, wait, renews) {
  const [name, count] = word.split('/');
  const options = {
    lockTimeout: LOCK_TIMEOUT,
    acquireTimeout: Math.max(wait, 1000),
    acquireAttemptsLimit: wait === 0 ? 1 : Infinity,
    onLockLost: () => {},
  };
  if (!renews) options.refreshInterval = 0;
  return count === '1'
    ? new Semaphore(redis, name, LIMIT, options)
    : new MultiSemaphore(redis, name, LIMIT, Number(count), options);
}

async function acquire(word, leaseMs, wait) {
  const semaphore = make(word, wait, leaseMs === 0);
  if (!(await semaphore.tryAcquire())) return 'busy';
  if (!held.has(word)) held.set(word, []);
  held.get(word).push(semaphore);
  return 'ok';
}

async function isOurs(word, semaphore) {
  const [name, count] = word.split('/');
  const permit = semaphore.identifier + (count === '1' ? '' : '_0');
  return (await redis.zscore(`semaphore:${name}`, permit)) !== null;
}

// The library says nothing when others have taken the permits back.
async function release(word) {
  const semaphore = (held.get(word) || []).pop();
  if (!semaphore) return 'refused';
  const wasOurs = await isOurs(word, semaphore);
  await semaphore.release();
  return wasOurs ? 'ok' : 'refused';
}

async function holds(word) {
  let count = 0;
  for (const semaphore of held.get(word) || []) count += (await isOurs(word, semaphore)) ? 1 : 0;
  return String(count);
}

// How many were inside at once, at most.
async function crowd(word, counter, workers, rounds) {
  let most = 0;
  const work = async () => {
    for (let round = 0; round < rounds; round++) {
      const semaphore = make(word, PATIENCE, true);
      await semaphore.acquire();
      most = Math.max(most, await redis.incr(counter));
      await redis.decr(counter);
      await semaphore.release();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return String(most);
}

async function obey([what, word, ...rest]) {
  switch (what) {
    case 'acquire':
      return acquire(word, Number(rest[0]), Number(rest[1]));
    case 'release':
      return release(word);
    case 'crowd':
      return crowd(word, rest[0], Number(rest[1]), Number(rest[2]));
    case 'locked':
      return 'unknown';
    case 'holds':
      return holds(word);
    default:
      return 'error unknown command';
  }
}

answerLines(obey);
