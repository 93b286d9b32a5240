// Calls and their views.
import { byId, calmly, changes, drop, empty, fill, focused, put } from "./dom.js";
import * as questions from "./questions.js";
import * as relay from "./relay.js";

const views = new Map(), notes = new Map();
const find = id => document.querySelector(`[data-call="${id}"]`);
// A card's own parts come before the cards inside it.
const part = (card, name) => card.querySelector(`.${name}`);
let wanted;

export function clear() {
  views.clear();
  notes.clear();
  changes.clear();
  empty(byId("cards"));
}

/** Shows a call: a new one at once, what becomes of it calmly. */
export function show(call) {
  if (find(call.id)) calmly(`call ${call.id}`, () => find(call.id) && render(call));
  else render(call);
}

function render(call) {
  const outer = find(call.callingCall);
  const list = outer ? part(outer, "inner") : byId("cards");
  const card = put(list, "card", { ...call, isWaiting: call.isLoadingView && !call.view }, true);
  if (outer) {
    part(outer, "calls").hidden = false;
    if (call.isOver) fold(list, card, call.tool);
  }
  if (call.id === wanted) reveal(call.id);
  const result = part(card, "result");
  if (!call.content || result.childElementCount > 1) return;
  result.append(...call.content.map(content));
  result.open = !call.view && !call.isLoadingView;
}

/** Whether the user types somewhere else than into the form of a tool. */
export const isElsewhere = () => focused().matches(":is(input, textarea, select, iframe):not(#compose *)");

/** Leads the user to a card, as soon as it is there. */
export function reveal(id) {
  const card = find(id);
  wanted = card ? null : id;
  if (!card || isElsewhere()) return;
  card.scrollIntoView({ block: "nearest" });
  card.focus({ preventScroll: true });
}

/** Leaves one row of those that differ only in their time: a view may call the same tool every second. */
export function fold(list, row, tool, fits = () => true) {
  let times = row.data.times ?? 1;
  for (const [id, other] of list.rows) {
    if (other === row || other.data.tool !== tool || !other.data.isOver || !fits(other.data)) continue;
    times += other.data.times ?? 1;
    drop(list, id);
  }
  if (times > 1) fill(row, { times, timesText: `×${times}` });
}

export const content = block => fill(`is-${block.kind}`, block);

export function openView(info) {
  const card = find(info.call);
  if (!card) return;
  const holder = fill("view", { ...info, isLoading: !info.isReady });
  part(card, "place").replaceChildren(holder);
  part(card, "result").open = false;
  views.set(info.id, holder);
  notes.delete(info.id);
  // The frame starts to load once it is in its final place.
  relay.open(info, holder.querySelector("iframe"));
  questions.move(info.id);
  mode(info);
}

/** Returns the place for the questions of a view: in its frame's surroundings, where it cannot draw. */
export const questionsOf = id => views.get(id)?.querySelector(".asked");

export function mode({ id, mode }) {
  const holder = views.get(id);
  if (!holder) return;
  // Escape leads out of a view in its place, which may keep Tab for itself.
  if (mode === holder.data.mode && focused() === holder.querySelector("iframe")) find(holder.data.call)?.focus();
  fill(holder, { mode });
  relay.watch(id, mode !== "inline");
}

export function note(facts) {
  notes.set(facts.id, { ...notes.get(facts.id), ...facts });
  calmly(`view ${facts.id}`, () => {
    const holder = views.get(facts.id), all = notes.get(facts.id);
    notes.delete(facts.id);
    if (!holder || !all) return;
    fill(holder, all);
    fill(holder, { isLoading: !holder.data.isReady && !holder.data.problem });
  });
}

export function closeView({ id }) {
  relay.close(id);
  const holder = views.get(id);
  if (!holder) return;
  const card = holder.closest(".card"), hadFocus = holder.contains(focused());
  views.delete(id);
  part(card, "result").open = true;
  holder.remove();
  if (hadFocus) card.focus({ preventScroll: true });
}

/** The view that fills the window. */
export const whole = () => [...views.values()].find(holder => holder.data.mode === "fullscreen");
