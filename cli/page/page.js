// The page of `holdfast serve`: which view is open, when the server is asked, and what keys do.
import {clock, count, duration, el, number, plain, shown, tick_all, ticking} from './kit.js';
import {LocksView, LockView} from './locks.js';
import {ClientsView, ClientView, DoctorView, WaitsView} from './views.js';

const PERIOD_MS = 2000;
const LONGEST_PAUSE_MS = 60000;
const REQUEST_MS = 15000;
const OLD_MS = 10000;      // a look; or three times the time between looks, if that is longer
const QUERY = ['prefix', 'contains', 'state', 'kind', 'waited', 'sort', 'order'];
const LIST_VIEWS = {locks: LocksView, clients: ClientsView, waits: WaitsView, doctor: DoctorView};
const ONE_VIEWS = {lock: LockView, client: ClientView};
const at = (id) => document.getElementById(id);

// What went wrong, as a sentence: of `serve` itself (status), or of the way to it (no status).
class Problem extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

// The hash is as foreign as any text: the view is one of a list, the name is percent-encoded text
// that goes into a path unchanged, and the rest are parameters of which the known ones are taken.
function read_hash(hash) {
  const [, view, name, text] =
    /^#\/([a-z]+)(?:\/((?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})+))?(?:\?(.*))?$/i.exec(hash) ?? [];
  const given = new URLSearchParams((text ?? '').slice(0, 4000));
  const query = {};
  for (const key of QUERY) if (given.get(key)) query[key] = given.get(key);
  const route = {view: 'locks', name: null, query, server: given.get('server')};
  if (Object.hasOwn(ONE_VIEWS, view ?? '') && name) return {...route, view, name};
  if (Object.hasOwn(LIST_VIEWS, view ?? '') && !name) return {...route, view};
  return {...route, query: {}, server: null, unknown: hash.length > 2};
}

class App {
  constructor() {
    this.servers = [];
    this.failures = 0;
    this.paused = false;
    this.lists = new Map();
    this.between_looks = new Map();
  }

  // Requests.

  async get(path, parameters = {}, signal = null) {
    const query = new URLSearchParams();
    if (this.route.server) query.set('server', this.route.server);
    for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
    const limit = AbortSignal.timeout(REQUEST_MS);
    let response;
    try {
      // Relative, so that a proxy may serve this page below a path of its own.
      response = await fetch(`api/v1/${path}?${query}`, {cache: 'no-store', redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, limit]) : limit});
    } catch (why) {
      if (signal?.aborted) throw why;
      throw new Problem(limit.aborted ? `holdfast serve did not answer in ${REQUEST_MS / 1000}s`
        : 'holdfast serve cannot be reached');
    }
    const body = await response.json().catch(() => null);
    if (!response.ok || !body) throw this.refusal(response, body ?? {});
    return body;
  }

  refusal(response, body) {
    const {type, ok, status} = response;
    if (ok || type === 'opaqueredirect' || status === 401 || status === 407) {
      return new Problem('The answer is not from holdfast serve. If a proxy wants a log-in, load ' +
                         'this page again', status);
    }
    return new Problem(body.detail || body.title || `holdfast serve answered ${response.status}`,
                       response.status);
  }

  // Links and routes.

  link(path, query = {}) {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) if (value) parameters.set(key, value);
    if (this.route.server) parameters.set('server', this.route.server);
    const text = parameters.toString();
    return `#/${path}${text ? `?${text}` : ''}`;
  }

  list_link() { return this.link('locks', this.lists.get('locks')?.query); }

  replace(path, query) {
    history.replaceState(null, '', this.link(path, query));
    this.open();
  }

  open() {
    const before = this.route;
    this.route = read_hash(location.hash);
    const {view, name, query, server} = this.route;
    if (before && before.server !== server) this.lists.clear();
    const is_same = before?.view === view && before.name === name && before.server === server;
    if (is_same) this.view.update?.(query);
    else this.attach(this.view_of(view, name, query), before);
    document.title = `${this.view.title} · Holdfast`;
    this.show_place();
    this.show_banner();
    this.look_now();
  }

  view_of(view, name, query) {
    if (name) return new ONE_VIEWS[view](this, query, name);
    if (!this.lists.has(view)) this.lists.set(view, new LIST_VIEWS[view](this, query));
    this.lists.get(view).update?.(query);
    return this.lists.get(view);
  }

  attach(view, before) {
    this.view = view;
    at('main').replaceChildren(view.node);
    const has_focus = view.attached?.();
    if (!before) return;
    if (!has_focus) (view.heading ?? at('main')).focus({preventScroll: true});
    this.say(view.title);
  }

  show_place() {
    const {view} = this.route;
    const place = {lock: 'locks', client: 'clients'}[view] ?? view;
    for (const link of at('views').children) {
      const is_it = link.dataset.view === place;
      if (is_it) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
      const list = this.lists.get(link.dataset.view);
      link.href = this.link(link.dataset.view, is_it && view === place ? {} : list?.query);
    }
    this.show_servers();
  }

  // Looking.

  look_now() {
    clearTimeout(this.timer);
    if (document.hidden) this.looking?.abort();
    else this.look();
  }

  // A request outside the rhythm has failed: the next look will tell, and is not put off.
  look_later(why) { if (why.name !== 'AbortError') this.set_timer(PERIOD_MS); }

  set_timer(ms) {
    clearTimeout(this.timer);
    this.next_at = performance.now() + ms;
    if (!this.paused && !document.hidden) this.timer = setTimeout(() => this.look(), ms);
  }

  async look() {
    this.looking?.abort();
    this.looking = new AbortController();
    const {signal} = this.looking;
    const [servers, view] = await Promise.allSettled([
      this.get('servers', {}, signal).then((answer) => this.learn(answer.servers)),
      this.view.load(signal)]);
    if (signal.aborted) return;
    // That a server is down is no failure to ask for it.
    const of_view = this.server()?.up === false ? null : view.reason;
    const failed = servers.reason ?? of_view;
    this.trouble = servers.reason ?? (of_view?.told ? null : of_view);
    this.failures = failed ? this.failures + 1 : 0;
    this.show_banner();
    tick_all();
    const pause = Math.min(LONGEST_PAUSE_MS, PERIOD_MS * 2 ** this.failures);
    // Pages that failed together do not come back together.
    this.set_timer(failed ? pause * (0.75 + Math.random() / 2) : PERIOD_MS);
  }

  learn(servers) {
    const arrived = performance.now();
    for (const server of servers) {
      const before = this.servers.find((one) => one.name === server.name);
      const step = server.looked_ms - (before?.looked_ms ?? NaN);
      const least = this.between_looks.get(server.name) ?? Infinity;
      if (step > 0) this.between_looks.set(server.name, Math.min(least, step));
      server.looked_at = server.age_ms === null || server.age_ms === undefined ?
        NaN : arrived - server.age_ms;
    }
    this.servers = servers;
    this.show_servers();
  }

  server() {
    return this.servers.find((one) => one.name === (this.route.server ?? this.servers[0]?.name));
  }

  // What is always in sight.

  show_servers() {
    const select = at('server');
    const options = this.servers.map(
      (one) => [one.name, `${plain(one.name)}${one.up ? '' : ' (down)'}`]);
    const chosen = this.route.server ?? this.servers[0]?.name;
    if (chosen !== undefined && !options.some(([name]) => name === chosen)) {
      options.push([chosen, `${plain(chosen)} (unknown)`]);
    }
    const signature = JSON.stringify(options);
    if (select.signature !== signature) {
      select.signature = signature;
      select.replaceChildren(...options.map(([value, text]) => el('option', {value}, text)));
    }
    if (select.value !== (chosen ?? '')) select.value = chosen ?? '';
    select.title = plain(this.server()?.address ?? '');
  }

  freshness() {
    const at_ms = this.server()?.looked_at;
    const age = Number.isFinite(at_ms) ? ` · ${duration(performance.now() - at_ms)} old` : '';
    if (this.paused) return `paused${age}`;
    if (!this.trouble) return age && `${this.server().up ? 'live' : 'down'}${age}`;
    return `next try in ${duration(Math.max(0, this.next_at - performance.now()) + 999)}${age}`;
  }

  is_old(server) {
    const limit = Math.max(OLD_MS, 3 * (this.between_looks.get(server.name) ?? 0));
    return performance.now() - server.looked_at > limit;
  }

  // Each as [class, sentence...]. Ages stand elsewhere: a reader would be told each second.
  warnings() {
    const found = [];
    if (this.route.unknown) {
      found.push(['notice', 'The address names no view: here are the locks.']);
    }
    if (this.trouble) {
      found.push(['problem', shown(this.trouble.message), '. ',
                  this.trouble.status === undefined ? 'Is it still running? ' : '',
                  this.servers.length ? 'What you see is the last answer.' : '']);
    }
    const shown_one = this.server();
    if (this.route.server && this.servers.length && !shown_one) {
      found.push(['problem', 'holdfast serve looks at no server named ', shown(this.route.server),
                  '. Choose another one above.']);
    }
    return found.concat(...this.servers.map((one) => this.warnings_of(one, one === shown_one)));
  }

  warnings_of(server, is_shown) {
    const name = () => [el('b', {}, shown(server.name)), ' '];
    const was_seen = Number.isFinite(server.looked_at);
    const last = !is_shown ? '' : was_seen ? 'What you see is from the last good look.'
      : 'It has not been seen yet.';
    if (!server.up) {
      const why = server.error ? [': ', shown(server.error)] : [];
      return [['problem', 'Server ', ...name(), 'is down', ...why, '. ', last]];
    }
    if (!was_seen) {
      return is_shown ? [['notice', 'Server ', ...name(), 'has not been looked at yet.']] : [];
    }
    if (!this.trouble && this.is_old(server)) {
      return [['problem', 'The last look at server ', ...name(), 'is old: the server is slow, or ',
               'holdfast serve is busy. ', last]];
    }
    return is_shown ? this.gaps(server, name) : [];
  }

  gaps(server, name) {
    const of_clients = ['clients', 'client', 'waits'].includes(this.route.view);
    const lists = [];
    if (server.locks_complete === false) lists.push('locks');
    if (of_clients && server.clients_complete === false) lists.push('clients');
    const unseen = server.unseen ?? [];
    if (!lists.length && !unseen.length) return [];
    const why = unseen.length || !lists.includes('locks') ? ''
      : 'There are more locks than --limit of holdfast serve allows, or so many keys that the ' +
        'names of the locks come from an index, which can miss some.';
    const verb = lists.length > 1 ? 'are' : 'is';
    return [lists.length ?
      ['notice', `The list of ${lists.join(' and the list of ')} of server `, ...name(),
       `${verb} not complete. ${why}`, this.unseen(unseen)] :
      ['notice', 'A part of server ', ...name(), 'was not seen. ', this.unseen(unseen)]];
  }

  unseen(all) {
    if (!all.length) return '';
    return el('details', {}, el('summary', {}, `${number(all.length)} not seen`),
      el('ul', {}, ...all.slice(0, 100).map(({name, server, why}) => el('li', {},
        shown(name || server), ...(name && server ? [' on ', shown(server)] : []), ': ',
        shown(why)))));
  }

  show_banner() {
    const found = this.warnings();
    const nodes = found.map(([kind, ...words]) => el('p', {class: kind}, ...words.filter(Boolean)));
    const signature = nodes.map((node) => node.className + node.textContent).join('\n');
    if (at('banner').signature === signature) return;
    at('banner').signature = signature;
    const was_open = at('banner').querySelector('details')?.open;
    at('banner').replaceChildren(...nodes);
    at('banner').querySelector('details')?.toggleAttribute('open', was_open ?? false);
  }

  say(text) { at('said').textContent = text; }

  // What the operator does.

  pause() {
    this.paused = !this.paused;
    at('pause').textContent = this.paused ? 'Go on' : 'Pause';
    at('pause').setAttribute('aria-pressed', String(this.paused));
    if (this.paused) {
      clock.stop();
      clearTimeout(this.timer);
    } else {
      clock.go_on();
      this.view.resumed?.();
      this.look_now();
    }
    tick_all();
  }

  theme(step) {
    const themes = ['system', 'light', 'dark'];
    let now = document.documentElement.dataset.theme ?? remembered('theme');
    if (!themes.includes(now)) now = 'system';
    if (step) now = themes[(themes.indexOf(now) + 1) % themes.length];
    document.documentElement.dataset.theme = now;
    const text = {system: 'Auto', light: 'Light', dark: 'Dark'}[now];
    at('theme').textContent = text;
    at('theme').setAttribute('aria-label', `${text} colours`);
    if (step) remember('theme', now);
  }

  on_key(event) {
    const {key} = event;
    const inside = event.target.closest?.('input, select, textarea, dialog');
    if (event.ctrlKey || event.metaKey || event.altKey || at('help').open) return;
    if (key === 'Escape') return this.leave(inside);
    if (inside) {
      if (key === 'ArrowDown' && inside.type === 'search' && this.view.on_key('ArrowDown')) {
        event.preventDefault();
      }
      return;
    }
    const is_character = key.length === 1;
    if (is_character && !at('keys-on').checked) return;
    if (this.do_key(key) || this.view.on_key(key)) event.preventDefault();
  }

  do_key(key) {
    const views = Object.keys(LIST_VIEWS);
    const actions = {'?': () => at('help').showModal(), p: () => this.pause(),
      r: () => this.look_now(), t: () => this.theme(1),
      '/': () => this.search()};
    if (Object.hasOwn(actions, key)) actions[key]();
    else if (key >= '1' && key <= String(views.length)) at('views').children[key - 1].click();
    else return false;
    return true;
  }

  search() {
    if (!this.view.search) location.hash = this.list_link();
    this.view.search?.focus();
    this.view.search?.select();
  }

  leave(inside) {
    if (inside) inside.blur();
    else if (this.route.name) location.hash = at('views').querySelector('[aria-current]').hash;
  }

  start() {
    this.theme(0);
    at('keys-on').checked = remembered('keys') !== 'off';
    at('keys-on').addEventListener('change',
      (event) => remember('keys', event.target.checked ? 'on' : 'off'));
    at('freshness').append(ticking(() => this.freshness()));
    at('pause').addEventListener('click', () => this.pause());
    at('theme').addEventListener('click', () => this.theme(1));
    at('keys').addEventListener('click', () => at('help').showModal());
    // The hash is the route, so that a link into the page itself would lead away.
    at('skip').addEventListener('click', (event) => {
      event.preventDefault();
      at('main').focus();
    });
    at('server').addEventListener('change', (event) => {
      const view = this.route.name ? 'locks' : this.route.view;
      this.route = {...this.route, server: event.target.value};
      location.hash = this.link(view, this.route.name ? {} : this.route.query);
    });
    addEventListener('hashchange', () => this.open());
    addEventListener('keydown', (event) => this.on_key(event));
    document.addEventListener('visibilitychange', () => this.on_visibility());
    setInterval(() => { if (!document.hidden) tick_all(); }, 1000);
    this.open();
  }

  on_visibility() {
    clearTimeout(this.timer);
    if (document.hidden) this.looking?.abort();
    else if (!this.paused) this.look_now();
  }
}

// A browser may refuse to remember: the choice then lasts as long as the page.
function remember(name, value) {
  try {
    localStorage.setItem(`holdfast-${name}`, value);
  } catch { /* as above */ }
}

function remembered(name) {
  try {
    return localStorage.getItem(`holdfast-${name}`);
  } catch {
    return null;
  }
}

new App().start();
