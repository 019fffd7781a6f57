// All rows: the columns that the program sent for each line, and the relations between lines.
//
// Rows have numbers that never change. The oldest rows are dropped: `first` is the first that is left. Columns are
// typed arrays, since there are hundreds of thousands of rows.

import { clean } from './words.js';

export const REQUEST = 0;
export const NOTIFICATION = 1;
export const RESPONSE = 2;
export const DECISION = 3;
export const COUNTS = 4;
export const BEGINS = 5;
export const DROPPED = 6;
export const STATE = 7;
export const OVER = 8;
export const WOULD = 9;

export const KINDS = ['request', 'notification', 'response', 'decision', 'calls', 'begin', 'missing', 'state', 'end', 'would'];

export const DECISIONS = ['?', 'forward', 'change', 'refuse', 'answer', 'discard', 'hold', 'fail', 'expire'];
/** What a proxy would have done, in a dry run. */
export const WOULDS = ['?', 'change', 'refuse', 'answer', 'discard', 'hold', 'fail', 'expire', 'send'];
const [FORWARD, REFUSE, ANSWER, HOLD, FAIL, EXPIRE] = [1, 3, 4, 6, 7, 8];

/** The marks of rows; each is a value of `status:`. */
export const MARKS = {
  failed: 1,
  restarted: 2,
  denied: 4,
  held: 8,
  unanswered: 16,
  changed: 32,
  error: 64,
  missing: 128,
  refused: 256,
};

/** The marks of problems, to which keys jump. */
export const TROUBLE = MARKS.failed | MARKS.restarted | MARKS.denied | MARKS.held | MARKS.unanswered | MARKS.missing;

/** The maximum number of rows of running chains, as in the program. */
const WINDOW = 200_000;

/** The maximum number of a connection's parts that are known. */
const PARTS = 200;

const COLUMNS = [
  ['line', Float64Array],
  ['time', Float64Array],
  ['connection', Int32Array],
  ['what', Uint8Array],
  ['from', Int32Array],
  ['to', Int32Array],
  ['method', Int32Array],
  ['session', Int32Array],
  ['message', Float64Array],
  ['request', Float64Array],
  ['took', Float64Array],
  ['held', Float64Array],
  ['size', Float64Array],
  ['flags', Uint8Array],
  ['sum', Uint32Array],
  ['kind', Int32Array],
];

/** The columns computed here: marks, the previous and next row of the same message, the row of the request and that of
 * the answer that its requester gets, and the decision about the message. */
const FOUND = [
  ['marks', Uint16Array],
  ['came', Float64Array],
  ['next', Float64Array],
  ['asked', Float64Array],
  ['answer', Float64Array],
  ['decided', Uint8Array],
];

export class Model {
  names = [];
  sources = [];
  connections = [];
  notices = [];
  formats = [];
  /** Turns: { row, title, connection, session, end, speaks, over }, the rows of the prompt, of the next prompt, of the
   * agent's first output and of the end, which are -1 if they are unknown. */
  turns = [];
  /** The text of each row. */
  said = [];
  first = 0;
  count = 0;
  /** The first row whose marks have changed since the filter was last applied. */
  remarked = Infinity;
  #room = 0;
  /** The last row and the parts of each connection. */
  #chains = new Map();
  #turnOf = new Map();
  /** The last row of each message. */
  #last = new Map();
  #open = new Map();
  #lastTurn = new Map();
  #restarts = new Map();

  constructor() {
    this.#grow(8192);
  }

  get end() {
    return this.first + this.count;
  }

  get isLive() {
    return this.sources.some((source) => source.is_live);
  }

  /** Adds a frame from the program. */
  take(frame) {
    for (const name of frame.names ?? []) this.names.push(clean(name));
    if (frame.formats) this.formats = frame.formats;
    if (frame.sources) this.sources = frame.sources;
    if (frame.connections) this.connections = frame.connections;
    if (frame.notices) this.notices = frame.notices;
    if (frame.rows) this.#rows(frame);
  }

  #rows({ first, oldest, rows, said, turns, speaks, ends }) {
    const count = rows[0].length;
    if (count === 0) return;
    if (this.count === 0) this.first = first;
    // Rows of a file are kept until it was rotated twice.
    if (!this.isLive && oldest > this.first) this.#drop(Math.min(oldest - this.first, this.count));
    // Rows that the program dropped before sending them.
    if (first !== this.end) this.#dropAll(first);
    this.#grow(this.count + count);
    COLUMNS.forEach(([name], at) => this[name].set(rows[at], this.count));
    for (const [name] of FOUND) this[name].fill(name === 'marks' || name === 'decided' ? 0 : -1, this.count, this.count + count);
    for (const text of said) this.said.push(text);
    this.count += count;
    for (let at = this.count - count; at < this.count; at += 1) this.#join(at);
    for (const [row, title] of turns) this.#turn(row, clean(title));
    for (const [turn, row] of speaks) this.#ofTurn(turn, 'speaks', row);
    for (const [turn, row] of ends) this.#ofTurn(turn, 'over', row);
    if (this.isLive && this.count > WINDOW * 1.1) this.#drop(this.count - WINDOW);
  }

  #grow(least) {
    if (least <= this.#room) return;
    let room = Math.max(this.#room, 8192);
    while (room < least) room *= 2;
    for (const [name, Kind] of [...COLUMNS, ...FOUND]) {
      const grown = new Kind(room);
      if (this[name]) grown.set(this[name].subarray(0, this.count));
      this[name] = grown;
    }
    this.#room = room;
  }

  #drop(count) {
    for (const [name] of [...COLUMNS, ...FOUND]) this[name].copyWithin(0, count, this.count);
    this.said.splice(0, count);
    this.first += count;
    this.count -= count;
    this.turns = this.turns.filter((turn) => turn.end === Infinity || turn.end > this.first);
    for (const row of this.#turnOf.keys()) if (row < this.first) this.#turnOf.delete(row);
    for (const [key, row] of this.#last) if (row < this.first) this.#last.delete(key);
    for (const [key, row] of this.#open) if (row < this.first) this.#open.delete(key);
  }

  #dropAll(first) {
    this.#drop(this.count);
    this.first = first;
  }

  #join(at) {
    const what = this.what[at];
    const row = this.first + at;
    const chain = this.chain(this.connection[at]);
    chain.newest = row;
    if (chain.parts.size < PARTS) chain.parts.add(this.from[at]);
    if (what <= RESPONSE && chain.parts.size < PARTS) chain.parts.add(this.to[at]);
    if (what <= RESPONSE) this.#hop(at, row, what);
    else if (what === DECISION) this.#decided(at);
    else if (what === COUNTS) this.#mark(at, MARKS.denied);
    else if (what === DROPPED) this.#mark(at, MARKS.missing);
    else if (what === STATE) {
      const restarted = this.#restarted(at);
      if (this.flags[at] & 16) this.#mark(at, MARKS.failed);
      else if (restarted) this.#mark(at, MARKS.restarted);
    }
  }

  /** The sender of a row's message. */
  #part(at) {
    return `${this.connection[at]} ${this.from[at]}`;
  }

  /** Whether a proxy has been restarted since the previous line about its state. Each line has the total, and the first
   * may be missing. */
  #restarted(at) {
    const key = this.#part(at);
    const before = this.#restarts.get(key);
    this.#restarts.set(key, Math.max(before ?? 0, this.held[at]));
    return before !== undefined && this.held[at] > before;
  }

  #mark(at, mark) {
    if (at < 0 || at >= this.count || (this.marks[at] & mark) === mark) return;
    this.marks[at] |= mark;
    this.#remark(at);
  }

  #remark(at) {
    this.remarked = Math.min(this.remarked, this.first + at);
  }

  /** The row of the previous hop of a row's message. */
  #before(at) {
    const row = this.#last.get(this.#key(at));
    const before = this.at(row);
    // A message that the host replaces leaves its sender twice.
    return before >= 0 && this.to[before] === this.from[at] ? row : -1;
  }

  #key(at) {
    return this.message[at] >= 0 ? `${this.connection[at]} ${this.message[at]}` : undefined;
  }

  #hop(at, row, what) {
    const came = this.#before(at);
    if (came >= 0) {
      const before = came - this.first;
      this.came[at] = came;
      this.next[before] = row;
      if (this.sum[before] !== this.sum[at]) this.#mark(at, MARKS.changed);
    }
    const key = this.#key(at);
    if (key) this.#last.set(key, row);
    if (this.flags[at] & 1) this.#mark(at, MARKS.error);
    const request = this.request[at];
    if (request < 0) return;
    const open = `${this.connection[at]} ${request}`;
    const asked = this.#open.get(open);
    if (what === REQUEST && asked === undefined) {
      this.#open.set(open, row);
      // The trace has no answers to the host's own requests.
      if (!(this.flags[at] & 128)) this.#mark(at, MARKS.unanswered);
    } else if (asked !== undefined) {
      this.asked[at] = asked;
      if (what === RESPONSE && this.from[asked - this.first] === this.to[at]) this.#answered(open, asked, row);
    }
  }

  #answered(key, asked, row) {
    const at = asked - this.first;
    if (at >= 0) {
      this.answer[at] = row;
      this.marks[at] &= ~MARKS.unanswered;
      this.#remark(at);
    }
    this.#open.delete(key);
  }

  #decided(at) {
    const decision = this.to[at];
    const about = this.#before(at);
    if (about >= 0) {
      this.came[at] = about;
      this.decided[about - this.first] = decision;
    }
    const mark = { [FAIL]: MARKS.failed, [EXPIRE]: MARKS.failed | MARKS.held, [HOLD]: MARKS.held, [REFUSE]: MARKS.refused }[decision];
    if (mark) {
      this.#mark(at, mark);
      this.#mark(about - this.first, mark);
    }
    const request = this.request[at];
    if (request >= 0 && (decision === ANSWER || decision === REFUSE)) {
      const open = `${this.connection[at]} ${request}`;
      const asked = this.#open.get(open);
      // A proxy's answer is also a hop if another part sent the request.
      if (asked !== undefined) this.#answered(open, asked, this.first + at);
    }
  }

  #turn(row, title) {
    const at = row - this.first;
    const [connection, session] = [this.connection[at], this.session[at]];
    const last = this.#lastTurn.get(`${connection} ${session}`);
    // The client sends a message once, and the host may send it twice.
    if (last && this.request[at] >= 0 && this.request[last.row - this.first] === this.request[at]) return;
    if (last) last.end = row;
    const turn = { row, title, connection, session, end: Infinity, speaks: -1, over: -1 };
    this.#turnOf.set(row, turn);
    this.#lastTurn.set(`${connection} ${session}`, turn);
    this.turns.push(turn);
  }

  #ofTurn(row, member, value) {
    const turn = this.#turnOf.get(row);
    if (turn) turn[member] = value;
  }

  /** The time between two rows in microseconds, or -1. */
  between(from, to) {
    const [begin, end] = [this.at(from), this.at(to)];
    if (begin < 0 || end < 0 || this.time[begin] < 0 || this.time[end] < 0) return -1;
    return Math.max(0, this.time[end] - this.time[begin]);
  }

  /** How long a row's request was unanswered, at its first row and at the last of its answer, or how long a proxy
   * worked until its decision; -1 for other rows. */
  lasted(at) {
    const what = this.what[at];
    const row = this.first + at;
    if (what === REQUEST) return this.between(row, this.answer[at]);
    if (what === DECISION) return this.took[at];
    const asked = this.at(this.asked[at]);
    return what === RESPONSE && asked >= 0 && this.answer[asked] === row ? this.between(this.asked[at], row) : -1;
  }

  /** Whether lines of a connection were dropped for newer ones: 'all', 'some' or ''. */
  lost(connection) {
    if (!((this.connections[connection]?.first ?? Infinity) < this.first)) return '';
    return this.chain(connection).newest < this.first ? 'all' : 'some';
  }

  /** The last row of a connection, and the numbers of the names of its parts. */
  chain(connection) {
    if (!this.#chains.has(connection)) this.#chains.set(connection, { newest: -1, parts: new Set() });
    return this.#chains.get(connection);
  }

  /** The index of a row in the columns, or -1. */
  at(row) {
    return row >= this.first && row < this.end ? row - this.first : -1;
  }

  /** The part that changed a row's message: a proxy, or the host after a proxy that forwarded it unchanged. */
  changedBy(at) {
    const before = this.at(this.came[at]);
    const name = this.name(this.from[at]);
    return before >= 0 && this.decided[before] === FORWARD ? `acp-chain, behind ${name},` : name;
  }

  name(number) {
    return this.names[number] ?? '';
  }

  /** The rows of all hops of a row's message, in order. */
  way(row) {
    let at = this.at(row);
    if (at < 0) return [];
    if (this.what[at] === DECISION && this.came[at] >= 0) at = this.at(this.came[at]);
    if (at < 0 || this.what[at] > RESPONSE) return [];
    const way = [this.first + at];
    for (let before = this.came[at]; this.at(before) >= 0 && way.length < 1000; before = this.came[this.at(before)]) way.unshift(before);
    for (let next = this.next[at]; this.at(next) >= 0 && way.length < 1000; next = this.next[this.at(next)]) way.push(next);
    return way;
  }

  /** The text of a row. */
  text(at) {
    return clean(this.said[at] ?? '');
  }

  /** A row in words. */
  words(row) {
    const at = this.at(row);
    if (at < 0) return 'no longer kept';
    const what = this.what[at];
    const from = this.name(this.from[at]);
    const method = this.name(this.method[at]);
    const marks = Object.keys(MARKS).filter((mark) => this.marks[at] & MARKS[mark]);
    const marked = marks.length ? `, ${marks.join(', ')}` : '';
    const said = [this.name(this.kind[at]), this.text(at)].filter(Boolean).join(' ');
    if (what <= RESPONSE) return `${KINDS[what]} ${method} from ${from} to ${this.name(this.to[at])}${said && `: ${said}`}${marked}`;
    if (what === DECISION) return `${from} decided ${DECISIONS[this.to[at]]} about ${method}${marked}`;
    if (what === BEGINS) return `a connection begins${this.whose(at)}`;
    if (what === OVER) return `a connection ends${this.whose(at)}`;
    if (what === DROPPED) return `${this.size[at]} lines are missing here`;
    if (what === STATE) return `${from} ${this.stateOf(at)}`;
    if (what === WOULD) return `${from} would ${WOULDS[this.to[at]]} ${method}`;
    return `${from} made calls that were ${this.callsOf(at)}`;
  }

  /** The authenticated user of a row's connection, if there is one. */
  whose(at) {
    const user = this.connections[this.connection[at]]?.user;
    return user ? ` for ${clean(user)}` : '';
  }

  stateOf(at) {
    const flags = this.flags[at];
    if (flags & 16) return 'has failed';
    if (flags & 32) return 'ended';
    if (flags & 64) return 'sleeps';
    return this.marks[at] & MARKS.restarted ? `was restarted (${this.held[at]})` : 'runs';
  }

  callsOf(at) {
    const flags = this.flags[at];
    const words = [flags & 2 && 'denied', flags & 4 && 'invalid', flags & 8 && 'past a limit'];
    return words.filter(Boolean).join(', ') || 'odd';
  }
}
