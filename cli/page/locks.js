// The list of locks, and one lock.
import {client_line, clock, count, duration, el, Look, moment, number, plain, put, rest, RowTable,
        short_table, show_if_new, shown, since, ticking, TYPING_MS} from './kit.js';

const KINDS = ['mutex', 'mode lock', 'semaphore', 'latch', 'barrier'];
const PER_PAGE = 200;
const KEPT_MS = 10000;
const SCROLL_MS = 60;
const COLUMNS = [
  {name: 'lock', title: 'Lock', sort: 'name'}, {name: 'state', title: 'State'},
  {name: 'kind', title: 'Kind'}, {name: 'holder', title: 'Holder'},
  {name: 'since', title: 'Held for', sort: 'since'}, {name: 'token', title: 'Token'},
  {name: 'left', title: 'Time left', sort: 'remaining'},
  {name: 'waiting', title: 'Waiters', sort: 'waiting'}];

// Sorting by how long a lock is held is by `since_ms`: the first click shows the oldest on top.
const FIRST_ORDER = {name: 'asc', since: 'asc', remaining: 'asc', waiting: 'desc'};

export function lock_link(app, name, name_url) {
  // Half of a surrogate pair, which JSON can carry, has no percent-encoding.
  const encoded = name_url ?? encodeURIComponent(String(name).toWellFormed());
  return el('a', {href: app.link(`lock/${encoded}`), title: plain(name)}, shown(name));
}

const state_mark = (state) => el('span', {class: `state is-${plain(state)}`}, plain(state));

function kind_text(lock) {
  const kind = lock.kind === 'unknown' ? '' : plain(lock.kind ?? '');
  const of_permits = lock.permits ? `/${lock.permits}` : '';
  if (lock.kind === 'semaphore') return `${kind} ${lock.permits_in_use ?? '?'}${of_permits}`;
  if (lock.kind === 'latch') return `${kind} ${lock.count}`;
  if (lock.kind === 'barrier') return `${kind} ${lock.waiting}/${lock.count}`;
  return kind;
}

// The pages of the list that are at hand. While the list is scrolled, one request at a time is
// under way. When it ends, the pages that are in sight by then are fetched, not those
// scrolled past.
class Pages {
  constructor(app, query, changed) {
    Object.assign(this, {app, query, changed});
    this.pages = new Map();
    this.total = 0;
    this.window = [0, 0];
  }

  item(index) { return this.pages.get(Math.floor(index / PER_PAGE))?.[index % PER_PAGE]; }

  in_sight() {
    const [first, end] = this.window;
    const last = Math.floor(Math.max(first, end - 1) / PER_PAGE);
    const from = Math.floor(first / PER_PAGE);
    return Array.from({length: last - from + 1}, (_, i) => from + i);
  }

  async fetch_page(page, signal) {
    const answer = await this.app.get('locks',
      {...this.query, page: page + 1, per_page: PER_PAGE}, signal);
    const look = new Look(answer);
    for (const lock of answer.locks) {
      lock.until = lock.remaining_ms === null || lock.remaining_ms === undefined ?
        Infinity : look.in(lock.remaining_ms);
      lock.began = look.at(lock.since_ms);
    }
    answer.locks.arrived = performance.now();
    this.pages.set(page, answer.locks);
    this.total = answer.total;
    this.complete = answer.complete;
  }

  async load(signal) {
    this.forget(performance.now() - KEPT_MS);
    for (const page of this.in_sight()) await this.fetch_page(page, signal);
    this.changed();
  }

  // A row that is out of sight is fetched anew rather than shown with the deadline of an old lease.
  forget(before) {
    const in_sight = this.in_sight();
    for (const [page, locks] of this.pages) {
      if (locks.arrived < before && !in_sight.includes(page)) this.pages.delete(page);
    }
  }

  async need(first, end) {
    this.window = [first, end];
    if (this.busy || !this.total) return;
    const missing = () => this.in_sight().find(
      (page) => !this.pages.has(page) && page * PER_PAGE < this.total);
    this.busy = true;
    try {
      for (let page = missing(); page !== undefined; page = missing()) {
        const began = performance.now();
        await this.fetch_page(page);
        this.changed();
        // A long scroll passes thousands of pages. The server is asked for some of them, and rests
        // for as long as it works.
        const pause = Math.max(SCROLL_MS, performance.now() - began);
        await new Promise((go_on) => setTimeout(go_on, pause));
      }
    } catch (why) {
      this.app.look_later(why);
    } finally {
      this.busy = false;
    }
  }
}

function fill_row(app, cells, lock) {
  const [name, state, kind, holder, held_for, token, left, waiting] = cells;
  put(name, lock.name_url, () => [lock_link(app, lock.name, lock.name_url)]);
  put(state, lock.state, () => [state_mark(lock.state)]);
  put(kind, kind_text(lock), () => [kind_text(lock)]);
  const more = lock.holding > 1 ? ` +${number(lock.holding - 1)}` : '';
  put(holder, `${lock.owner?.id} ${more}`, () => [client_line(lock.owner), more]);
  held_for.lock = left.lock = lock;
  put(held_for, lock.since_ms ?? '', () => moment(lock.since_ms) ?
    [since(() => held_for.lock.began, lock.since_ms)] : []);
  put(token, lock.token ?? '', () => [plain(lock.token ?? '')]);
  put(left, lock.state === 'held' ? 'time' : '', () => lock.state === 'held' ?
    [rest(() => left.lock.until)] : []);
  held_for.firstChild?.tick();
  left.firstChild?.tick();
  put(waiting, lock.waiting, () => [number(lock.waiting)]);
  waiting.classList.toggle('some', lock.waiting > 0);
}

export class LocksView {
  title = 'Locks';

  constructor(app, query) {
    this.app = app;
    this.summary = el('p', {class: 'summary', id: 'summary'});
    this.search = el('input', {type: 'search', id: 'search', placeholder: 'Search names  /',
      'aria-label': 'Search lock names', autocomplete: 'off', spellcheck: 'false',
      maxlength: 500, oninput: () => this.typed()});
    const choice = (label, options) => el('select',
      {'aria-label': label, onchange: () => this.go()},
      ...options.map(([value, text]) => el('option', {value}, text)));
    this.where = choice('Where in the name', [['contains', 'contains'], ['prefix', 'begins with']]);
    this.state = choice('State', [['', 'Any state'], ['held', 'Held'], ['shut', 'Shut']]);
    this.kind = choice('Kind', [['', 'Any kind'], ...KINDS.map((kind) => [kind, kind])]);
    this.waited = el('input', {type: 'checkbox', onchange: () => this.go()});
    this.empty = el('p', {class: 'empty', hidden: true});
    this.table = new RowTable({label: 'Locks', columns: COLUMNS,
      fill: (cells, lock) => fill_row(app, cells, lock), item: (i) => this.pages.item(i),
      key: (lock) => lock.name_url, seen: (first, end) => this.pages.need(first, end),
      sort: (by) => this.sort_by(by)});
    this.node = el('section', {class: 'list'},
      el('h1', {class: 'unseen'}, 'Locks'),
      el('form', {class: 'tools', role: 'search', onsubmit: (event) => {
        event.preventDefault();
        this.table.move(1);
      }}, this.where, this.search, this.state, this.kind,
      el('label', {}, this.waited, ' Waited for'), this.summary),
      this.empty, this.table.node);
    this.table.node.hidden = true;
    this.update(query);
  }

  update(query) {
    const signature = JSON.stringify(query);
    if (signature === this.signature) return;
    this.signature = signature;
    this.query = query;
    const where = query.prefix ? 'prefix' : 'contains';
    if (document.activeElement !== this.search) {
      this.search.value = query[where] ?? '';
      if (this.search.value) this.where.value = where;
    }
    this.state.value = query.state ?? '';
    this.kind.value = query.kind ?? '';
    this.waited.checked = query.waited === '1';
    this.table.show_order(query.sort ?? 'name', query.order ?? 'asc');
    this.table.to_top();
    const pages = new Pages(this.app, query, () => this.pages === pages && this.changed());
    this.pages = pages;
    this.is_new = true;
  }

  typed() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => { if (this.node.isConnected) this.go(); }, TYPING_MS);
  }

  go(changes = {}) {
    this.app.replace('locks', {...this.query, prefix: '', contains: '', state: this.state.value,
      kind: this.kind.value, waited: this.waited.checked ? '1' : '',
      [this.where.value]: this.search.value, ...changes});
  }

  sort_by(sort) {
    const same = sort === (this.query.sort ?? 'name');
    const other = this.query.order === 'desc' ? 'asc' : 'desc';
    this.go({sort, order: same ? other : FIRST_ORDER[sort]});
  }

  changed() {
    const {total} = this.pages;
    const filtered = ['prefix', 'contains', 'state', 'kind', 'waited'].some((of) => this.query[of]);
    const text = filtered ? `${count(total, 'lock')} found` : count(total, 'lock');
    this.empty.hidden = total > 0;
    this.empty.textContent = filtered ? 'No lock matches. Change the search or the filters.'
      : 'No lock is held, and nobody waits for one.';
    this.table.node.hidden = total === 0;
    this.table.update(total);
    this.summary.textContent = text +
      (this.pages.complete === false ? ', the list is not complete' : '') +
      (total > this.table.count ? '; search to see the last ones' : '');
    if (this.is_new) this.app.say(text);
    this.is_new = false;
  }

  load(signal) { return this.pages.load(signal); }

  attached() { return this.table.restore(); }

  resumed() { this.pages.forget(Infinity); }

  on_key(key) { return this.table.on_key(key); }
}

// The raw bytes of "." and ".." are names of locks as well, but no browser sends them in a path.
const is_dots = (name_url) => /^(\.|%2e){1,2}$/i.test(name_url);

function name_of(name_url) {
  const bytes = [];
  for (const [, hex, character] of name_url.matchAll(/%([0-9a-f]{2})|(.)/gi)) {
    bytes.push(hex ? parseInt(hex, 16) : character.charCodeAt(0));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function fact(name, ...value) { return [el('dt', {}, name), el('dd', {}, ...value)]; }

const share = (one) => one.permits ? count(one.permits, 'permit') : plain(one.mode || 'all');

export class LockView {
  constructor(app, query, name_url) {
    Object.assign(this, {app, name_url});
    this.heading = el('h1', {class: 'lock-name', tabindex: -1});
    this.facts = el('dl', {class: 'facts'});
    this.holders = el('div');
    this.queue = el('div');
    this.history = el('div');
    this.message = el('p', {class: 'problem', role: 'alert', hidden: true});
    this.node = el('section', {class: 'detail'},
      el('p', {class: 'back'}, el('a', {href: app.list_link()}, '← All locks')),
      this.heading, this.message, this.facts, this.holders, this.queue, this.history);
    this.name(name_of(name_url));
  }

  name(text) {
    this.title = `Lock ${plain(text).slice(0, 100)}`;
    show_if_new(this.heading, text, () => [shown(text)]);
  }

  async load(signal) {
    if (is_dots(this.name_url)) {
      return this.tell('A browser cannot ask for a lock of this name: use holdfast status.');
    }
    try {
      this.show(await this.app.get(`locks/${this.name_url}`, {}, signal));
      this.tell('');
    } catch (why) {
      if (why.status === undefined || signal?.aborted) throw why;
      this.tell(`This lock could not be looked at: ${plain(why.message)}` +
                (this.lock ? ' What you see is older.' : ''));
      if (why.status >= 500) throw Object.assign(why, {told: true});
    }
  }

  tell(text) {
    if (this.message.textContent !== text) this.message.textContent = text;
    this.message.hidden = !text;
  }

  show(answer) {
    const {lock} = answer;
    this.lock = lock;
    this.look = new Look(answer);
    this.name(lock.name);
    show_if_new(this.facts, [{...lock, holders: 0, queue: 0}, lock.oldest_wait_ms > 0],
                () => this.facts_of(lock));
    show_if_new(this.holders, lock.holders ?? [], () => this.holders_of(lock));
    show_if_new(this.queue, [lock.queue ?? [], lock.waiting], () => this.queue_of(lock));
    show_if_new(this.history, answer.history ?? [], () => this.history_of(answer.history ?? []));
    for (const element of this.node.querySelectorAll('[data-tick]')) element.tick();
  }

  until(of) {
    const remaining = of()?.remaining_ms;
    return remaining === null || remaining === undefined ? Infinity : this.look.in(remaining);
  }

  facts_of(lock) {
    const held = lock.state === 'held';
    const list = [fact('State', state_mark(lock.state))];
    if (kind_text(lock)) list.push(fact('Kind', kind_text(lock)));
    if (lock.dialect) list.push(fact('Dialect', plain(lock.dialect)));
    if (lock.owner) list.push(fact('Holder', this.client(lock.owner), lock.holding > 1 ?
      ` and ${number(lock.holding - 1)} more` : ''));
    if (held && lock.token) list.push(fact('Token', plain(lock.token)));
    if (held && lock.since_ms) {
      list.push(fact('Held for', since(() => this.look.at(this.lock.since_ms), lock.since_ms),
                     el('span', {class: 'soft'}, ` since ${moment(lock.since_ms)}`)));
    }
    if (held) list.push(fact('Time left', rest(() => this.until(() => this.lock))));
    list.push(fact('Waiters', number(lock.waiting)));
    if (lock.oldest_wait_ms > 0) {
      list.push(fact('Longest wait', ticking(() => duration(
        clock.now() - this.look.in(-this.lock.oldest_wait_ms)))));
    }
    if (lock.detail) list.push(fact('Detail', shown(lock.detail)));
    return list.flat();
  }

  client(client) {
    if (!client) return el('span', {class: 'soft'}, 'unknown');
    const line = client_line(client);
    if (!client.id) return line;
    return el('a', {href: this.app.link(`client/${encodeURIComponent(client.id.toWellFormed())}`)},
              line);
  }

  holders_of(lock) {
    const holders = lock.holders ?? [];
    if (!holders.length) return [];
    const rows = holders.map((one, i) => [share(one), this.client(one.client),
      since(() => this.look.at(this.lock.holders[i]?.since_ms), one.since_ms),
      plain(one.token ?? ''), rest(() => this.until(() => this.lock.holders[i])),
      plain(one.note ?? '')]);
    return [short_table(this.of_all('Holders', holders.length, lock.holding),
                        ['Has', 'Holder', 'Held for', 'Token', 'Time left', 'Note'], rows)];
  }

  queue_of(lock) {
    const queue = lock.queue ?? [];
    if (!lock.waiting && !queue.length) return [el('p', {class: 'soft'}, 'Nobody waits.')];
    const rows = queue.map((one, i) => [String(i + 1), lock.state === 'shut' ? '' : share(one),
      this.client(one.client),
      since(() => this.look.at(this.lock.queue[i]?.since_ms), one.since_ms)]);
    return [short_table(this.of_all('Queue', queue.length, lock.waiting),
                        ['Place', 'Wants', 'Waiter', 'Waits for'], rows)];
  }

  of_all(what, some, all) {
    return some < all ? `${what}: the first ${number(some)} of ${number(all)}` : what;
  }

  history_of(events) {
    const note = el('p', {class: 'soft'}, 'The history is seen by comparing looks, since ' +
      'holdfast serve began. Changes between two looks can be missing.');
    if (!events.length) return [el('h2', {}, 'History'), el('p', {}, 'No change seen yet.'), note];
    const rows = events.toSorted((a, b) => b.at_ms - a.at_ms).map((one, i, all) => [
      moment(one.at_ms), plain(one.what), one.owner ? this.client(one.owner) : '',
      plain(one.token ?? ''),
      i + 1 < all.length ? duration(one.at_ms - all[i + 1].at_ms) : '']);
    return [short_table('History', ['At', 'What', 'Holder', 'Token', 'After'], rows), note];
  }

  on_key() { return false; }
}
