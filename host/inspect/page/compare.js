// A proxy's changes of a message: the lines that differ, with the differing words marked.

import { html, nothing } from './vendor/lit-html.js';
import { diffLines, diffWordsWithSpace } from './vendor/diff.js';
import { pretty } from './json.js';
import { cleanLines, counted } from './words.js';

/** The number of equal lines shown around those that differ. */
const AROUND = 3;

/** The maximum length of a compared text, so that the page stays responsive. */
const LONGEST = 1 << 20;

const PATIENCE = { timeout: 1000 };

/** The lines of both, each with a sign: ` `, `-` or `+`. Undefined if that takes too long. */
export function difference(before, after) {
  const [old, now] = [before, after].map((value) => `${pretty(value, { sorted: true })}\n`);
  if (old.length + now.length > LONGEST) return undefined;
  const changes = diffLines(old, now, PATIENCE);
  return changes?.flatMap(({ added, removed, value }) => {
    const sign = added ? '+' : removed ? '-' : ' ';
    return value.replace(/\n$/, '').split('\n').map((text) => ({ sign, text }));
  });
}

/** The difference as text, for copying. */
export function asText(lines) {
  return lines.map(({ sign, text }) => `${sign} ${text}\n`).join('');
}

/** The difference as elements. */
export function shown(lines) {
  if (!lines) return html`<p class="quiet">The messages are too long to compare here; export them, and compare the files.</p>`;
  if (lines.every(({ sign }) => sign === ' ')) {
    return html`<p class="quiet">Only the order or the spelling of members differs.</p>`;
  }
  const near = (at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ sign }) => sign !== ' ');
  const rows = [];
  let left = 0;
  for (let at = 0; at < lines.length; at += 1) {
    if (!near(at)) {
      left += 1;
      continue;
    }
    if (left) rows.push(gap(left));
    left = 0;
    const pair = lines[at + 1];
    const alone = lines[at - 1]?.sign !== '-' && lines[at + 2]?.sign !== '+';
    if (lines[at].sign === '-' && pair?.sign === '+' && alone) {
      rows.push(...words(lines[at].text, pair.text));
      at += 1;
    } else rows.push(row(lines[at].sign, cleanLines(lines[at].text)));
  }
  if (left) rows.push(gap(left));
  return html`<div class="difference" role="group" aria-label="difference">${rows}</div>`;
}

function gap(count) {
  return html`<div class="gap">${counted(count, 'equal line')}</div>`;
}

function row(sign, content) {
  const kind = { '-': 'old', '+': 'new', ' ': 'same' }[sign];
  const said = { '-': 'removed: ', '+': 'added: ' }[sign];
  return html`<div class=${kind}><span class="sign" aria-hidden="true">${sign}</span>${said ? html`<span class="unseen">${said}</span>` : nothing}<span>${content}</span></div>`;
}

/** A changed line. */
function words(old, now) {
  const changes = diffWordsWithSpace(old, now, PATIENCE);
  if (!changes) return [row('-', cleanLines(old)), row('+', cleanLines(now))];
  const side = (other) =>
    changes
      .filter((change) => !change[other])
      .map((change) => (change.added || change.removed ? html`<mark>${cleanLines(change.value)}</mark>` : cleanLines(change.value)));
  return [row('-', side('added')), row('+', side('removed'))];
}
