// The turns of a session as a conversation: what was said, and beside it what each proxy did. The program tells a turn
// as items; this shows them.

import { html, nothing } from './vendor/lit-html.js';
import { conversation } from './backend.js';
import { difference, shown as differing } from './compare.js';
import { clean, cleanLines, counted, localTime, short, span } from './words.js';

/** The number of a session's newest turns that are shown at first, and added each time. */
const TURNS = 5;

/** The number of a text's characters that are shown at first. */
const TEXT = 2000;

/** The pause between two requests for a turn that goes on, in milliseconds. */
const PAUSE = 500;

const PARTS = { prompt: 'Prompt', thought: 'Thought', message: 'Answer', user: 'User', tool: 'Tool', hook: 'Tool check', permission: 'Permission', plan: 'Plan', request: 'Request', cancel: 'Cancelled', end: 'End' };

const DID = { change: 'changed it', refuse: 'refused it', answer: 'answered it', discard: 'dropped it', hold: 'held it', fail: 'failed', expire: 'held it for too long', ask: 'asked for', add: 'added' };

export class Conversation {
  #model;
  #act;
  #turns = [];
  #session = '';
  #state = '';
  #most = TURNS;
  /** The items of each turn: { upTo, items, isCut, error }. */
  #told = new Map();
  #open = new Set();
  #isAsking = false;

  /** `act` has `select(row)` and `again()`. */
  constructor(model, act) {
    this.#model = model;
    this.#act = act;
  }

  /** Chooses the turns of a session, of which only the newest are shown, or a single turn. Returns whether that changes
   * anything. */
  look(turns) {
    const session = turns.length === 1 ? `turn ${turns[0].row}` : `${turns[0]?.connection} ${turns[0]?.session}`;
    if (session !== this.#session) [this.#session, this.#most] = [session, TURNS];
    this.#turns = turns;
    const state = JSON.stringify([turns.length, this.#shownTurns()]);
    const isNew = state !== this.#state;
    this.#state = state;
    const kept = new Set(this.#shownTurns().map((turn) => turn.row));
    for (const row of this.#told.keys()) if (!kept.has(row)) this.#told.delete(row);
    this.#ask();
    return isNew;
  }

  #shownTurns() {
    return this.#turns.slice(-this.#most);
  }

  /** The row up to which a turn is known. */
  #upTo(turn) {
    return Math.min(turn.end, this.#model.chain(turn.connection).newest + 1);
  }

  /** Requests the turns that have new rows, one after the other. */
  async #ask() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    for (;;) {
      const turn = this.#shownTurns().find((turn) => (this.#told.get(turn.row)?.upTo ?? -1) < this.#upTo(turn));
      if (!turn) break;
      const upTo = this.#upTo(turn);
      try {
        const { items, is_cut } = await conversation(turn.row, turn.end);
        this.#told.set(turn.row, { upTo, items, isCut: is_cut });
      } catch (error) {
        this.#told.set(turn.row, { upTo: Infinity, items: [], error: clean(error.message ?? error) });
      }
      this.#act.again();
      if (turn.end === Infinity) await new Promise((done) => setTimeout(done, PAUSE));
    }
    this.#isAsking = false;
  }

  /** The conversation as elements. */
  shown() {
    const turns = this.#shownTurns();
    if (!turns.length) return html`<p class="quiet">There is no turn here yet: it begins with a prompt.</p>`;
    const left = this.#turns.length - turns.length;
    const more = () => {
      this.#most += TURNS;
      this.look(this.#turns);
      this.#act.again();
    };
    return html`${left > 0 ? html`<button class="link" @click=${more}>${counted(left, 'earlier turn')}</button>` : nothing} ${turns.map((turn) => this.#turn(turn))}`;
  }

  #turn(turn) {
    const model = this.#model;
    const told = this.#told.get(turn.row);
    const at = model.at(turn.row);
    const [took, first] = [model.between(turn.row, turn.over), model.between(turn.row, turn.speaks)];
    const facts = [at >= 0 && localTime(model.time[at]), took >= 0 ? `took ${span(took)}` : turn.end === Infinity ? 'goes on' : '', first >= 0 && `first output after ${span(first)}`];
    const began = at >= 0 ? model.time[at] : -1;
    return html`<section class="turn" aria-label="turn: ${turn.title}">
      <p class="facts quiet">${facts.filter(Boolean).join(' · ')}</p>
      ${told?.error ? html`<p class="problem">${told.error}</p>` : nothing}
      ${told ? told.items.map((item) => this.#item(turn, item, began)) : html`<p class="quiet">…</p>`}
      ${told?.isCut ? html`<p class="problem">This turn is too long to be told as a whole: parts are left out. The list has all messages.</p>` : nothing}
    </section>`;
  }

  #item(turn, item, began) {
    const after = item.began >= began && began >= 0 && item.part !== 'prompt' ? `+${span(item.began - began)}` : '';
    const took = item.ended >= item.began && item.began >= 0 && !['prompt', 'end'].includes(item.part) ? `took ${span(item.ended - item.began)}` : '';
    const isBad = ['failed', 'refused'].includes(item.status) || item.title === 'error' || item.part === 'cancel';
    const title = item.part === 'prompt' ? '' : clean(item.title);
    const by = item.by && !['agent', 'client'].includes(item.by) ? `by ${clean(item.by)}` : item.part === 'permission' && item.by ? 'by the user' : '';
    const status = item.part === 'prompt' ? '' : clean(item.status);
    return html`<article class="item is-${item.part}">
      <div class="said">
        <header>
          <button class="link" title="Show the message" @click=${() => this.#act.select(item.row)}>${PARTS[item.part] ?? clean(item.part)}</button>
          ${title ? html`<b>${title}</b>` : nothing} ${status || by ? html`<span class=${isBad ? 'problem' : 'quiet'}>${status} ${by}</span>` : nothing}
          <span class="time quiet">${[after, took].filter(Boolean).join(' · ')}</span>
        </header>
        ${item.text ? this.#text(`${turn.row} ${item.row}`, item.text) : nothing}
      </div>
      <aside>${item.notes.map((note, at) => this.#note(`${turn.row} ${item.row} ${at}`, note))}</aside>
    </article>`;
  }

  #text(key, text) {
    const isOpen = text.length <= TEXT || this.#open.has(key);
    return html`<pre>${cleanLines(isOpen ? text : short(text, TEXT))}</pre>
      ${isOpen ? nothing : html`<button class="link" @click=${this.#toggle(key)}>all ${counted(text.length, 'character')}</button>`}`;
  }

  #toggle(key) {
    return () => {
      if (!this.#open.delete(key)) this.#open.add(key);
      this.#act.again();
    };
  }

  #note(key, { proxy, did, row, count, why, before, after }) {
    const hasTexts = before !== null && after !== null;
    const isOpen = this.#open.has(key);
    return html`<div class="note is-${did}">
      <p>
        <button class="link" title="Show the message" @click=${() => this.#act.select(row)}>${clean(proxy)}</button> ${DID[did] ?? clean(did)}${why ? `${['ask', 'add'].includes(did) ? '' : ':'} ${clean(why)}` : ''}${count > 1 ? `, ${count} times` : ''}
        ${hasTexts ? html`<button class="link" aria-expanded=${isOpen} @click=${this.#toggle(key)}>${isOpen ? 'less' : 'what'}</button>` : nothing}
      </p>
      ${hasTexts && isOpen ? differing(difference({ raw: before }, { raw: after })) : nothing}
    </div>`;
  }
}

/** The turns that a filter names: one, or those of its session, else of the session with the newest turn. */
export function turnsOf(model, { turn, session, connection }) {
  const one = model.turns.filter(({ row }) => turn && row === Number(turn));
  if (one.length) return one;
  const isOf = (other) => (!session || model.name(other.session) === session) && (!connection || clean(model.connections[other.connection]?.name ?? '') === connection);
  // The proxies of a project see the turns of the chain around them.
  const isOuter = (other) => model.connections[other.connection]?.role !== 'proxy';
  const newest = model.turns.findLast((other) => isOf(other) && (connection || isOuter(other))) ?? model.turns.findLast(isOf);
  if (!newest) return [];
  return model.turns.filter((other) => other.connection === newest.connection && other.session === newest.session);
}
