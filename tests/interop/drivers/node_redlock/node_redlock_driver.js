// Takes locks as node-redlock does, of one server or of several, with its version 5 or 4; see
// tests/interop/README.md. NAME+OTHER is several resources.
'use strict';
const { Redis } = require('ioredis');
const answerLines = require('../node/lines.js');

const [host, ports, watchdog, version] = process.argv.slice(2);
// A server that does not answer is given up soon: version 4 waits for all of them.
const options = { maxRetriesPerRequest: 1, retryStrategy: () => 50 };
const servers = ports
  .split(',')
  .map((port) => new Redis({ host, port: Number(port), ...options }));
for (const server of servers) server.on('error', () => {}); // its requests fail, too
const first = servers[0]; // has the counters

const OWN_LEASE = Number(watchdog); // of what is renewed
const LONG = 8000;
const PATIENCE = 60000;
// Not its defaults, which are ten times as slow.
const retries = { retryCount: 10, retryDelay: 20, retryJitter: 10 };

const resources = (name) => name.split('+');
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// {take: a lock or null when it is busy, keep: the same, renewed, giveBack: whether it was ours}
function versionFive() {
  const { default: Redlock, ExecutionError } = require('redlock');
  const redlock = new Redlock(servers, retries);
  const unlessRefused = async (what) => {
    try {
      return await what();
    } catch (error) {
      if (error instanceof ExecutionError) return null;
      throw error;
    }
  };
  // Its renewal is there for routines only: this one runs until it is given back.
  const keep = (name, settings) =>
    new Promise((resolve, reject) => {
      let leave;
      const left = new Promise((done) => {
        leave = done;
      });
      const run = redlock.using(resources(name), OWN_LEASE, settings, async () => {
        resolve({ leave, run });
        await left;
      });
      run.catch((error) => (error instanceof ExecutionError ? resolve(null) : reject(error)));
    });
  return {
    take: (name, lease, settings) =>
      unlessRefused(() => redlock.acquire(resources(name), lease, settings)),
    keep,
    giveBack: async (held) => {
      if (!held.run) {
        return (await unlessRefused(() => redlock.release(held, { retryCount: 0 }))) !== null;
      }
      held.leave();
      return (await unlessRefused(() => held.run.then(() => true))) !== null;
    },
  };
}

function versionFour() {
  const Redlock = require('redlock4');
  const redlock = new Redlock(servers, retries);
  // A retryCount of 0 would count as none given.
  const once = new Redlock(servers, { ...retries, retryCount: 0 });
  const unlessRefused = async (what) => {
    try {
      return await what();
    } catch (error) {
      if (error instanceof Redlock.LockError) return null;
      throw error;
    }
  };
  const take = (name, lease, settings) => {
    const which = settings.retryCount === 0 ? once : redlock;
    return unlessRefused(() => which.acquire(resources(name), lease));
  };
  return {
    take,
    keep: (name, settings) => take(name, LONG, settings),
    giveBack: async (held) => (await unlessRefused(() => held.unlock().then(() => true))) !== null,
  };
}

const library = version === '5' ? versionFive() : versionFour();
const locks = new Map();

async function wait(ask, until) {
  for (;;) {
    const left = until - Date.now();
    const got = await ask(left <= 0 ? { retryCount: 0 } : {});
    if (got || Date.now() >= until) return got;
    await sleep(10);
  }
}

async function acquire(name, lease, patience) {
  const ask = (settings) =>
    lease === 0 ? library.keep(name, settings) : library.take(name, lease, settings);
  const got = await wait(ask, Date.now() + patience);
  if (!got) return 'busy';
  locks.set(name, got);
  return 'ok';
}

async function release(name) {
  const held = locks.get(name);
  if (!held) return 'refused'; // there is nothing to call it on
  locks.delete(name);
  return (await library.giveBack(held)) ? 'ok' : 'refused';
}

async function work(name, counter, rounds) {
  for (let round = 0; round < rounds; round++) {
    const until = Date.now() + PATIENCE;
    const held = await wait((settings) => library.take(name, LONG, settings), until);
    if (!held) throw new Error('no lock');
    const text = await first.get(counter);
    await first.set(counter, Number(text || 0) + 1);
    await library.giveBack(held);
  }
}

async function obey([what, name, ...rest]) {
  switch (what) {
    case 'acquire':
      return acquire(name, Number(rest[0]), Number(rest[1]));
    case 'release':
      return release(name);
    case 'increment': {
      const [counter, threads, rounds] = [rest[0], Number(rest[1]), Number(rest[2])];
      await Promise.all(Array.from({ length: threads }, () => work(name, counter, rounds)));
      return 'ok';
    }
    case 'locked':
      return 'unknown';
    case 'holds':
      return locks.has(name) ? '1' : '0';
    default:
      return 'error unknown command';
  }
}

answerLines(obey);
