// Formats the numbers, times and names of a trace.
//
// Invariant: a name is shown on one line, and has no characters that hide others or change their direction.

const DECEIVES = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A name, with deceptive characters replaced by signs. */
export function clean(text) {
  return String(text).replace(DECEIVES, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** A text of several lines, with deceptive characters replaced by signs. */
export function cleanLines(text) {
  return String(text).replace(DECEIVES, (c) =>
    c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0).toString(16)}}`,
  );
}

/** The beginning of a text, up to `most`, in whole characters. */
export function short(text, most) {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}

/** A time of day in UTC, to the millisecond. */
export function timeOfDay(micros) {
  if (micros < 0) return '';
  const time = new Date(micros / 1000);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(11, 23);
}

/** A date and time where the browser is. */
export function localTime(micros) {
  const time = new Date(micros / 1000);
  return micros < 0 || Number.isNaN(time.getTime()) ? '' : time.toLocaleString();
}

/** A date and time in UTC, to the microsecond. */
export function fullTime(micros) {
  if (micros < 0) return 'no time';
  const time = new Date(micros / 1000);
  if (Number.isNaN(time.getTime())) return 'no time';
  return `${time.toISOString().slice(0, 19).replace('T', ' ')}.${String(micros % 1e6).padStart(6, '0')} UTC`;
}

/** A duration, given in microseconds. */
export function span(micros) {
  if (micros < 0) return '';
  if (micros < 1000) return `${micros} µs`;
  if (micros < 1e6) return `${(micros / 1000).toFixed(micros < 1e5 ? 1 : 0)} ms`;
  if (micros < 6e7) return `${(micros / 1e6).toFixed(2)} s`;
  return `${Math.floor(micros / 6e7)} min ${Math.round((micros % 6e7) / 1e6)} s`;
}

export function bytes(count) {
  if (count < 0) return '';
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1024 / 1024).toFixed(1)} MiB`;
}

export function number(count) {
  return count.toLocaleString('en');
}

/** A number with its noun, in the singular or plural. */
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}
