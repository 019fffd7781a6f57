// The list of rows, with the route of each message drawn beside it. Only visible rows are in the document; the others
// are empty space.
//
// Invariant: adding or removing rows does not move the visible ones.

import { html, nothing, render } from './vendor/lit-html.js';
import { lanesOf } from './chains.js';
import { BEGINS, COUNTS, DECISION, DECISIONS, DROPPED, KINDS, MARKS, OVER, RESPONSE, STATE, WOULD, WOULDS } from './model.js';
import { bytes, clean, number, short, span, timeOfDay } from './words.js';

const ROW = 24;

/** The maximum height of all rows, near the limit of browsers. Past it, scrolling is scaled. */
const HIGHEST = 10_000_000;

/** The marks that are shown as words, the most severe first. */
const SHOWN = ['failed', 'denied', 'missing', 'unanswered', 'error', 'refused', 'held', 'restarted', 'changed'];

export class List {
  #scroller;
  #spacer;
  #view;
  #rows;
  #canvas;
  #heads;
  #model;
  #act;
  #isAsked = false;
  #widths = '';
  shown = new Uint32Array(0);
  /** The connection whose chain is drawn. */
  chain = -1;
  /** Rows of the selected message. */
  way = new Set();
  selected = -1;
  anchor = -1;

  /** `act` has `select(row, extends)`, `filter(proxy)` and `scrolled()`. */
  constructor(element, model, act) {
    this.#model = model;
    this.#act = act;
    this.#scroller = element.querySelector('.scroller');
    this.#spacer = element.querySelector('.spacer');
    this.#view = element.querySelector('.view');
    this.#rows = element.querySelector('.rows');
    this.#canvas = element.querySelector('.view canvas');
    this.#heads = element.querySelector('.lanes');
    this.#scroller.addEventListener('scroll', () => {
      this.draw();
      act.scrolled();
    });
    new ResizeObserver(() => this.draw()).observe(this.#scroller);
  }

  focus() {
    this.#scroller.focus({ preventScroll: true });
  }

  /** The pixels of rows per pixel of the scroll bar. */
  get #scale() {
    const { clientHeight } = this.#scroller;
    return Math.max(1, (this.shown.length * ROW - clientHeight) / (HIGHEST - clientHeight));
  }

  /** The height of the rows above the visible ones. */
  get #top() {
    return this.#scroller.scrollTop * this.#scale;
  }

  set #top(top) {
    this.#scroller.scrollTop = top / this.#scale;
  }

  /** Whether the last row is visible. */
  get isAtEnd() {
    return this.#top + this.#scroller.clientHeight >= this.shown.length * ROW - ROW / 2;
  }

  /** Sets the rows. Without `top`, the visible rows stay where they are. */
  show(rows, { top } = {}) {
    const [from, scale] = [this.#top, this.#scale];
    const first = Math.floor(from / ROW);
    const row = this.shown[first];
    const before = this.shown.length;
    this.shown = rows;
    this.#spacer.style.height = `${Math.min(HIGHEST, Math.max(1, rows.length) * ROW)}px`;
    if (top) this.#top = 0;
    else if (row !== undefined && (rows.length < before || rows[first] !== row || this.#scale !== scale)) {
      this.#top = Math.min(lowerBound(rows, row), rows.length) * ROW + (from % ROW);
    }
    this.draw();
  }

  /** The index of a row in the list, or -1. */
  indexOf(row) {
    const at = lowerBound(this.shown, row);
    return this.shown[at] === row ? at : -1;
  }

  scrollToEnd() {
    this.#top = this.shown.length * ROW;
  }

  /** Scrolls to a row, which is centred if it was far away. */
  reveal(row) {
    const at = this.indexOf(row);
    if (at < 0) return;
    const top = at * ROW;
    const from = this.#top;
    const height = this.#scroller.clientHeight;
    if (top < from) this.#top = top < from - 3 * ROW ? top - height / 2 : top;
    else if (top + ROW > from + height) {
      const isFar = top > from + height + 3 * ROW;
      this.#top = isFar ? top - height / 2 : top + ROW - height;
    }
    this.draw();
  }

  page() {
    return Math.max(1, Math.floor(this.#scroller.clientHeight / ROW) - 2);
  }

  draw() {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#drawNow();
    });
  }

  #drawNow() {
    const { clientHeight, clientWidth } = this.#scroller;
    const top = this.#top;
    const first = Math.max(0, Math.floor(top / ROW));
    const rows = this.shown.subarray(first, first + Math.ceil(clientHeight / ROW) + 1);
    const { lanes } = this;
    const width = Math.min(92, Math.max(26, (clientWidth * 0.42) / lanes.list.length));
    this.#head(lanes, width);
    this.#rows.style.transform = `translateY(${-(top % ROW)}px)`;
    const [low, high] = this.#selection();
    render(html`${Array.from(rows, (row, at) => this.#row(row, first + at, low, high))}`, this.#rows);
    this.#scroller.setAttribute('aria-activedescendant', this.indexOf(this.selected) >= 0 ? `row-${this.selected}` : '');
    this.#paint(rows, lanes, width, top % ROW, clientHeight);
  }

  get lanes() {
    return lanesOf(this.#model, this.chain);
  }

  /** The visible rows: the first and the last. */
  get window() {
    const first = Math.floor(this.#top / ROW);
    const last = Math.min(this.shown.length, first + Math.ceil(this.#scroller.clientHeight / ROW)) - 1;
    return last < first ? [-1, -1] : [this.shown[first], this.shown[last]];
  }

  #selection() {
    const ends = [this.indexOf(this.anchor), this.indexOf(this.selected)];
    if (ends[0] < 0) ends[0] = ends[1];
    return [Math.min(...ends), Math.max(...ends)];
  }

  /** The selected rows. */
  selection() {
    const [low, high] = this.#selection();
    if (low < 0) return this.selected >= 0 ? [this.selected] : [];
    return Array.from(this.shown.subarray(low, high + 1));
  }

  #head({ list }, width) {
    const widths = `${list.join('\n')}\n${width}`;
    if (widths === this.#widths) return;
    this.#widths = widths;
    this.#view.parentElement.parentElement.style.setProperty('--lanes', `${width * list.length}px`);
    const lane = (name) => html`<button title="${name}: show the messages that it receives and sends, and its decisions" @click=${() => this.#act.filter(name)}>${name}</button>`;
    render(html`${list.map(lane)}`, this.#heads);
  }

  #row(row, at, low, high) {
    const model = this.#model;
    const place = model.at(row);
    if (place < 0) return html`<div class="row gone"></div>`;
    const what = model.what[place];
    const marks = model.marks[place];
    const worst = SHOWN.find((mark) => marks & MARKS[mark]);
    const classes = ['row', KINDS[what]];
    if (at >= low && at <= high && low >= 0) classes.push('selected');
    if (row === this.selected) classes.push('current');
    if (this.way.has(row)) classes.push('way');
    if (worst) classes.push(`is-${worst}`);
    const select = (event) => this.#act.select(row, event.shiftKey);
    const isOther = model.connection[place] !== this.chain && what <= DECISION;
    const parts = what === DECISION ? model.name(model.from[place]) : `${model.name(model.from[place])} → ${model.name(model.to[place])}`;
    return html`<div
      class=${classes.join(' ')}
      id="row-${row}"
      role="option"
      aria-selected=${row === this.selected}
      aria-posinset=${at + 1}
      aria-setsize=${this.shown.length}
      aria-label="line ${model.line[place]}, ${model.words(row)}"
      @mousedown=${select}
    >
      <span class="line">${number(model.line[place])}</span>
      <span class="time">${timeOfDay(model.time[place])}</span>
      <span class="space">${isOther ? parts : nothing}</span>
      <span class="what"><span class="said">${this.#what(place, what)}</span>${worst ? html`<span class="mark">${worst}</span>` : nothing}</span>
      <span class="took">${span(model.lasted(place))}</span>
      <span class="size">${what <= RESPONSE ? bytes(model.size[place]) : nothing}</span>
    </div>`;
  }

  #what(at, what) {
    const model = this.#model;
    const method = model.name(model.method[at]);
    if (what <= RESPONSE) {
      const sign = ['→', '·', '✓'][what];
      const kind = model.name(model.kind[at]);
      const text = model.text(at);
      return html`<span class="sign" title=${KINDS[what]}>${what === RESPONSE && model.flags[at] & 1 ? '✗' : sign}</span>${kind || method}${text ? html` <span class="quiet">${text}</span>` : nothing}`;
    }
    const part = model.name(model.from[at]);
    if (what === DECISION) return html`<b>${part}</b> ${DECISIONS[model.to[at]]} <span class="quiet">${method} ${model.text(at)}</span>`;
    if (what === COUNTS) return html`<b>${part}</b> made calls that were ${model.callsOf(at)}`;
    if (what === DROPPED) return `${number(model.size[at])} lines are missing here`;
    if (what === STATE) return html`<b>${part}</b> ${model.stateOf(at)} <span class="quiet">${model.text(at)}</span>`;
    if (what === WOULD) return html`<b>${part}</b> would ${WOULDS[model.to[at]]} <span class="quiet">${method}</span>`;
    const connection = model.connections[model.connection[at]];
    const proxies = connection?.proxies.map((name) => short(clean(name), 40)).join(', ');
    if (what === OVER) return html`<b>ends</b>${model.whose(at)}`;
    return html`<b>begins</b>${model.whose(at)} <span class="quiet">${proxies}</span>`;
  }

  #paint(rows, lanes, width, offset, height) {
    const canvas = this.#canvas;
    const scale = window.devicePixelRatio || 1;
    const wide = width * lanes.list.length;
    if (canvas.width !== Math.round(wide * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(wide * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${height}px`;
    }
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`);
    const paint = canvas.getContext('2d');
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    paint.clearRect(0, 0, wide, height);
    const x = (lane) => (lane + 0.5) * width;
    const lane = lanes.of;
    paint.lineWidth = 1;
    paint.strokeStyle = colour('border');
    paint.beginPath();
    for (let at = 0; at < lanes.list.length; at += 1) {
      paint.moveTo(Math.round(x(at)) + 0.5, 0);
      paint.lineTo(Math.round(x(at)) + 0.5, height);
    }
    paint.stroke();
    const model = this.#model;
    rows.forEach((row, index) => {
      const at = model.at(row);
      if (at < 0 || model.connection[at] !== lanes.connection) return;
      const y = Math.round(index * ROW - offset + ROW / 2) + 0.5;
      const what = model.what[at];
      const marks = model.marks[at];
      const bad = marks & (MARKS.failed | MARKS.denied | MARKS.error | MARKS.missing | MARKS.unanswered);
      const kind = bad ? 'bad' : marks & MARKS.changed ? 'changed' : KINDS[Math.min(what, DECISION)];
      paint.fillStyle = paint.strokeStyle = colour(kind);
      paint.lineWidth = this.way.has(row) ? 2.5 : 1.5;
      const isHost = (name) => model.name(name) === 'acp-chain';
      const beside = (name) => x(lane(name)) + width / 2;
      const from = isHost(model.from[at]) ? beside(model.to[at]) : x(lane(model.from[at]));
      if (what > RESPONSE) {
        if (what !== BEGINS && what !== DROPPED && what !== OVER) diamond(paint, from, y);
        return;
      }
      const towards = isHost(model.to[at]) ? beside(model.from[at]) : x(lane(model.to[at]));
      paint.setLineDash(what === RESPONSE ? [5, 3] : []);
      arrow(paint, from, towards, y, what);
      if (marks & MARKS.changed) {
        paint.beginPath();
        paint.arc(from, y, 4, 0, 7);
        paint.fill();
      }
    });
  }
}

function arrow(paint, from, to, y, what) {
  const way = Math.sign(to - from) || 1;
  paint.beginPath();
  paint.moveTo(from, y);
  paint.lineTo(to - way * 6, y);
  paint.stroke();
  paint.setLineDash([]);
  paint.beginPath();
  paint.moveTo(to - way * 1.5, y);
  paint.lineTo(to - way * 9, y - 4);
  paint.lineTo(to - way * 9, y + 4);
  paint.closePath();
  // A notification has no answer: an open arrow head.
  if (what === 1) {
    paint.lineWidth = 1.2;
    paint.stroke();
  } else paint.fill();
}

function diamond(paint, x, y) {
  paint.beginPath();
  paint.moveTo(x, y - 5);
  paint.lineTo(x + 5, y);
  paint.lineTo(x, y + 5);
  paint.lineTo(x - 5, y);
  paint.closePath();
  paint.fill();
}

/** The first index whose row is not before this one. */
export function lowerBound(rows, row) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low;
}
