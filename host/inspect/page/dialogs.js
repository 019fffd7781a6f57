// The dialogs: help, and the choice of an export.

import { html, render } from './vendor/lit-html.js';
import { asText, choices, save } from './exports.js';
import { KINDS, MARKS } from './model.js';
import { KEYS } from './query.js';
import { clean } from './words.js';

function open(title, content) {
  const dialog = document.getElementById('dialog');
  render(
    html`<h2>${title} <button class="close" aria-label="Close" @click=${() => dialog.close()}>×</button></h2>
      ${content}`,
    dialog,
  );
  if (!dialog.open) dialog.showModal();
}

const HELP = [
  ['j, k, ↓, ↑', 'next row, previous row; with Shift, extend the selection'],
  ['PageDown, PageUp, g, G', 'next page, previous page, first row, last row'],
  ['n, N', 'next problem, previous problem'],
  ['/', 'filter'],
  ['Enter', 'in the list: to the message; in the filter: to the list'],
  ['Esc', 'back to the list; then clear the selection; then clear the filter'],
  ['c', 'copy the selection'],
  ['e', 'save or copy in other formats'],
  ['f', 'follow new lines'],
  ['v', 'conversation, or list'],
  ['p', 'latency and processor time'],
  ['t', 'light or dark'],
  ['?', 'this help'],
];

/** Shows keys, signs and filters. */
export function help() {
  open(
    'Keys and filters',
    html`<dl class="keys">${HELP.map(([keys, what]) => html`<div><dt><kbd>${keys}</kbd></dt><dd>${what}</dd></div>`)}</dl>
      <h3>Signs</h3>
      <p>→ request, · notification, ✓ answer, ✗ error. A line with no arrow is of another chain than the one whose parts are drawn: select it to draw its chain.</p>
      <h3>Filters</h3>
      <p>Words are searched for in messages; words in lower case match any case. Other filters are ${KEYS.map((key, at) => html`${at ? ', ' : ''}<code>${key}:</code>`)}. A method may end in <code>*</code>.</p>
      <p><code>kind:</code> ${KINDS.join(', ')}. <code>status:</code> ${Object.keys(MARKS).join(', ')}.</p>`,
  );
}

const exporting = { scope: 'shown', isBusy: false, told: '', failed: false };

/** Lets the user save or copy rows of a list. */
export function openExports(model, list) {
  if (list.selection().length > 1) exporting.scope = 'selected';
  else if (list.selected < 0) exporting.scope = 'shown';
  exporting.told = '';
  drawExports(model, list);
}

function drawExports(model, list) {
  const again = () => drawExports(model, list);
  const chosen = () => (exporting.scope === 'selected' ? list.selection() : Array.from(list.shown));
  const doing = async (what, told) => {
    Object.assign(exporting, { isBusy: true, told: '…', failed: false });
    again();
    try {
      await what();
      exporting.told = told;
    } catch (error) {
      Object.assign(exporting, { told: clean(error.message ?? error), failed: true });
    }
    exporting.isBusy = false;
    again();
  };
  const act = {
    scope: (scope) => {
      exporting.scope = scope;
      again();
    },
    save: (format) => doing(() => save(model, chosen(), format), 'saved'),
    copy: () => doing(async () => navigator.clipboard.writeText(await asText(model, chosen())), 'copied'),
  };
  open('Export', choices(model, list.selection(), list.shown, exporting, act));
}
