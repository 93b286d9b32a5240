// Calls and their views.
import { byId, empty, fill, put } from "./dom.js";
import * as relay from "./relay.js";

const cards = new Map(), views = new Map();
const part = (card, name) => [...card.querySelectorAll(`.${name}`)].find(one => one.closest("[data-row]") === card);

export function clear() {
  views.clear();
  cards.clear();
  empty(byId("cards"));
}

export function show(call) {
  const outer = views.get(call.callingView)?.card ?? cards.get(call.id)?.outer;
  const card = put(outer ? part(outer, "inner") : byId("cards"), "card", call, true);
  if (!cards.has(call.id)) cards.set(call.id, { card, outer });
  if (outer) part(outer, "calls").hidden = false;
  part(card, "progress").value = call.progress ?? "";
  if (call.progress === undefined) part(card, "progress").removeAttribute("value");
  const result = part(card, "result");
  if (!call.content || result.childElementCount > 1) return;
  result.append(...call.content.map(content));
  result.open = !call.view;
}

export const content = block => fill(`is-${block.kind}`, block);

export function openView(info) {
  const { card } = cards.get(info.call) ?? {};
  if (!card) return;
  const holder = fill("view", info);
  part(card, "place").replaceChildren(holder);
  part(card, "result").open = false;
  views.set(info.id, { card, holder });
  // The frame begins to load once it stands where it stays.
  relay.open(info, holder.querySelector("iframe"));
  mode(info);
}

export function mode({ id, mode }) {
  const { holder } = views.get(id) ?? {};
  if (!holder) return;
  fill(holder, { mode });
  document.body.classList.toggle("covered", mode === "fullscreen");
  relay.watch(id, mode !== "inline");
}

export function note(facts) {
  const { holder } = views.get(facts.id) ?? {};
  if (holder) fill(holder, facts);
}

export function closeView({ id }) {
  relay.close(id);
  const { card, holder } = views.get(id) ?? {};
  if (!holder) return;
  views.delete(id);
  if (holder.data.mode === "fullscreen") document.body.classList.remove("covered");
  holder.remove();
  part(card, "result").open = true;
}
