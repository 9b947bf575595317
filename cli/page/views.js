// Clients, one client, the doctor's findings; and the waits, in words and as a picture.
import {client_line, count, duration, el, number, plain, put, RowTable, short_table, show_if_new,
        shown, ticking, TYPING_MS} from './kit.js';
import {lock_link} from './locks.js';

const COLUMNS = [
  {name: 'program', title: 'Program', sort: 'program'}, {name: 'host', title: 'Host', sort: 'host'},
  {name: 'pid', title: 'Process', sort: 'pid'},
  {name: 'version', title: 'Version', sort: 'version'},
  {name: 'holds', title: 'Holds', sort: 'holding'},
  {name: 'waits', title: 'Waits for', sort: 'waiting'}];
const IN_A_CELL = 3;

const client_path = (id) => `client/${encodeURIComponent(String(id).toWellFormed())}`;

function some_locks(app, names, all) {
  const nodes = names.slice(0, IN_A_CELL).flatMap((name, i) =>
    [i ? ', ' : '', lock_link(app, name)]);
  // The number comes first: the end of a long cell is cut off.
  if (all > 1) nodes.unshift(`${number(all)}: `);
  if (all > IN_A_CELL) nodes.push(', …');
  return nodes;
}

function fill_client(app, cells, client) {
  const [program, host, pid, version, holds, waits] = cells;
  put(program, client.id + client.program, () => [el('a', {href: app.link(client_path(client.id)),
    title: plain(client.program)}, client.program ? shown(client.program)
                                                  : el('span', {}, 'id ', shown(client.id)))]);
  put(host, client.host, () => [shown(client.host)]);
  put(pid, client.pid, () => [String(client.pid ?? '')]);
  put(version, client.version, () => [shown(client.version)]);
  put(holds, JSON.stringify([client.holds, client.holding]),
      () => some_locks(app, client.holds ?? [], client.holding));
  put(waits, JSON.stringify([client.waits, client.waiting]),
      () => some_locks(app, client.waits ?? [], client.waiting));
}

function versions_of(clients) {
  const counts = new Map();
  for (const one of clients) {
    const version = one.version || '?';
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  if (counts.size < 2) return '';
  const list = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4);
  return `, ${count(counts.size, 'version')}: ` +
    list.map(([version, n]) => `${plain(version)} (${number(n)})`).join(', ') +
    (counts.size > list.length ? ' and others' : '');
}

export class ClientsView {
  title = 'Clients';

  constructor(app, query) {
    this.app = app;
    this.all = [];
    this.rows = [];
    this.summary = el('p', {class: 'summary'});
    this.search = el('input', {type: 'search', placeholder: 'Search program, host, id  /',
      'aria-label': 'Search clients', autocomplete: 'off', spellcheck: 'false', maxlength: 500,
      oninput: () => this.typed()});
    this.empty = el('p', {class: 'empty', hidden: true});
    this.table = new RowTable({label: 'Clients', columns: COLUMNS,
      fill: (cells, client) => fill_client(app, cells, client), item: (i) => this.rows[i],
      key: (client) => client.id, sort: (by) => this.sort_by(by)});
    this.node = el('section', {class: 'list clients'},
      el('h1', {class: 'unseen'}, 'Clients'),
      el('form', {class: 'tools', role: 'search', onsubmit: (event) => {
        event.preventDefault();
        this.table.move(1);
      }}, this.search, this.summary), this.empty, this.table.node);
    this.update(query);
  }

  update(query) {
    this.query = query;
    if (document.activeElement !== this.search) this.search.value = query.contains ?? '';
    this.table.show_order(query.sort ?? 'program', query.order ?? 'asc');
    this.choose();
  }

  typed() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => {
      if (this.node.isConnected) this.go({contains: this.search.value});
    }, TYPING_MS);
  }

  go(changes) { this.app.replace('clients', {...this.query, ...changes}); }

  sort_by(sort) {
    const same = sort === (this.query.sort ?? 'program');
    const first = ['holding', 'waiting'].includes(sort) ? 'desc' : 'asc';
    this.go({sort, order: same ? (this.query.order === 'desc' ? 'asc' : 'desc') : first});
  }

  choose() {
    const wanted = (this.query.contains ?? '').toLowerCase();
    const by = COLUMNS.some((one) => one.sort === this.query.sort) ? this.query.sort : 'program';
    const sign = this.query.order === 'desc' ? -1 : 1;
    const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b
      : String(a ?? '') < String(b ?? '') ? -1 : Number(String(a ?? '') > String(b ?? ''));
    this.rows = this.all.filter((one) => [one.program, one.host, one.id, one.version].some(
      (text) => String(text ?? '').toLowerCase().includes(wanted)));
    this.rows.sort((a, b) => sign * compare(a[by], b[by]) || compare(a.id, b.id));
    this.summary.textContent = count(this.rows.length, 'client') + (wanted ? ' found' : '') +
      (this.complete === false ? ', the list is not complete' : '') + versions_of(this.rows);
    this.empty.hidden = this.rows.length > 0 || !this.answered;
    this.empty.textContent = wanted ? 'No client matches.' : 'No client is known to this server.';
    this.table.node.hidden = !this.rows.length;
    this.table.update(this.rows.length);
  }

  async load(signal) {
    const answer = await this.app.get('clients', {}, signal);
    this.all = answer.clients;
    this.complete = answer.complete;
    this.answered = true;
    this.choose();
  }

  attached() { return this.table.restore(); }

  on_key(key) { return this.table.on_key(key); }
}

export class ClientView {
  title = 'Client';

  constructor(app, query, id) {
    this.app = app;
    // Decoding can fail: then it is the id of no client.
    try {
      this.id = decodeURIComponent(id);
    } catch {
      this.id = id;
    }
    this.heading = el('h1', {class: 'lock-name', tabindex: -1}, shown(this.id));
    this.body = el('div');
    this.node = el('section', {class: 'detail'},
      el('p', {class: 'back'}, el('a', {href: app.link('clients')}, '← All clients')),
      this.heading, this.body);
  }

  async load(signal) {
    const answer = await this.app.get('clients', {}, signal);
    const client = answer.clients.find((one) => one.id === this.id);
    show_if_new(this.body, client ?? answer.complete, () => client ? this.of(client) : [
      el('p', {}, 'No client of this id holds a lock or waits for one. It may have ended.',
         answer.complete === false ? ' The list of clients is not complete.' : '')]);
  }

  of(client) {
    const fact = (name, value) => [el('dt', {}, name), el('dd', {}, value)];
    const list = (title, names, all) => el('section', {}, el('h2', {}, title),
      names.length ? el('ul', {class: 'names'}, ...names.map((name) =>
        el('li', {}, lock_link(this.app, name)))) : el('p', {class: 'soft'}, 'None.'),
      all > names.length ? el('p', {class: 'soft'}, `And ${number(all - names.length)} more.`)
        : null);
    return [el('dl', {class: 'facts'}, ...fact('Program', shown(client.program)),
      ...fact('Host', shown(client.host)), ...fact('Process', String(client.pid ?? 'unknown')),
      ...fact('Version', shown(client.version))),
    list(`Holds ${count(client.holding, 'lock')}`, client.holds ?? [], client.holding),
    list(`Waits for ${count(client.waiting, 'lock')}`, client.waits ?? [], client.waiting)];
  }

  on_key() { return false; }
}

const WAITS_SHOWN = 200;

export class WaitsView {
  title = 'Waits';

  constructor(app) {
    this.app = app;
    this.heading = el('h1', {tabindex: -1}, 'Which client waits for which');
    this.body = el('div');
    this.node = el('section', {class: 'detail waits'}, this.heading, this.body);
  }

  async load(signal) {
    const answer = await this.app.get('waits', {}, signal);
    show_if_new(this.body, answer, () => this.of(answer));
    const text = answer.cycles.length ? count(answer.cycles.length, 'deadlock') : 'No deadlock';
    if (text !== this.said) this.app.say(`${text}, ${count(answer.edges.length, 'wait')}`);
    this.said = text;
  }

  of({nodes, edges, cycles, complete}) {
    const by_id = new Map(nodes.map((node) => [node.id, node]));
    const client = (id) => el('a', {href: this.app.link(client_path(id))},
                              client_line(by_id.get(id) ?? {id}));
    const partial = complete === false ?
      el('p', {class: 'notice'}, 'There are more waits than are shown here.') : null;
    if (!edges.length) return [partial ?? el('p', {}, 'No client waits for another one.')];
    const rows = edges.slice(0, WAITS_SHOWN).map((edge) =>
      [client(edge.from), lock_link(this.app, edge.lock), client(edge.to)]);
    const title = edges.length > rows.length ?
      `Waits: the first ${number(rows.length)} of ${number(edges.length)}` : 'Waits';
    return [partial, ...this.deadlocks(cycles, edges, client),
      el('div', {class: 'picture', tabindex: 0, role: 'region',
                 'aria-label': 'Picture of the waits'},
         draw_waits({nodes, edges, cycles}, (path) => this.app.link(path))),
      short_table(title, ['Waiter', 'waits for the lock', 'held by'], rows)].filter(Boolean);
  }

  deadlocks(cycles, edges, client) {
    if (!cycles.length) return [el('p', {class: 'good'}, 'No deadlock: the waits have no cycle.')];
    return cycles.map((ids, i) => el('section', {class: 'problem', role: 'group'},
      el('h2', {}, `Deadlock ${i + 1} of ${cycles.length}: a cycle of ` +
                   count(ids.length, 'client')),
      el('ol', {}, ...this.steps(ids, edges).map(({from, to, lock}) => el('li', {}, client(from),
        ' waits for ', lock === undefined ? 'a lock' : lock_link(this.app, lock), ', held by ',
        client(to)))),
      el('p', {}, 'None of them goes on before one gives up or loses its lease: end one of these ' +
         'processes. To avoid deadlocks, take several locks in the same order everywhere.')));
  }

  // The edges of a cycle in its order, which may be given either way round.
  steps(ids, edges) {
    const along = (list) => list.map((from, i) => {
      const to = list[(i + 1) % list.length];
      return edges.find((edge) => edge.from === from && edge.to === to) ?? {from, to};
    });
    const given = along(ids);
    const turned = along(ids.toReversed());
    const known = (steps) => steps.filter((step) => step.lock !== undefined).length;
    return known(turned) > known(given) ? turned : given;
  }

  on_key() { return false; }
}

const SEVERITIES = ['problem', 'warning', 'ok'];

export class DoctorView {
  title = 'Doctor';

  constructor(app) {
    this.app = app;
    this.heading = el('h1', {tabindex: -1}, 'Is this server fit for locks?');
    this.body = el('div');
    this.age = ticking(() => Number.isFinite(this.looked_at) ?
      `Checked ${duration(performance.now() - this.looked_at)} ago.` : '', {class: 'soft'});
    this.node = el('section', {class: 'detail'}, this.heading, this.body, el('p', {}, this.age));
  }

  async load(signal) {
    try {
      const answer = await this.app.get('doctor', {}, signal);
      this.looked_at = performance.now() - (answer.age_ms ?? NaN);
      show_if_new(this.body, answer.findings, () => this.of(answer.findings));
    } catch (why) {
      if (why.status !== 404) throw why;
      this.looked_at = NaN;
      show_if_new(this.body, why.message, () => [el('p', {}, 'The doctor is off. Start ',
        el('code', {}, 'holdfast serve'), ' with ', el('code', {}, '--doctor'),
        ' to see here what ', el('code', {}, 'holdfast doctor'),
        ' finds. It writes trial keys to the server, so it is ' +
        'off by default.'), el('p', {class: 'soft'}, 'The answer was: ', shown(why.message))]);
    }
    this.age.tick();
  }

  of(findings) {
    if (!findings.length) return [el('p', {}, 'The doctor has not finished its first visit yet.')];
    const sorted = findings.toSorted((a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
    const counts = SEVERITIES.slice(0, 2).map((of) =>
      count(findings.filter((one) => one.severity === of).length, of));
    return [el('p', {class: 'summary'}, counts.join(', ')),
      el('ul', {class: 'findings'}, ...sorted.map((one) => el('li', {class: `is-${one.severity}`},
        el('span', {class: `state is-${one.severity}`}, plain(one.severity)), ' ',
        el('b', {}, shown(one.check)), el('p', {}, shown(one.detail)),
        one.remedy ? el('p', {}, el('b', {}, 'What to do: '), shown(one.remedy)) : null)))];
  }

  on_key() { return false; }
}

// The picture of the waits: waiters at the left, what they wait for at the right of them.

const WIDTH = 190;      // of a box
const GAP = 210;        // between columns, with room for the name of a lock
const PORT = 18;        // between lines at a box
const BETWEEN = 18;     // boxes of a column
const ALIKE = 4;        // so many waiters of one lock become one box
const LABEL = 27;       // characters
const MOST_PIECES = 4000;

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function cut(text, length) {
  const characters = [...plain(text)];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…`
    : characters.join('');
}

function grouped(list, key) {
  const groups = new Map();
  for (const one of list) {
    if (!groups.has(key(one))) groups.set(key(one), []);
    groups.get(key(one)).push(one);
  }
  return groups;
}

// Waiters that nobody waits for, and that wait for the same, are one box: a busy lock has hundreds.
function condensed({nodes, edges, cycles}) {
  const cyclic = new Set(cycles.flat());
  const known = new Map(nodes.map((node) => [node.id, node]));
  const ids = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  const awaited = new Set(edges.map((edge) => edge.to));
  const out = grouped(edges, (edge) => edge.from);
  const plain_waiters = [...ids].filter((id) => !awaited.has(id) && !cyclic.has(id));
  const alike = grouped(plain_waiters, (id) =>
    JSON.stringify(out.get(id).map((edge) => [edge.to, edge.lock]).sort()));
  const stands_for = new Map();
  const boxes = new Map();
  for (const members of [...alike.values()].filter((some) => some.length >= ALIKE)) {
    for (const id of members) stands_for.set(id, members[0]);
    boxes.set(members[0], {id: members[0], members});
  }
  for (const id of ids) {
    if (!stands_for.has(id)) boxes.set(id, {...(known.get(id) ?? {}), id, cyclic: cyclic.has(id)});
  }
  return {boxes, lines: lines_of(edges.filter(({from}) =>
    (stands_for.get(from) ?? from) === from), cycles)};
}

// Several locks between the same two are one line.
function lines_of(edges, cycles) {
  const round = cycles.map((ids) => new Set(ids));
  const between_two = grouped(edges, (edge) => JSON.stringify([edge.from, edge.to]));
  return [...between_two.values()].map((same) => {
    const {from, to, lock} = same[0];
    const more = same.length > 1 ? ` +${same.length - 1}` : '';
    return {from, to, locks: same.map((edge) => edge.lock),
            label: cut(lock, LABEL - more.length) + more,
            cyclic: round.some((ids) => ids.has(from) && ids.has(to))};
  });
}

// Marks the lines that close a cycle, so that the others lead to the right only.
function mark_backward(boxes, lines) {
  const out = grouped(lines, (line) => line.from);
  const state = new Map();
  const visit = (id) => {
    state.set(id, 'open');
    for (const line of out.get(id) ?? []) {
      line.backward = state.get(line.to) === 'open';
      if (!state.has(line.to)) visit(line.to);
    }
    state.set(id, 'done');
  };
  const awaited = new Set(lines.map((line) => line.to));
  for (const id of boxes.keys()) if (!awaited.has(id)) visit(id);
  for (const id of boxes.keys()) if (!state.has(id)) visit(id);
}

function parts_of(boxes, lines) {
  const part = new Map([...boxes.keys()].map((id) => [id, id]));
  const root = (id) => {
    while (part.get(id) !== id) id = part.get(id);
    return id;
  };
  for (const line of lines) part.set(root(line.from), root(line.to));
  const found = grouped([...boxes.values()], (box) => root(box.id));
  const weight = (some) => (some.some((box) => box.cyclic) ? 1e6 : 0) + some.length;
  return [...found.values()].sort((a, b) => weight(b) - weight(a));
}

function set_columns(boxes, forward) {
  for (const box of boxes) box.column = 0;
  for (let changed = true; changed;) {
    changed = false;
    for (const {start, end} of forward) {
      if (end.column <= start.column) {
        end.column = start.column + 1;
        changed = true;
      }
    }
  }
  // A waiter that nobody waits for stands just left of what it waits for.
  const out = grouped(forward, (line) => line.start);
  const awaited = new Set(forward.map((line) => line.end));
  for (const box of boxes) {
    if (awaited.has(box) || !out.has(box)) continue;
    box.column = Math.min(...out.get(box).map((line) => line.end.column)) - 1;
  }
}

function order_columns(columns, forward) {
  const middle = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const places = () => columns.forEach((column) => column.forEach((box, i) => {
    box.place = i - column.length / 2;
  }));
  const at_box = {start: grouped(forward, (line) => line.start),
                  end: grouped(forward, (line) => line.end)};
  places();
  for (let sweep = 0; sweep < 6; ++sweep) {
    const [mine, other] = sweep % 2 ? ['end', 'start'] : ['start', 'end'];
    for (const column of columns) {
      for (const box of column) {
        const near = (at_box[mine].get(box) ?? []).map((line) => line[other].place);
        box.wish = near.length ? middle(near) : box.place;
      }
      column.sort((a, b) => a.wish - b.wish);
    }
    places();
  }
}

// A line over several columns leads through a place of its own in each, not behind their boxes.
// Returns the pieces, each from one column to the next; one piece if there would be too many.
function pieces_of(line, is_direct) {
  const stops = [line.start];
  for (let column = line.start.column + 1; column < line.end.column && !is_direct; ++column) {
    stops.push({column, is_stop: true});
  }
  stops.push(line.end);
  line.pieces = stops.slice(1).map((end, i) => ({start: stops[i], end}));
  return line.pieces;
}

function place_part(boxes, lines, top) {
  const forward = lines.filter((line) => !line.backward);
  set_columns(boxes, forward);
  const length = forward.reduce((sum, line) => sum + line.end.column - line.start.column, 0);
  const pieces = forward.flatMap((line) => pieces_of(line, length > MOST_PIECES));
  const all = [...boxes, ...pieces.map((piece) => piece.end).filter((end) => end.is_stop)];
  const columns = [...grouped(all, (box) => box.column)].sort((a, b) => a[0] - b[0])
    .map(([, column]) => column);
  order_columns(columns, pieces);
  const [out, into] = [grouped(pieces, (one) => one.start), grouped(pieces, (one) => one.end)];
  for (const box of all) {
    const ports = Math.max(out.get(box)?.length ?? 0, into.get(box)?.length ?? 0);
    box.height = box.is_stop ? PORT : Math.max(46, ports * PORT + 10);
    box.x = box.column * (WIDTH + GAP);
  }
  const tall = (column) => column.reduce((sum, box) => sum + box.height + BETWEEN, -BETWEEN);
  const tallest = Math.max(...columns.map(tall));
  for (const column of columns) {
    let y = top + (tallest - tall(column)) / 2;
    for (const box of column) {
      box.y = y;
      y += box.height + BETWEEN;
    }
  }
  set_ports(out, 'end', 'y1');
  set_ports(into, 'start', 'y2');
  return top + tallest;
}

function set_ports(at_boxes, other, y) {
  for (const [box, pieces] of at_boxes) {
    pieces.sort((a, b) => a[other].y - b[other].y);
    pieces.forEach((piece, i) => {
      piece[y] = box.y + box.height / 2 + (i - (pieces.length - 1) / 2) * PORT;
    });
  }
}

function line_forward({pieces}) {
  const half = GAP / 2;
  const path = pieces.map(({start, end, y1, y2}) => `H${start.x + WIDTH}` +
    `C${start.x + WIDTH + half} ${y1} ${end.x - half} ${y2} ${end.x - 2} ${y2}`);
  const first = pieces[0];
  const last = pieces.at(-1);
  return {path: `M${first.start.x + WIDTH} ${first.y1}${path.join('')}`,
          tip: `M${last.end.x} ${last.y2}l-9 -5v10z`,
          x: first.start.x + WIDTH + 8, y: first.y1 - 5, anchor: 'start'};
}

// Below everything, and up again.
function line_backward(line, depth) {
  const x1 = line.start.x + WIDTH / 2 + (line.start === line.end ? 40 : 12);
  const x2 = line.end.x + WIDTH / 2 - 12;
  const y1 = line.start.y + line.start.height;
  const y2 = line.end.y + line.end.height;
  return {path: `M${x1} ${y1}V${depth - 10}Q${x1} ${depth} ${x1 - 10} ${depth}H${x2 + 10}` +
                `Q${x2} ${depth} ${x2} ${depth - 10}V${y2 + 2}`,
          tip: `M${x2} ${y2}l-5 9h10z`, x: (x1 + x2) / 2, y: depth - 5, anchor: 'middle'};
}

function draw_line(line, shape) {
  const kind = line.cyclic ? ' is-cycle' : '';
  const names = line.locks.map(plain).join(', ');
  return svg('g', {class: `line${kind}`}, svg('title', {}, names),
    svg('path', {class: 'run', d: shape.path}), svg('path', {class: 'tip', d: shape.tip}),
    svg('text', {x: shape.x, y: shape.y, 'text-anchor': shape.anchor}, line.label));
}

function draw_box(box, link) {
  const group = box.members;
  const title = group ? count(group.length, 'client') : box.host ? plain(box.program) : 'unknown';
  const below = group ? 'wait for the same' : box.host ?
    `${cut(box.host, 18)} ${box.pid ?? '?'}` : cut(`id ${box.id}`, 24);
  const text = (dy, size, kind, words) => svg('text', {x: box.x + 12, class: kind,
    y: box.y + box.height / 2 + dy}, cut(words, size));
  const shape = svg('g', {class: `box${box.cyclic ? ' is-cycle' : ''}${group ? ' is-group' : ''}`},
    svg('title', {}, group ? `${title}: ${group.slice(0, 20).map(plain).join(', ')}` :
      `${title} on ${plain(box.host)} ${box.pid ?? ''}, id ${plain(box.id)}`),
    svg('rect', {x: box.x, y: box.y, width: WIDTH, height: box.height, rx: 6}),
    text(-4, 22, 'head', title), text(13, 26, 'sub', below));
  if (group) return shape;
  const id = encodeURIComponent(String(box.id).toWellFormed());
  return svg('a', {href: link(`client/${id}`)}, shape);
}

// `link` makes the address of a view.
function draw_waits(answer, link) {
  const {boxes, lines} = condensed(answer);
  for (const line of lines) {
    line.start = boxes.get(line.from);
    line.end = boxes.get(line.to);
  }
  mark_backward(boxes, lines);
  const out = grouped(lines, (line) => line.start);
  const drawn_lines = [];
  const drawn_boxes = [];
  let top = 24;
  for (const part of parts_of(boxes, lines)) {
    const own = part.flatMap((box) => out.get(box) ?? []);
    const is_cyclic = part.some((box) => box.cyclic);
    if (is_cyclic) {
      drawn_boxes.push(svg('text', {x: 0, y: top, class: 'deadlock'}, 'Deadlock (a cycle)'));
      top += 24;
    }
    let bottom = place_part(part, own, top);
    for (const line of own) {
      if (line.backward) bottom += 28;
      drawn_lines.push(draw_line(line, line.backward ? line_backward(line, bottom)
        : line_forward(line)));
    }
    drawn_boxes.push(...part.map((box) => draw_box(box, link)));
    top = bottom + 48;
  }
  const width = Math.max(...[...boxes.values()].map((box) => box.x + WIDTH)) + 16;
  return svg('svg', {width, height: top, viewBox: `-8 0 ${width} ${top}`, role: 'group',
    'aria-label': 'The same is in the table below'}, ...drawn_lines, ...drawn_boxes);
}
