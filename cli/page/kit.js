// What every view is made of: elements, text from other people, times, and a table of many rows.

// How long after a key a search begins: a browser refuses addresses that change too often.
export const TYPING_MS = 150;

// Everything is made of text nodes and attributes, so that no name can become markup.
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// The same characters as cli/printable.cpp: they steer, turn the direction of text, or are unseen.
const MISLEADING = new RegExp(
  '[\\u{0}-\\u{1f}\\u{7f}-\\u{a0}\\u{ad}\\u{34f}\\u{61c}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}' +
  '\\u{180b}-\\u{180f}\\u{2000}-\\u{200f}\\u{2028}-\\u{202f}\\u{205f}-\\u{206f}\\u{3000}\\u{3164}' +
  '\\u{d800}-\\u{f8ff}\\u{fe00}-\\u{fe0f}\\u{feff}\\u{ffa0}\\u{fff0}-\\u{ffff}' +
  '\\u{e0000}-\\u{10ffff}]|^ | $', 'gu');

function escaped(character) {
  const short = {'\n': '\\n', '\r': '\\r', '\t': '\\t', ' ': '\u2423'}[character];
  if (short) return short;
  const code = character.codePointAt(0).toString(16);
  return code.length < 3 && character < '\x80' ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}

// As text alone, for titles and pictures.
export function plain(text) {
  return String(text ?? '').replace(MISLEADING, escaped);
}

// As an element that keeps its direction to itself and marks what could not be seen.
export function shown(text) {
  const whole = String(text ?? '');
  const element = el('bdi', {class: 'name'});
  let done = 0;
  for (const found of whole.matchAll(MISLEADING)) {
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    element.append(whole.slice(done, found.index),
                   el('span', {class: 'odd', title: `U+${code}`}, escaped(found[0])));
    done = found.index + found[0].length;
  }
  element.append(whole.slice(done));
  return element;
}

export const number = (count) => Number(count ?? 0).toLocaleString('en');
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

export function duration(ms) {
  if (!Number.isFinite(ms)) return '';
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes < 1) return `${seconds}s`;
  if (hours < 1) return `${minutes}m ${seconds % 60}s`;
  if (hours < 24) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

// In UTC, as the program prints it.
export function moment(ms) {
  const date = new Date(ms ?? NaN);
  const year = date.getUTCFullYear();
  if (!(year >= 1970 && year < 10000)) return '';
  return date.toISOString().replace('T', ' ').replace(/\.\d+Z/, 'Z');
}

// The time that is shown. It stands still while the page is paused.
export const clock = {
  stopped_at: null,
  now() { return this.stopped_at ?? performance.now(); },
  stop() { this.stopped_at = performance.now(); },
  go_on() { this.stopped_at = null; },
};

// A look, as this page's own clock sees it. The clock of the browser may be wrong and the clock of
// the Redis server is another one: only differences are used.
export class Look {
  constructor(answer) {
    this.arrived = clock.now();
    this.age = answer.age_ms ?? 0;
    this.now = answer.now_ms ?? NaN;
  }

  // What clock.now() was, or will be, at that time of the Redis server.
  at(server_ms) {
    return Number.isFinite(server_ms) ? this.arrived - this.age + (server_ms - this.now) : NaN;
  }

  in(ms) { return Number.isFinite(ms) ? this.arrived - this.age + ms : NaN; }
}

// An element whose text is asked for again each second, as long as it is in the document.
export function ticking(text, attributes = {}) {
  const element = el('span', {...attributes, 'data-tick': true});
  element.tick = () => {
    const wanted = text(element);
    if (element.textContent !== wanted) element.textContent = wanted;
  };
  element.tick();
  return element;
}

// How long ago something was. Where the clock of the Redis server is not known: when it was.
export const since = (at, server_ms) => ticking(() => {
  const began = at();
  return Number.isFinite(began) ? duration(clock.now() - began) : moment(server_ms).slice(11);
}, {title: moment(server_ms)});

// The rest of a lease. It is renewed long before it ends: a short rest deserves a look.
export const rest = (until) => ticking((element) => {
  const ms = until() - clock.now();
  element.classList.toggle('ending', ms < 2000);
  return ms === Infinity ? 'no end' : ms < 0 ? 'over' : duration(ms);
});

export function tick_all() {
  for (const element of document.querySelectorAll('[data-tick]')) element.tick?.();
}

export function client_line(client) {
  if (!client) return el('span', {class: 'soft'}, '–');
  if (!client.host) return el('span', {}, 'id ', shown(client.id));
  return el('span', {}, shown(client.program), el('span', {class: 'soft'}, ' on '),
            shown(client.host), el('span', {class: 'soft'}, ` ${client.pid ?? '?'}`));
}

// Tables that are rebuilt whole are short: the API bounds them to 100 rows.
export function short_table(caption, headings, rows) {
  return el('div', {class: 'wide'}, el('table', {class: 'short'},
    el('caption', {}, caption),
    el('thead', {}, el('tr', {}, ...headings.map((text) => el('th', {scope: 'col'}, text)))),
    el('tbody', {}, ...rows.map((cells) =>
      el('tr', {}, ...cells.map((cell) => el('td', {}, cell)))))));
}

// Rebuilds `into` only when what it shows has changed: a selection, the focus and a reader's place
// would be lost every two seconds otherwise.
export function show_if_new(into, what, build) {
  const signature = JSON.stringify(what, (key, value) =>
    ['remaining_ms', 'age_ms', 'now_ms', 'oldest_wait_ms'].includes(key) ? undefined : value);
  if (into.signature === signature) return;
  into.signature = signature;
  into.replaceChildren(...build());
}

const HIGHEST = 11e6;    // pixels; browsers limit the height of an element
const MARGIN = 8;        // rows beyond each edge

// A table of any number of rows, of which those in sight exist. `columns` are {name, title, sort};
// `fill(cells, item)` writes one row; `item(index)` may be undefined until it has been fetched.
export class RowTable {
  constructor({label, columns, fill, item, key, seen, sort}) {
    Object.assign(this, {columns, fill, item, key, seen});
    this.count = 0;
    this.first = 0;
    this.rows = [];
    this.cursor = -1;
    this.scroll_top = 0;
    this.above = this.spacer();
    this.below = this.spacer();
    this.heads = columns.map((column) => this.head(column, sort));
    this.body = el('tbody', {role: 'rowgroup', onclick: (event) => this.on_click(event)},
                   this.above, this.below);
    this.table = el('table', {class: 'rows', role: 'table', 'aria-label': label},
      el('thead', {role: 'rowgroup'}, el('tr', {role: 'row', 'aria-rowindex': 1}, ...this.heads)),
      this.body);
    this.node = el('div', {class: 'scroller', tabindex: 0, role: 'region', 'aria-label': label,
                           onscroll: () => this.ask()}, this.table);
    this.row_height = 32;
    new ResizeObserver(() => this.measure()).observe(this.node);
  }

  // Rows have two lines in a narrow window: page.css says how high they are.
  measure() {
    if (!this.node.isConnected) return;
    this.row_height = parseFloat(getComputedStyle(this.node).getPropertyValue('--row')) || 32;
    if (this.total !== undefined) this.update(this.total);
  }

  // One cell: with more, columns that a narrow window hides would take their place again.
  spacer() { return el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td')); }

  head(column, sort) {
    const inside = column.sort ?
      el('button', {type: 'button', onclick: () => sort(column.sort)}, column.title) : column.title;
    return el('th', {scope: 'col', role: 'columnheader', class: `is-${column.name}`}, inside);
  }

  show_order(sort, order) {
    this.columns.forEach((column, i) => {
      if (column.sort !== sort) this.heads[i].removeAttribute('aria-sort');
      else this.heads[i].setAttribute('aria-sort', order === 'desc' ? 'descending' : 'ascending');
    });
  }

  // The items have changed, or their number.
  update(total) {
    this.total = total;
    this.count = Math.min(total, Math.floor(HIGHEST / this.row_height));
    this.table.setAttribute('aria-rowcount', total + 1);
    const focused = this.focused_row();
    const key = focused?.item && this.key(focused.item);
    this.draw(true);
    // The focus stays on its item, also when that has another place now.
    const now = key && this.rows.find((row) => row.item && this.key(row.item) === key);
    if (now && now !== focused) this.focus_row(now.index);
  }

  focused_row() { return this.rows.find((row) => row.contains(document.activeElement)); }

  ask() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw(false);
    });
  }

  // Returns the first row that should exist, and how many.
  wanted() {
    this.scroll_top = this.node.scrollTop;
    const in_sight = Math.ceil((this.node.clientHeight || 0) / this.row_height) + 2 * MARGIN;
    const size = Math.min(this.count, in_sight);
    const first = Math.floor(this.scroll_top / this.row_height) - MARGIN;
    return [Math.max(0, Math.min(first, this.count - size)), size];
  }

  draw(all) {
    if (!this.node.isConnected) return;
    const [first, size] = this.wanted();
    this.fit(size);
    const shift = first - this.first;
    if (Math.abs(shift) < size) this.turn(shift);
    this.first = first;
    this.rows.forEach((row, i) => this.put(row, first + i, all));
    this.set_height(this.above, first);
    this.set_height(this.below, this.count - first - size);
    this.seen?.(first, first + size);
  }

  fit(size) {
    while (this.rows.length > size) this.rows.pop().remove();
    while (this.rows.length < size) {
      // The roles stay when a narrow window lays the rows out as something else than a table.
      const row = el('tr', {role: 'row'}, ...this.columns.map((one) =>
        el('td', {role: 'cell', class: `is-${one.name}`})));
      row.index = -1;
      this.rows.push(row);
      this.body.insertBefore(row, this.below);
    }
  }

  // Moves rows from one end to the other, so that those which stay in sight are not touched.
  turn(shift) {
    for (; shift > 0; --shift) {
      this.rows.push(this.rows.shift());
      this.body.insertBefore(this.rows.at(-1), this.below);
    }
    for (; shift < 0; ++shift) {
      this.body.insertBefore(this.rows.at(-1), this.rows[0]);
      this.rows.unshift(this.rows.pop());
    }
  }

  put(row, index, all) {
    const item = this.item(index);
    if (!all && row.index === index && row.item === item) return;
    if (row.index !== index && row.contains(document.activeElement)) {
      this.node.focus({preventScroll: true});
    }
    if (row.index !== index) row.setAttribute('aria-rowindex', index + 2);
    row.index = index;
    row.item = item;
    row.classList.toggle('absent', !item);
    if (item) this.fill(row.cells, item);
    else for (const cell of row.cells) put(cell, '', () => []);
  }

  set_height(spacer, rows) {
    const height = rows * this.row_height;
    if (spacer.height === height) return;
    spacer.height = height;
    spacer.hidden = rows <= 0;
    spacer.firstChild.style.height = `${height}px`;
  }

  move(step) {
    if (!this.count) return;
    const from = this.focused_row()?.index ?? this.cursor;
    // After scrolling, a key goes on from what is in sight.
    const first = Math.ceil(this.node.scrollTop / this.row_height);
    const in_sight = from >= first && from < first + this.node.clientHeight / this.row_height;
    const to = in_sight || Math.abs(step) === Infinity ? from + step : first;
    this.focus_row(Math.max(0, Math.min(this.count - 1, to)));
  }

  focus_row(index) {
    this.cursor = index;
    const head = this.table.tHead.offsetHeight;
    const top = index * this.row_height;
    const room = this.node.clientHeight - head - this.row_height;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top > this.node.scrollTop + room) this.node.scrollTop = top - room;
    this.draw(false);
    const row = this.rows.find((one) => one.index === index);
    (row?.querySelector('a') ?? this.node).focus({preventScroll: true});
  }

  // After the table was out of the document, which forgets how far it was scrolled. Returns whether
  // a row has the focus again.
  restore() {
    this.node.scrollTop = this.scroll_top;
    this.draw(true);
    if (this.cursor < 0 || this.cursor >= this.count) return false;
    this.focus_row(this.cursor);
    return true;
  }

  // A click anywhere on a row opens it, unless it ends the selection of some text.
  on_click(event) {
    const row = event.target.closest('tr');
    if (event.target.closest('a')) this.cursor = row.index;
    else if (getSelection().isCollapsed) row.querySelector('a')?.click();
  }

  to_top() {
    this.node.scrollTop = 0;
    this.cursor = -1;
  }

  on_key(key) {
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.row_height) - 2);
    const step = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page,
                  Home: -Infinity, End: Infinity}[key];
    if (step === undefined) return false;
    this.move(step);
    return true;
  }
}

// Writes a cell only if `signature` is another one than before.
export function put(cell, signature, build) {
  if (cell.signature === signature) return;
  cell.signature = signature;
  cell.replaceChildren(...build());
}
