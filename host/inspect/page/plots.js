// How long messages waited and proxies worked, in the filtered rows.

import { html, nothing, ref } from './vendor/lit-html.js';
import uPlot from './vendor/uPlot.js';
import { DECISION, RESPONSE } from './model.js';
import { counted, number, span } from './words.js';

/** Histograms have a bar for each power of two of microseconds. */
const BARS = 26;

/** The maximum number of points of a plot over time. */
const POINTS = 20_000;

const COLOURS = ['#2f6fd0', '#c2571a', '#2e8b57', '#8e44ad', '#b8860b', '#c2185b', '#00838f', '#6d4c41'];

/** The durations of each part: how long it worked, and how long messages waited for it. */
export function summary(model, rows) {
  const parts = new Map();
  const of = (name) => {
    if (!parts.has(name)) parts.set(name, { name, worked: [], waited: [], times: [], total: 0 });
    return parts.get(name);
  };
  for (let at = 0; at < model.count; at += 1) {
    if (model.took[at] < 0) continue;
    // A decision is included if its message is.
    const row = model.what[at] === DECISION && model.came[at] >= 0 ? model.came[at] : model.first + at;
    if (!rows.has(row)) continue;
    if (model.what[at] === DECISION) {
      const part = of(model.name(model.from[at]));
      part.worked.push(model.took[at]);
      part.times.push(model.time[at]);
      part.total += model.took[at];
    } else if (model.what[at] <= RESPONSE) of(model.name(model.to[at])).waited.push(model.took[at]);
  }
  return [...parts.values()].sort((a, b) => b.total - a.total);
}

function quantile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] : -1;
}

/** The table and the plots as elements. */
export function plots(model, shown, choose) {
  const parts = summary(model, { has: (row) => contains(shown, row) });
  if (!parts.length) return html`<p class="quiet">No line here has a waiting or working time.</p>`;
  const worked = parts.filter((part) => part.worked.length).slice(0, COLOURS.length);
  const waited = parts.filter((part) => part.waited.length).slice(0, COLOURS.length);
  return html`<div class="table">
      <table>
        <caption>
          Processor time and waiting by part
        </caption>
        <thead>
          <tr><th>part</th><th>decisions</th><th>worked</th><th>median</th><th>95 %</th><th>longest</th><th>waited, median</th><th>95 %</th></tr>
        </thead>
        <tbody>
          ${parts.map((part) => {
            const [work, wait] = [part.worked, part.waited].map((list) => list.toSorted((a, b) => a - b));
            return html`<tr>
              <th><button class="link" @click=${() => choose(part.name)}>${part.name}</button></th>
              <td>${number(work.length)}</td>
              <td>${work.length ? span(part.total) : nothing}</td>
              <td>${span(quantile(work, 0.5))}</td>
              <td>${span(quantile(work, 0.95))}</td>
              <td>${span(work.at(-1) ?? -1)}</td>
              <td>${span(quantile(wait, 0.5))}</td>
              <td>${span(quantile(wait, 0.95))}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${figure('Worked, by how long', worked, (part) => part.worked, histogram)}
    ${figure('Waited, by how long', waited, (part) => part.waited, histogram)}
    ${figure('Worked, over time', worked, (part) => part, overTime)}`;
}

function contains(rows, row) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row;
}

/** The plot of each element, which has listeners on the window until it is destroyed. */
const drawn = new WeakMap();

function figure(title, parts, values, draw) {
  if (!parts.length) return nothing;
  const place = (element) => {
    if (!element) return;
    drawn.get(element)?.destroy();
    drawn.set(element, draw(element, parts, values));
  };
  return html`<figure>
    <figcaption>${title} <span class="keys">${parts.map((part, at) => html`<span class="key-${at}">${part.name}</span> `)}</span></figcaption>
    <div role="img" aria-label="${title}: ${counted(parts.length, 'part')}; the table has the figures" ${ref(place)}></div>
  </figure>`;
}

function axes(x, y) {
  const style = getComputedStyle(document.documentElement);
  const colour = { stroke: style.getPropertyValue('--quiet'), grid: { stroke: style.getPropertyValue('--border'), width: 1 }, font: '11px system-ui', ticks: { show: false } };
  return [
    { ...colour, ...x, size: 26 },
    { ...colour, ...y, size: 56 },
  ];
}

const PLAIN = { width: 320, height: 150, legend: { show: false }, cursor: { show: false } };

function histogram(element, parts, values) {
  const edges = Array.from({ length: BARS }, (_, at) => at);
  const bars = parts.map((part) => {
    const counts = new Array(BARS).fill(0);
    for (const value of values(part)) counts[Math.min(BARS - 1, Math.floor(Math.log2(value + 1)))] += 1;
    return counts;
  });
  const last = Math.max(4, ...bars.map((counts) => counts.findLastIndex((count) => count > 0))) + 1;
  const label = (at) => span(2 ** at);
  return new uPlot(
    {
      ...PLAIN,
      scales: { x: { time: false, range: [-0.5, last + 0.5] } },
      axes: axes({ values: (_, splits) => splits.map((at) => (Number.isInteger(at) && at >= 0 ? label(at) : '')), space: 60 }, { values: (_, splits) => splits.map((count) => (Number.isInteger(count) ? number(count) : '')) }),
      series: [{}, ...parts.map((_, at) => ({ stroke: COLOURS[at], fill: `${COLOURS[at]}44`, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }))],
    },
    [edges.slice(0, last + 1), ...bars.map((counts) => counts.slice(0, last + 1))],
    element,
  );
}

function overTime(element, parts) {
  const points = parts.flatMap((part, of) => part.times.map((time, at) => ({ time: time / 1e6, worked: part.worked[at], of })));
  // Skip lines without a time.
  const timed = points.filter((point) => point.time >= 0).sort((a, b) => a.time - b.time);
  const step = Math.ceil(timed.length / POINTS);
  const few = step > 1 ? timed.filter((_, at) => at % step === 0) : timed;
  return new uPlot(
    {
      ...PLAIN,
      scales: { y: { distr: 3, range: (_, low, high) => [Math.max(1, low / 2), Math.max(10, high * 2)] } },
      axes: axes({ space: 80 }, { values: (_, splits) => splits.map((micros) => (micros && Number.isInteger(Math.log10(micros)) ? span(micros) : '')) }),
      series: [{}, ...parts.map((_, at) => ({ stroke: COLOURS[at], paths: () => null, points: { show: true, size: 4, fill: COLOURS[at] } }))],
    },
    [few.map((point) => point.time), ...parts.map((_, of) => few.map((point) => (point.of === of ? Math.max(1, point.worked) : null)))],
    element,
  );
}
