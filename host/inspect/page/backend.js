// The source of lines: the program that serves this page, or this file itself, if it is a report.

const embedded = document.getElementById('report');
const report = embedded && JSON.parse(embedded.textContent);

/** Whether this page is a report, without a server. */
export const isReport = Boolean(report);

/** All frames so far, then new ones. Ends with the program. */
export async function* frames() {
  if (report) {
    yield* report.frames;
    return;
  }
  const answer = await fetch('stream', { cache: 'no-store' });
  if (!answer.ok) throw new Error(`acp-chain answers ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    let from = 0;
    for (let end = value.indexOf('\n'); end >= 0; end = value.indexOf('\n', from)) {
      parts.push(value.slice(from, end));
      yield JSON.parse(parts.join(''));
      parts = [];
      from = end + 1;
    }
    if (from < value.length) parts.push(value.slice(from));
  }
}

/** A line as it is in the trace. */
export async function line(row, signal) {
  if (report) return report.lines[row];
  const answer = await fetch(`line?row=${row}`, { signal });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

/** The turn that begins with this row, and ends before `end` at the latest, as items. */
export async function conversation(row, end) {
  if (report) {
    const told = report.conversations[row];
    if (!told) throw new Error('This report does not tell this turn; the list has its messages.');
    return told;
  }
  const query = Number.isFinite(end) ? { row, end } : { row };
  const answer = await fetch(`conversation?${new URLSearchParams(query)}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** The rows, from this one on, whose bodies contain a text, in order. */
export async function search(text, from, signal) {
  if (report) return searchHere(text, from);
  const answer = await fetch(`search?${new URLSearchParams({ text, from })}`, { signal });
  if (!answer.ok) throw new Error(await answer.text());
  return new Uint32Array(await answer.arrayBuffer());
}

function searchHere(text, from) {
  const anyCase = text === text.toLowerCase();
  const spellings = [text, JSON.stringify(text).slice(1, -1)];
  const has = (json) => {
    const body = anyCase ? json.toLowerCase() : json;
    return spellings.some((spelling) => body.includes(spelling));
  };
  const found = [];
  for (let row = from; row < report.lines.length; row += 1) {
    const body = report.lines[row].slice(...report.bodies[row]);
    if (has(body) || (body.includes('\\u') && has(respelt(body)))) found.push(row);
  }
  return Uint32Array.from(found);
}

/** JSON with its `\u…` escapes decoded, as `JSON.stringify` spells the characters. */
function respelt(json) {
  return json.replace(/((?:\\u[0-9a-f]{4})+)|\\./gis, (escape, row) => (row ? JSON.stringify(JSON.parse(`"${row}"`)).slice(1, -1) : escape));
}

/** Rows in a format. */
export async function exported(format, rows) {
  if (report) return new Blob([rows.reduce((all, row) => `${all}${report.lines[row]}\n`, '')]);
  const answer = await fetch(`export?${new URLSearchParams({ to: format })}`, {
    method: 'POST',
    body: Uint32Array.from(rows),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.blob();
}
