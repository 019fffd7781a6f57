// JSON with its original spelling: numbers keep all their digits, and members their order, even duplicates.

import { html, nothing } from './vendor/lit-html.js';
import { cleanLines, counted, short } from './words.js';

/** The maximum nesting that is parsed. Deeper values stay text. */
const DEEPEST = 100;

/** The number of a value's parts that are shown at first, and added each time. */
const PARTS = 100;

/** The number of levels that are open at first, and the maximum number of their parts, past which fewer are open. */
const LEVELS = 6;
const SHOWN = 400;

/** The number of a string's characters that are shown at first. */
const STRING = 400;

/** Reads a text into values: { kind, raw } or { kind, parts: [{ key, value }] }. Undefined if it is not JSON. */
export function read(text) {
  const scan = { text, at: 0 };
  try {
    const value = valueOf(scan, 0);
    skip(scan);
    return scan.at === text.length ? value : undefined;
  } catch {
    return undefined;
  }
}

function skip(scan) {
  while (scan.at < scan.text.length && ' \n\r\t'.includes(scan.text[scan.at])) scan.at += 1;
}

const STRINGS = /"(?:[^"\\]|\\.)*"/sy;
const OTHERS = /[-+.\w]+/y;

function match(scan, pattern) {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.text);
  if (!found) throw new Error('no JSON');
  scan.at += found[0].length;
  return found[0];
}

function valueOf(scan, depth) {
  skip(scan);
  const begins = scan.text[scan.at];
  if (begins === '"') return { kind: 'string', raw: match(scan, STRINGS) };
  if (begins !== '{' && begins !== '[') return { kind: 'other', raw: match(scan, OTHERS) };
  if (depth >= DEEPEST) return { kind: 'other', raw: passed(scan) };
  const isObject = begins === '{';
  const ends = isObject ? '}' : ']';
  const parts = [];
  scan.at += 1;
  for (;;) {
    skip(scan);
    if (scan.text[scan.at] === ends && !parts.length) break;
    let key;
    if (isObject) {
      key = match(scan, STRINGS);
      skip(scan);
      if (scan.text[scan.at] !== ':') throw new Error('no JSON');
      scan.at += 1;
    }
    parts.push({ key, value: valueOf(scan, depth + 1) });
    skip(scan);
    if (scan.text[scan.at] === ends) break;
    if (scan.text[scan.at] !== ',') throw new Error('no JSON');
    scan.at += 1;
  }
  scan.at += 1;
  return { kind: isObject ? 'object' : 'array', parts };
}

/** A value that is skipped without being parsed. */
function passed(scan) {
  const from = scan.at;
  let depth = 0;
  do {
    const c = scan.text[scan.at];
    if (c === undefined) throw new Error('no JSON');
    if (c === '"') {
      match(scan, STRINGS);
      continue;
    }
    if (c === '{' || c === '[') depth += 1;
    if (c === '}' || c === ']') depth -= 1;
    scan.at += 1;
  } while (depth > 0);
  return scan.text.slice(from, scan.at);
}

/** A value in lines. `sorted` sorts members by name, so that their order makes no difference. */
export function pretty(value, { sorted = false } = {}, indent = '') {
  if (!value.parts) return value.raw;
  const [open, close] = value.kind === 'object' ? '{}' : '[]';
  if (!value.parts.length) return open + close;
  const inner = `${indent}  `;
  let { parts } = value;
  if (sorted && value.kind === 'object') parts = parts.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const lines = parts.map(({ key, value }) => inner + (key ? `${key}: ` : '') + pretty(value, { sorted }, inner));
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** The text of a string. */
export function textOf(raw) {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** A member of an object, by its name. */
export function member(value, name) {
  return value?.parts?.find(({ key }) => key && textOf(key) === name)?.value;
}

/** How many levels of a value are open at first. */
function levelsOf(value) {
  let [level, shown] = [[value], 0];
  for (let open = 0; open < LEVELS; open += 1) {
    level = level.flatMap(({ parts }) => (parts && parts.length <= PARTS ? parts.map((part) => part.value) : []));
    shown += level.length;
    if (shown > SHOWN) return open;
  }
  return LEVELS;
}

/** A value as a tree that folds. `more` has the unfolded parts; `again` renders it again. */
export function tree(value, more, again, path = '', key = undefined, last = true, levels = levelsOf(value)) {
  const comma = last ? '' : ',';
  const name = key ? html`<span class="key">${cleanLines(short(key, 200))}</span>: ` : nothing;
  if (!value.parts) return html`<div class="leaf">${name}${scalar(value, more, again, path)}${comma}</div>`;
  const [open, close] = value.kind === 'object' ? '{}' : '[]';
  const { parts } = value;
  if (!parts.length) return html`<div class="leaf">${name}${open}${close}${comma}</div>`;
  const depth = path.split('/').length - 1;
  const isOpen = more.get(path) ?? (depth < levels && parts.length <= PARTS);
  const toggle = (event) => {
    if (event.target.open === isOpen) return;
    more.set(path, event.target.open);
    again();
  };
  const shown = more.get(`${path}#`) ?? PARTS;
  const count = counted(parts.length, value.kind === 'object' ? 'member' : 'item');
  const rest = parts.length - shown;
  return html`<details ?open=${isOpen} @toggle=${toggle}>
    <summary>${name}${open}<span class="folded"> ${count} ${close}${comma}</span></summary>
    ${isOpen
      ? html`<div class="inside">
            ${parts
              .slice(0, shown)
              .map((part, at) => tree(part.value, more, again, `${path}/${at}`, part.key, at === parts.length - 1, levels))}
            ${rest > 0
              ? html`<button class="link" @click=${() => (more.set(`${path}#`, shown + 10 * PARTS), again())}>
                  ${counted(rest, 'more')}
                </button>`
              : nothing}
          </div>
          <div class="leaf">${close}${comma}</div>`
      : nothing}
  </details>`;
}

function scalar(value, more, again, path) {
  if (value.kind !== 'string') return html`<span class="other">${cleanLines(short(value.raw, STRING))}</span>`;
  const state = more.get(path) ?? 'short';
  const set = (state) => () => (more.set(path, state), again());
  const hasLines = value.raw.includes('\\n');
  const isLong = value.raw.length > STRING;
  const text = state === 'text' ? html`<span class="text">${cleanLines(textOf(value.raw))}</span>` : html`<span class="string">${cleanLines(state === 'short' ? short(value.raw, STRING) : value.raw)}</span>`;
  return html`${text}${isLong && state === 'short'
    ? html` <button class="link" @click=${set('whole')}>all ${counted(value.raw.length, 'character')}</button>`
    : nothing}${hasLines
    ? html` <button class="link" @click=${set(state === 'text' ? 'whole' : 'text')}>${state === 'text' ? 'as JSON' : 'as text'}</button>`
    : nothing}`;
}
