// The page: its state, and the actions of keys and buttons.

import { html, nothing, render } from './vendor/lit-html.js';
import { Axis } from './axis.js';
import { frames, isReport, search } from './backend.js';
import { chainOf } from './chains.js';
import { Conversation, turnsOf } from './conversation.js';
import { Detail } from './detail.js';
import { help, openExports } from './dialogs.js';
import { asText, save } from './exports.js';
import { List, lowerBound } from './list.js';
import { KINDS, MARKS, Model, TROUBLE } from './model.js';
import { plots } from './plots.js';
import { parse, predicate, term, withTerm } from './query.js';
import { LOST, side } from './side.js';
import { clean, counted, number } from './words.js';

/** How long an announcement for screen readers is shown, in milliseconds. */
const SAID = 5000;

/** The pause in typing after which bodies are searched, in milliseconds. */
const TYPED = 40;

const place = (id) => document.getElementById(id);
const model = new Model();
const state = {
  filter: new URLSearchParams(location.hash.slice(1)).get('filter') ?? '',
  follows: false,
  hasEnded: false,
  failed: '',
  plots: false,
  tells: new URLSearchParams(location.hash.slice(1)).get('view') === 'conversation',
  news: 0,
  searching: false,
};

/** The filtered rows: an array that grows, and its used length. */
let rows = new Uint32Array(8192);
let length = 0;
/** The end of the rows to which the filter was applied, and the rows whose bodies contain its text. */
let applied = 0;
let found = null;
let run = new AbortController();

const detail = new Detail(model, {
  select: (row) => choose(row, false, true),
  copy,
  save: (chosen) => save(model, chosen, { name: 'ndjson', extension: 'ndjson' }).catch(tell),
  again: () => render(detail.shown(), place('detail')),
});

const list = new List(place('list'), model, {
  select: (row, isMore) => choose(row, isMore, false),
  filter: (name) => setFilter(withTerm(state.filter, 'proxy', term(state.filter, 'proxy') === name ? '' : name)),
  scrolled: () => {
    if (list.isAtEnd) state.news = 0;
    news();
    axis.draw(list.window, list.chain);
  },
});

const axis = new Axis(place('axis'), model, { reveal: (row) => choose(row, false, false) });

const conversation = new Conversation(model, { select: (row) => choose(row, false, false), again: converse });

// ── what is shown ──

function setFilter(filter) {
  if (filter === state.filter) return;
  state.filter = filter;
  apply();
  bar();
  tree();
}

/** Applies the filter to all rows. */
function apply() {
  run.abort();
  run = new AbortController();
  [length, applied, found] = [0, model.first, null];
  const { text } = parse(state.filter);
  if (text) lookUp(text, run.signal);
  else extend({ isNew: true });
}

/** Requests the rows whose bodies contain a text. */
async function lookUp(text, signal) {
  state.searching = true;
  const upTo = model.end;
  const begun = performance.now();
  try {
    const rows = await search(text, model.first, signal);
    if (signal.aborted) return;
    found = { text, rows: until(rows, upTo), upTo };
    state.searching = false;
    extend({ isNew: true });
    performance.measure('filter', { start: begun });
  } catch (error) {
    if (!signal.aborted) tell(error);
  }
}

/** Applies the filter to new rows. */
function extend({ isNew = false } = {}) {
  const query = parse(state.filter);
  if (query.text && !found) return;
  const end = query.text ? Math.min(model.end, found.upTo) : model.end;
  const is = predicate(model, query);
  const before = length;
  // Later rows may change the marks of earlier ones.
  if (model.remarked < applied && query.terms.some(({ key }) => key === 'status')) {
    applied = Math.max(model.remarked, model.first);
    length = lowerBound(rows.subarray(0, length), applied);
  }
  model.remarked = Infinity;
  if (query.text) {
    for (let at = lowerBound(found.rows, applied); at < found.rows.length && found.rows[at] < end; at += 1) {
      if (is(found.rows[at] - model.first)) add(found.rows[at]);
    }
  } else for (let row = Math.max(applied, model.first); row < end; row += 1) if (is(row - model.first)) add(row);
  applied = end;
  if (isNew) state.news = 0;
  else if (!list.isAtEnd) state.news += Math.max(0, length - before);
  show(isNew);
  if (query.text && end < model.end && !state.searching) searchOn(query.text, run.signal);
}

/** Searches new rows for the same text. */
async function searchOn(text, signal) {
  state.searching = true;
  const upTo = model.end;
  try {
    const more = until(await search(text, found.upTo, signal), upTo);
    if (signal.aborted) return;
    const all = new Uint32Array(found.rows.length + more.length);
    all.set(found.rows);
    all.set(more, found.rows.length);
    found = { text, rows: all, upTo };
    state.searching = false;
    extend();
  } catch (error) {
    if (!signal.aborted) tell(error);
  }
}

/** The rows before this one. Later ones, which the program may have found already, are requested when they arrive. */
function until(rows, row) {
  return rows.subarray(0, lowerBound(rows, row));
}

function add(row) {
  if (length === rows.length) {
    const more = new Uint32Array(length * 2);
    more.set(rows);
    rows = more;
  }
  rows[length] = row;
  length += 1;
}

function show(isNew) {
  const gone = lowerBound(rows.subarray(0, length), model.first);
  if (gone > 0) {
    rows.copyWithin(0, gone, length);
    length -= gone;
  }
  drawChain();
  list.show(rows.slice(0, length), { top: isNew });
  if (isNew && list.indexOf(list.selected) >= 0) list.reveal(list.selected);
  if (state.follows) list.scrollToEnd();
  foot();
  news();
  notices();
  if (state.plots) plotSoon();
  axisSoon();
  lookAtTurns();
}

/** Draws one chain at a time. */
function drawChain() {
  list.chain = chainOf(model, term(state.filter, 'connection'), list.selected);
}

/** Selects a row, and with `isMore` all rows up to it. */
function choose(row, isMore, isFar) {
  if (!isMore) list.anchor = row;
  list.selected = row;
  list.way = new Set(row >= 0 ? model.way(row) : []);
  if (row >= 0) state.follows = false;
  // A row from a link is shown regardless of the filter.
  if (isFar && list.indexOf(row) < 0) setFilter('');
  drawChain();
  if (row >= 0) list.reveal(row);
  list.draw();
  detail.look(row);
  bar();
}

/** Moves the selection by this many rows. */
function step(count, isMore) {
  if (!length) return;
  const at = list.indexOf(list.selected);
  const from = at < 0 ? (count > 0 ? -1 : length) : at;
  choose(rows[Math.max(0, Math.min(length - 1, from + count))], isMore, false);
}

/** Selects the next row with a problem. */
function jump(way) {
  const lower = list.selected >= 0 ? lowerBound(rows.subarray(0, length), list.selected) : -1;
  const isShown = lower >= 0 && lower < length && rows[lower] === list.selected;
  // A selected row that is filtered out is between two rows.
  const from = list.selected < 0 ? (way > 0 ? -1 : length) : isShown || way < 0 ? lower : lower - 1;
  for (let at = from + way; at >= 0 && at < length; at += way) {
    if (model.marks[rows[at] - model.first] & TROUBLE) return choose(rows[at], false, false);
  }
  say(`nothing is wrong ${way > 0 ? 'further on' : 'before'}`);
}

// ── the parts of the page ──

function bar() {
  const query = parse(state.filter);
  const menu = (key, label, values) => {
    const now = term(state.filter, key);
    const all = now && !values.includes(now) ? [now, ...values] : values;
    return html`<select aria-label=${label} title=${label} .value=${now} @change=${(event) => setFilter(withTerm(state.filter, key, event.target.value))}>
      <option value="" ?selected=${!now}>${label}</option>
      ${all.map((value) => html`<option value=${value} ?selected=${value === now}>${value}</option>`)}
    </select>`;
  };
  const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark';
  render(
    html`<h1>acp-chain</h1>
      <div class="filter" role="search">
        <input
          id="filter"
          type="search"
          autocomplete="off"
          spellcheck="false"
          aria-label="Filter"
          placeholder="Filter: words of a message, status:unanswered …   /"
          .value=${state.filter}
          @input=${typed}
          @keydown=${inFilter}
        />
        ${menu('proxy', 'proxy', list.lanes.list)} ${menu('method', 'method', methods())} ${menu('kind', 'kind', KINDS)} ${menu('status', 'status', Object.keys(MARKS))}
      </div>
      <button title="Previous problem (N)" aria-label="Previous problem" @click=${() => jump(-1)}>▲</button>
      <button title="Next problem (n)" aria-label="Next problem" @click=${() => jump(1)}>▼</button>
      <button aria-pressed=${state.tells} title="A session as a conversation, with what each proxy did (v)" @click=${toggleConversation}>Conversation</button>
      <button aria-pressed=${state.plots} title="Latency and processor time (p)" @click=${togglePlots}>Latency</button>
      ${model.isLive ? html`<button aria-pressed=${state.follows} title="Show new lines (f)" @click=${follow}>Follow</button>` : nothing}
      <button title="Save or copy (e)" @click=${exports}>Export…</button>
      <button title="Light or dark (t)" aria-label="Light or dark" @click=${toggleTheme}>${isDark ? '☀' : '☾'}</button>
      <button title="Keys (?)" aria-label="Keys" @click=${help}>?</button>
      ${query.wrong.length ? html`<span class="problem" role="alert">unknown: ${query.wrong.map(clean).join(', ')}</span>` : nothing}`,
    place('bar'),
  );
}

let known = { count: 0, rows: 0, list: [] };

/** The methods of all rows, by name. */
function methods() {
  if (known.count !== model.names.length || model.end - known.rows > 10_000) {
    const numbers = new Set(model.method.subarray(0, model.count));
    const list = [...numbers].map((number) => model.name(number)).filter(Boolean);
    known = { count: model.names.length, rows: model.end, list: list.sort().slice(0, 500) };
  }
  return known.list;
}

/** What the filter names. */
function named() {
  return { session: term(state.filter, 'session'), turn: term(state.filter, 'turn'), connection: term(state.filter, 'connection') };
}

function tree() {
  const now = named();
  const act = { term: (key, value) => setFilter(withTerm(state.filter, key, value)), again: tree };
  render(side(model, now, act), place('side'));
}

/** Shows the turns that the filter names as a conversation. */
function lookAtTurns() {
  if (state.tells && conversation.look(turnsOf(model, named()))) converse();
}

function converse() {
  const view = place('conversation');
  const isAtEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - 40;
  render(conversation.shown(), view);
  if (isAtEnd) view.scrollTop = view.scrollHeight;
}

function toggleConversation() {
  state.tells = !state.tells;
  drawViews();
  bar();
}

function drawViews() {
  place('conversation').hidden = !state.tells;
  place('list').hidden = state.tells;
  lookAtTurns();
  if (state.tells) converse();
  if (!state.tells && list.selected >= 0) list.reveal(list.selected);
}

let isCounted = false;

/** Counts the rows of the time axis, at most four times a second. */
function axisSoon() {
  if (isCounted || state.tells) return;
  isCounted = true;
  setTimeout(() => {
    isCounted = false;
    axis.count(list.shown);
    axis.draw(list.window, list.chain);
  }, 250);
}

function foot() {
  const shown = length === model.count ? '' : `${number(length)} of `;
  const what = model.isLive ? ` · the newest 200,000 are kept` : '';
  const doing = state.failed || (state.hasEnded && !isReport ? 'acp-chain has ended; its lines stay here' : '');
  place('count').textContent = [`${shown}${counted(model.count, 'line')}${what}`, doing].filter(Boolean).join(' · ');
}

function notices() {
  const some = model.notices.slice(-5).map(clean);
  const lost = term(state.filter, 'connection') ? model.lost(list.chain) : '';
  if (lost) some.push(LOST[lost]);
  render(html`${some.map((text) => html`<p class="problem">${text}</p>`)}`, place('notices'));
}

function news() {
  const click = () => {
    state.news = 0;
    list.scrollToEnd();
    news();
  };
  render(state.news > 0 ? html`<button class="news" @click=${click}>${number(state.news)} new ↓</button>` : nothing, place('news'));
}

let isPlotted = false;

function plotSoon() {
  if (isPlotted) return;
  isPlotted = true;
  setTimeout(() => {
    isPlotted = false;
    if (state.plots) render(plots(model, list.shown, (name) => setFilter(withTerm(state.filter, 'proxy', name))), place('plots'));
  }, 250);
}

function togglePlots() {
  state.plots = !state.plots;
  place('plots').hidden = !state.plots;
  if (state.plots) plotSoon();
  // The list fills the remaining height.
  if (list.selected >= 0) list.reveal(list.selected);
  bar();
}

function follow() {
  state.follows = !state.follows;
  state.news = 0;
  if (state.follows) list.scrollToEnd();
  news();
  bar();
}

function toggleTheme() {
  const root = document.documentElement;
  root.dataset.theme = getComputedStyle(root).colorScheme === 'dark' ? 'light' : 'dark';
  list.draw();
  axis.draw(list.window, list.chain);
  if (state.plots) plotSoon();
  bar();
}

function exports() {
  openExports(model, list);
}

// ── input ──

let typing = 0;

function typed(event) {
  const { value } = event.target;
  clearTimeout(typing);
  typing = setTimeout(() => setFilter(value), TYPED);
}

function inFilter(event) {
  if (event.key !== 'Enter' && event.key !== 'Escape') return;
  clearTimeout(typing);
  setFilter(event.key === 'Enter' ? event.target.value : '');
  list.focus();
  event.preventDefault();
  event.stopPropagation();
}

const KEYBOARD = {
  j: (event) => step(1, event.shiftKey),
  J: () => step(1, true),
  ArrowDown: (event) => step(1, event.shiftKey),
  k: (event) => step(-1, event.shiftKey),
  K: () => step(-1, true),
  ArrowUp: (event) => step(-1, event.shiftKey),
  PageDown: (event) => step(list.page(), event.shiftKey),
  PageUp: (event) => step(-list.page(), event.shiftKey),
  Home: () => step(-Infinity, false),
  End: () => step(Infinity, false),
  g: () => step(-Infinity, false),
  G: () => step(Infinity, false),
  n: () => jump(1),
  N: () => jump(-1),
  '/': () => place('filter').select(),
  '?': help,
  c: () => list.selected >= 0 && asText(model, list.selection()).then((text) => copy(text, 'the selection'), tell),
  e: exports,
  f: follow,
  p: togglePlots,
  v: toggleConversation,
  t: toggleTheme,
  Escape: escape,
};

function escape() {
  if (state.tells && list.selected >= 0) return choose(-1, false, false);
  if (document.activeElement !== place('list').querySelector('.scroller')) return list.focus();
  if (list.selected >= 0) return choose(-1, false, false);
  setFilter('');
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || place('dialog').open) return;
  const { target } = event;
  const isList = target.closest('.scroller') || target === document.body;
  if (target.matches('input, select, textarea')) return;
  // Keys that scroll apply to the focused part of the page.
  if (!isList && /^(Arrow|Page|Home|End)/.test(event.key)) return;
  if (event.key === 'Enter' && isList && list.selected >= 0) {
    const first = place('detail');
    first.tabIndex = -1;
    first.focus();
    event.preventDefault();
    return;
  }
  const act = KEYBOARD[event.key];
  if (!act) return;
  act(event);
  event.preventDefault();
});

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`copied ${what}`);
  } catch (error) {
    tell(error);
  }
}

// ── new rows ──

let said = 0;

/** Announces a text to screen readers, and shows it for a while. */
function say(text) {
  place('live').textContent = text;
  place('live').classList.remove('unseen');
  clearTimeout(said);
  said = setTimeout(() => {
    place('live').textContent = '';
    place('live').classList.add('unseen');
  }, SAID);
}

function tell(error) {
  state.searching = false;
  say(clean(error.message ?? error));
}

let isAsked = false;
let told = { names: 0, connections: 0, turns: 0, over: 0, ended: '', drawn: 0 };

function changed() {
  if (isAsked) return;
  isAsked = true;
  setTimeout(() => {
    isAsked = false;
    extend();
    notices();
    const ended = model.sources.map((source) => source.has_ended).join();
    const now = { names: model.names.length, connections: model.connections.length, turns: model.turns.at(-1)?.row, over: model.turns.at(-1)?.over, ended, drawn: model.sources.length };
    if (Object.keys(now).some((key) => now[key] !== told[key])) {
      told = now;
      tree();
      // An open menu must not be rendered again.
      if (!place('bar').contains(document.activeElement)) bar();
    }
  }, 30);
}

async function main() {
  bar();
  tree();
  foot();
  drawViews();
  detail.look(-1);
  render(detail.shown(), place('detail'));
  list.focus();
  const begun = performance.now();
  try {
    for await (const frame of frames()) {
      model.take(frame);
      changed();
    }
  } catch (error) {
    state.failed = `the connection to acp-chain failed: ${clean(error.message ?? error)}`;
  }
  state.hasEnded = true;
  performance.measure('stream', { start: begun });
  changed();
}

// For outside observers of the page, such as tests.
globalThis.inspector = { model, list, get shown() { return length; }, get isSearching() { return state.searching; } };
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => (list.draw(), axis.draw(list.window, list.chain), bar()));
main();
