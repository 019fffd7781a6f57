// The selected message: its content, its route through the chain, and each proxy's changes.

import { html, nothing } from './vendor/lit-html.js';
import { line } from './backend.js';
import { asText, difference, shown } from './compare.js';
import { member, pretty, read, tree } from './json.js';
import { BEGINS, DECISION, DECISIONS, KINDS, MARKS, OVER, REQUEST, RESPONSE } from './model.js';
import { bytes, clean, cleanLines, fullTime, localTime, short, span } from './words.js';

/** The maximum length of a message that is parsed. A longer one can only be saved. */
const LONGEST = 4 << 20;

/** How much of a longer message is shown. */
const GLIMPSE = 20_000;

export class Detail {
  #model;
  #act;
  #row = -1;
  #more = new Map();
  #abort = new AbortController();
  #loaded = null;

  /** `act` has `select(row)`, `copy(text, what)`, `save(rows)` and `again()`. */
  constructor(model, act) {
    this.#model = model;
    this.#act = act;
  }

  /** Selects a row; its content is shown when it is loaded. */
  async look(row) {
    if (row === this.#row) return;
    this.#row = row;
    this.#more = new Map();
    this.#loaded = null;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#act.again();
    if (row < 0) return;
    const { signal } = this.#abort;
    const loaded = await this.#load(row, signal);
    if (signal.aborted) return;
    this.#loaded = loaded;
    this.#act.again();
  }

  async #load(row, signal) {
    try {
      const model = this.#model;
      const at = model.at(row);
      const own = await message(model, row, signal);
      const changes = [];
      const way = at >= 0 ? model.way(row) : [];
      for (let leg = 1; leg < way.length && changes.length < 24; leg += 1) {
        const place = model.at(way[leg]);
        if (place < 0 || !(model.marks[place] & MARKS.changed)) continue;
        const [before, after] = [await message(model, way[leg - 1], signal), await message(model, way[leg], signal)];
        const both = before.body && after.body;
        changes.push({ row: way[leg], lines: both ? difference(before.body, after.body) : undefined });
      }
      return { ...own, changes };
    } catch (error) {
      return { error: String(error.message ?? error) };
    }
  }

  /** The message as elements. */
  shown() {
    const model = this.#model;
    const at = model.at(this.#row);
    if (this.#row < 0) return html`<p class="quiet">Choose a row: its message is shown here, with the changes of each proxy.</p>`;
    if (at < 0) return html`<p class="quiet">This row is no longer kept.</p>`;
    return html`${this.#head(at)} ${this.#loaded ? this.#content(at, this.#loaded) : html`<p class="quiet">…</p>`}`;
  }

  #head(at) {
    const model = this.#model;
    const what = model.what[at];
    const part = (number) => html`<b>${model.name(number)}</b>`;
    const title =
      what <= RESPONSE
        ? html`${part(model.from[at])} → ${part(model.to[at])}`
        : what === DECISION
          ? html`${part(model.from[at])} decided: ${DECISIONS[model.to[at]]}`
          : html`${model.words(this.#row)}`;
    const marks = Object.keys(MARKS).filter((mark) => model.marks[at] & MARKS[mark]);
    const facts = [
      ['line', String(model.line[at])],
      ['time', localTime(model.time[at])],
      ['UTC', fullTime(model.time[at])],
      ['kind', what === BEGINS || what === OVER ? '' : [KINDS[what], model.name(model.kind[at])].filter(Boolean).join(' ')],
      ['connection', model.connections.length > 1 ? clean(model.connections[model.connection[at]]?.name ?? '') : ''],
      ['method', model.name(model.method[at])],
      ['session', model.name(model.session[at])],
      ['request', model.request[at] >= 0 ? String(model.request[at]) : ''],
      ['size', what <= RESPONSE ? bytes(model.size[at]) : ''],
      ['took', what === DECISION ? '' : span(model.lasted(at))],
      [what === DECISION ? 'worked' : 'waited', span(model.took[at])],
      ['held', what === DECISION ? span(model.held[at]) : ''],
    ];
    return html`<h2>${title}</h2>
      ${marks.length ? html`<p>${marks.map((mark) => html`<span class="badge is-${mark}">${mark}</span> `)}</p>` : nothing}
      <dl>
        ${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
      </dl>
      ${this.#links(at)}`;
  }

  #links(at) {
    const model = this.#model;
    const go = (row, words) => html`<button @click=${() => this.#act.select(row)}>${words}</button>`;
    const asked = model.asked[at];
    const answer = model.what[at] === REQUEST ? model.answer[model.at(asked) >= 0 ? model.at(asked) : at] : -1;
    const links = [
      model.what[at] === RESPONSE && model.at(asked) >= 0 ? go(asked, 'To its request') : nothing,
      model.at(answer) >= 0 ? go(answer, 'To its answer') : nothing,
      model.what[at] === DECISION && model.at(model.came[at]) >= 0 ? go(model.came[at], 'To its message') : nothing,
    ];
    return links.some((link) => link !== nothing) ? html`<p class="buttons">${links}</p>` : nothing;
  }

  #content(at, loaded) {
    if (loaded.error) return html`<p class="problem">${clean(loaded.error)}</p>`;
    return html`${this.#way()} ${loaded.changes.map((change) => this.#change(change))} ${this.#body(at, loaded)}`;
  }

  #way() {
    const model = this.#model;
    const way = model.way(this.#row);
    if (way.length < 2) return nothing;
    return html`<section>
      <h3>Its way</h3>
      <ol class="way">
        ${way.map((row) => {
          const at = model.at(row);
          const isChanged = model.marks[at] & MARKS.changed;
          return html`<li>
            <button aria-current=${row === this.#row} @click=${() => this.#act.select(row)}>
              ${model.name(model.from[at])} → ${model.name(model.to[at])}
            </button>
            ${isChanged ? html`<span class="badge is-changed">changed</span>` : nothing}
          </li>`;
        })}
      </ol>
    </section>`;
  }

  #change({ row, lines }) {
    const name = this.#model.changedBy(this.#model.at(row));
    return html`<section class="change">
      <h3>
        <span>What ${name} made of it</span>
        ${lines ? html`<button @click=${() => this.#act.copy(asText(lines), 'the difference')}>Copy</button>` : nothing}
      </h3>
      ${shown(lines)}
    </section>`;
  }

  #body(at, { text, body, why, isWhole }) {
    const copy = (text, what) => () => this.#act.copy(text, what);
    const again = () => this.#act.again();
    return html`<section>
      <h3>
        ${body && isWhole ? 'The line' : 'What it says'}
        ${body ? html`<button @click=${copy(pretty(body), 'the message')}>Copy</button>` : nothing}
        <button @click=${copy(text, 'the line')}>Copy the line</button>
      </h3>
      ${why ? html`<p class="problem">${cleanLines(why)}</p>` : nothing}
      ${body
        ? html`<div class="json">${tree(body, this.#more, again)}</div>`
        : text.length > LONGEST
          ? html`<p class="quiet">This line has ${bytes(text.length)}. Only its beginning is shown: <button @click=${() => this.#act.save([this.#row])}>Save the line</button></p>
              <pre>${cleanLines(short(text, GLIMPSE))}</pre>`
          : html`<pre>${cleanLines(text)}</pre>`}
    </section>`;
  }
}

/** The content of a line: its body, or the whole line if it has none. */
async function message(model, row, signal) {
  const text = (await line(row, signal)).trim();
  if (text.length > LONGEST) return { text };
  const whole = read(text);
  const why = member(whole, 'why');
  const body = ['params', 'result', 'error'].map((name) => member(whole, name)).find(Boolean);
  return { text, body: body ?? whole, isWhole: !body, why: why?.kind === 'string' ? JSON.parse(why.raw) : undefined };
}
