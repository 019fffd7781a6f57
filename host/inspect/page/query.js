// The filter: words to find in bodies, and `session:`, `method:`, `proxy:`, `kind:`, `status:`, `turn:`, `connection:`,
// `user:`.

import { DECISION, KINDS, MARKS, RESPONSE } from './model.js';
import { clean } from './words.js';

export const KEYS = ['session', 'method', 'proxy', 'kind', 'status', 'turn', 'connection', 'user'];

/** Parses a filter. Values with spaces are quoted. */
export function parse(text) {
  const query = { text: '', terms: [], wrong: [] };
  const words = [];
  for (const [, key, quoted, plain] of text.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)) {
    const value = quoted ?? plain;
    if (KEYS.includes(key)) query.terms.push({ key, value });
    else words.push(key ? `${key}:${value}` : value);
  }
  for (const { key, value } of query.terms) {
    if (key === 'kind' && !KINDS.includes(value)) query.wrong.push(`kind:${value}`);
    if (key === 'status' && !Object.hasOwn(MARKS, value)) query.wrong.push(`status:${value}`);
  }
  query.text = words.join(' ');
  return query;
}

/** The filter with the key's values replaced by this one, or removed if there is no value. */
export function withTerm(text, key, value) {
  const rest = text.replace(new RegExp(`(^|\\s)${key}:("[^"]*"?|\\S+)`, 'g'), ' ').replace(/\s+/g, ' ').trim();
  if (!value) return rest;
  const term = /\s/.test(value) ? `${key}:"${value}"` : `${key}:${value}`;
  return [rest, term].filter(Boolean).join(' ');
}

/** The value of a key, if it has one. */
export function term(text, key) {
  return parse(text).terms.find((term) => term.key === key)?.value ?? '';
}

/** A function that tests an index of the columns. The text in bodies is not tested here. */
export function predicate(model, query) {
  const has = (key) => query.terms.filter((term) => term.key === key).map((term) => term.value);
  const tests = [];
  const named = (column, values) => {
    if (!values.length) return;
    const numbers = numbersOf(model, values);
    tests.push((at) => numbers.has(model[column][at]));
  };
  named('method', has('method'));
  named('session', has('session'));
  const proxies = has('proxy');
  if (proxies.length) {
    const numbers = numbersOf(model, proxies);
    tests.push((at) => numbers.has(model.from[at]) || (model.what[at] <= RESPONSE && numbers.has(model.to[at])));
  }
  const kinds = has('kind');
  if (kinds.length) {
    const whats = new Set(kinds.map((kind) => KINDS.indexOf(kind)));
    tests.push((at) => whats.has(model.what[at]));
  } else {
    // A message that a proxy forwarded unchanged is shown at its next hop.
    tests.push((at) => model.what[at] !== DECISION || model.to[at] > 2 || model.to[at] === 0);
  }
  const marks = has('status').reduce((all, mark) => all | (MARKS[mark] ?? 0), 0);
  if (has('status').length) tests.push((at) => (model.marks[at] & marks) !== 0);
  for (const row of has('turn')) {
    const turn = model.turns.find((turn) => turn.row === Number(row));
    tests.push((at) => turn !== undefined && inTurn(model, turn, at));
  }
  const of = (key, member) => {
    const values = has(key);
    if (!values.length) return;
    tests.push((at) => values.includes(clean(model.connections[model.connection[at]]?.[member] ?? '')));
  };
  of('connection', 'name');
  of('user', 'user');
  if (tests.length === 1) return tests[0];
  return (at) => tests.every((test) => test(at));
}

function inTurn(model, turn, at) {
  const row = model.first + at;
  return row >= turn.row && row < turn.end && model.connection[at] === turn.connection && (model.session[at] === turn.session || model.session[at] === 0);
}

/** The numbers of these names; a name with `*` at its end stands for all with that prefix. */
function numbersOf(model, values) {
  const numbers = new Set();
  model.names.forEach((name, number) => {
    const is = (value) => (value.endsWith('*') ? name.startsWith(value.slice(0, -1)) : name === value);
    if (number > 0 && values.map(clean).some(is)) numbers.add(number);
  });
  return numbers;
}
