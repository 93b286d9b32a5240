// Calls and their views.
import { byId, empty, fill, put } from "./dom.js";
import * as relay from "./relay.js";

const views = new Map();
const find = id => document.querySelector(`[data-call="${id}"]`);
// A card's own parts come before the cards inside it.
const part = (card, name) => card.querySelector(`.${name}`);

export function clear() {
  views.clear();
  empty(byId("cards"));
}

export function show(call) {
  const outer = (views.get(call.callingView) ?? find(call.id)?.parentElement)?.closest(".card");
  const card = put(outer ? part(outer, "inner") : byId("cards"), "card", call, true);
  if (outer) part(outer, "calls").hidden = false;
  const result = part(card, "result");
  if (!call.content || result.childElementCount > 1) return;
  result.append(...call.content.map(content));
  result.open = !call.view;
}

export const content = block => fill(`is-${block.kind}`, block);

export function openView(info) {
  const card = find(info.call);
  if (!card) return;
  const holder = fill("view", info);
  part(card, "place").replaceChildren(holder);
  part(card, "result").open = false;
  views.set(info.id, holder);
  // The frame starts to load once it is in its final place.
  relay.open(info, holder.querySelector("iframe"));
  mode(info);
}

export function mode({ id, mode }) {
  const holder = views.get(id);
  if (!holder) return;
  fill(holder, { mode });
  relay.watch(id, mode !== "inline");
}

export function note(facts) {
  const holder = views.get(facts.id);
  if (holder) fill(holder, facts);
}

export function closeView({ id }) {
  relay.close(id);
  const holder = views.get(id);
  if (!holder) return;
  views.delete(id);
  part(holder.closest(".card"), "result").open = true;
  holder.remove();
}
