// The time axis: how many of the filtered rows there are over time, their problems, the turns, and the visible rows.

import { TROUBLE } from './model.js';
import { span } from './words.js';

/** The height of the turns, and of the whole, in pixels. */
const TURN = 5;
const HEIGHT = 34;

export class Axis {
  #canvas;
  #model;
  #bars = null;

  /** `act` has `reveal(row)`. */
  constructor(canvas, model, act) {
    this.#canvas = canvas;
    this.#model = model;
    canvas.addEventListener('click', ({ offsetX }) => {
      const bar = this.#bars?.rows.slice(0, Math.max(0, Math.floor(offsetX)) + 1).findLast((row) => row >= 0);
      if (bar !== undefined) act.reveal(bar);
    });
  }

  /** Counts rows for each pixel. */
  count(rows) {
    const model = this.#model;
    const wide = this.#canvas.clientWidth;
    const times = { least: Infinity, most: -Infinity };
    for (const row of rows) {
      const time = model.time[row - model.first];
      if (time < 0) continue;
      if (time < times.least) times.least = time;
      if (time > times.most) times.most = time;
    }
    if (!(times.most > times.least) || wide < 1) {
      this.#bars = null;
      return;
    }
    const bars = { ...times, all: new Uint32Array(wide), bad: new Uint8Array(wide), rows: new Array(wide).fill(-1) };
    bars.x = (time) => Math.min(wide - 1, Math.floor(((time - times.least) / (times.most - times.least)) * wide));
    for (const row of rows) {
      const at = row - model.first;
      if (model.time[at] < 0) continue;
      const x = bars.x(model.time[at]);
      bars.all[x] += 1;
      if (model.marks[at] & TROUBLE) bars.bad[x] = 1;
      if (bars.rows[x] < 0) bars.rows[x] = row;
    }
    this.#bars = bars;
  }

  /** Draws the counts, with the visible rows from `first` to `last`, for the turns of a connection. */
  draw([first, last], connection) {
    const canvas = this.#canvas;
    const wide = canvas.clientWidth;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(wide * scale);
    canvas.height = Math.round(HEIGHT * scale);
    const bars = this.#bars;
    if (!bars || wide < 1) return;
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`);
    const paint = canvas.getContext('2d');
    const model = this.#model;
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    const time = (row) => (model.at(row) >= 0 ? model.time[model.at(row)] : -1);
    const [from, to] = [time(first), time(last)];
    if (from >= 0 && to >= 0) {
      paint.fillStyle = colour('chosen');
      paint.fillRect(bars.x(from), 0, Math.max(2, bars.x(to) - bars.x(from)), HEIGHT);
    }
    const most = Math.log1p(bars.all.reduce((most, count) => Math.max(most, count), 1));
    bars.all.forEach((count, x) => {
      if (!count) return;
      paint.fillStyle = colour(bars.bad[x] ? 'bad' : 'notification');
      const height = Math.max(2, (Math.log1p(count) / most) * (HEIGHT - TURN - 3));
      paint.fillRect(x, HEIGHT - height, 1, height);
    });
    paint.fillStyle = colour('accent');
    for (const turn of model.turns) {
      if (turn.connection !== connection) continue;
      const [begin, end] = [time(turn.row), turn.over >= 0 ? time(turn.over) : bars.most];
      if (begin < 0 || end < bars.least || begin > bars.most) continue;
      const x = bars.x(Math.max(begin, bars.least));
      paint.fillRect(x, 0, Math.max(2, bars.x(end) - x - 1), TURN);
    }
    canvas.setAttribute('aria-label', `Time axis over ${span(bars.most - bars.least)}: the rows, their problems in red, and the turns above`);
  }
}
