// Saving and copying the selected rows, or all that the filter shows.

import { html, nothing } from './vendor/lit-html.js';
import { exported, isReport, line } from './backend.js';
import { BEGINS, DECISION } from './model.js';
import { cleanLines, counted } from './words.js';

/** The maximum number of lines that are copied. */
const COPIED = 5000;

/** The rows, with the decisions about them and the first lines of their connections, as context. */
export function whole(model, rows) {
  const connections = new Set();
  const all = new Set(rows);
  for (const row of rows) if (model.at(row) >= 0) connections.add(model.connection[model.at(row)]);
  for (let at = 0; at < model.count; at += 1) {
    const isDecided = model.what[at] === DECISION && all.has(model.came[at]);
    if (isDecided || (model.what[at] === BEGINS && connections.has(model.connection[at]))) all.add(model.first + at);
  }
  return [...all].sort((a, b) => a - b);
}

/** Lets the browser save rows in a format. */
export async function save(model, rows, { name, extension }) {
  const blob = await exported(name, whole(model, rows));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `acp-chain.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Rows in words, a line each, followed by the lines of the trace. */
export async function asText(model, rows) {
  const some = rows.slice(0, COPIED);
  const words = some.map((row) => `${model.line[model.at(row)]}: ${model.words(row)}`);
  const lines = [];
  for (const row of some) lines.push((await line(row)).trim());
  const left = rows.length - some.length;
  return cleanLines(`${words.join('\n')}\n\n${lines.join('\n')}\n${left ? `(${counted(left, 'line')} more)\n` : ''}`);
}

/** The choice of formats as elements. */
export function choices(model, selected, shown, state, act) {
  const scope = (value, words, count) => html`<label>
    <input type="radio" name="scope" .checked=${state.scope === value} ?disabled=${count === 0} @change=${() => act.scope(value)} />
    ${words} (${counted(count, 'line')})
  </label>`;
  const formats = isReport ? [{ name: 'ndjson', label: 'The lines of the trace (NDJSON)', extension: 'ndjson' }] : model.formats;
  return html`<fieldset>
      <legend>What</legend>
      ${scope('shown', 'All filtered lines', shown.length)} ${scope('selected', 'Selected lines', selected.length)}
    </fieldset>
    <p class="problem">Traces contain messages, including their secrets: check a file before you share it.</p>
    <div class="formats">
      ${formats.map((format) => html`<button ?disabled=${state.isBusy} @click=${() => act.save(format)}>${format.label}</button>`)}
      <button ?disabled=${state.isBusy} @click=${act.copy}>Copy as text</button>
    </div>
    ${state.told ? html`<p role="status" class=${state.failed ? 'problem' : 'quiet'}>${state.told}</p>` : nothing}`;
}
