// Values as JSON text.

/** What is no JSON is an error, where `JSON.stringify` would give nothing. */
export function json(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is not JSON`);
  return text;
}
