// Values as JSON text.

/** Like `JSON.stringify`, but an error for values that are not JSON, instead of `undefined`. */
export function json(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is not JSON`);
  return text;
}
