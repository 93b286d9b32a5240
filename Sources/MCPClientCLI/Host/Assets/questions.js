// Decisions that only the user makes, in the page of the host: at the view that asks, or above the calls.
import { api } from "./api.js";
import * as cards from "./cards.js";
import { attempt, byId, fill } from "./dom.js";
import { form, mark, unmark } from "./form.js";

const open = new Map();
// How long a question stays in sight, unmoved and unpressed, before it can be agreed to.
const pause = 700;

export function clear() {
  for (const id of [...open.keys()]) settled({ id });
}

export function ask(question) {
  if (open.has(question.id)) return;
  const node = fill("question", question), fields = question.form && form(question.form);
  node.querySelector("slot").replaceWith(fields?.node ?? "");
  for (const line of question.lines ?? []) node.querySelector(".facts").append(fill("line", { line }));
  for (const line of question.warnings ?? []) node.querySelector(".warnings").append(fill("line", { line }));
  const buttons = question.answers.map((answer, i) => {
    const button = fill("answer", answer);
    button.onclick = attempt(async () => {
      if (i > 0 && !isMeant(node)) return;
      const body = answer.takesForm ? { ...answer.body, content: fields?.read() } : answer.body;
      try {
        await api("POST", question.path, body);
      } catch (error) {
        // A form that does not fit stays open, with what was typed.
        if (!error.violations) throw error;
        mark(node, error.violations)?.focus();
      }
    });
    return button;
  });
  node.querySelector(".answers").append(...buttons);
  // Typing ends with Enter; that agrees to nothing.
  node.onsubmit = event => event.preventDefault();
  node.oninput = ({ target }) => unmark(target);
  node.onkeydown = event => {
    if (event.repeat && event.target.tagName === "BUTTON") event.preventDefault();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    buttons[0].click();
  };
  node.onpointerdown = ({ target }) => target.closest("button:enabled, input, select, textarea, summary") || disarm(node);
  open.set(question.id, Object.assign(node, { question, buttons, seen: new Set(), read: new Set() }));
  (cards.questionsOf(question.view) ?? byId("questions")).append(node);
  for (const box of longBoxes(node)) box.onscroll = () => isAtEnd(box) && node.read.add(box);
  disarm(node);
  count();
}

/** Puts the questions of a view into its new frame. */
export function move(view) {
  for (const node of open.values()) {
    if (node.question.view === view) cards.questionsOf(view)?.append(node);
  }
}

export function settled({ id }) {
  const node = open.get(id);
  if (!node) return;
  open.delete(id);
  const hadFocus = node.contains(document.activeElement);
  const [next] = open.values(), card = node.closest(".card");
  node.remove();
  if (hadFocus) (next ? next.querySelector("h2") : card ?? byId("compose"))?.focus();
  count();
}

function count() {
  fill(document.body, { asks: open.size && `${open.size} question${open.size === 1 ? "" : "s"}` });
  document.title = open.size ? `(${open.size}) MCP host` : "MCP host";
}

/** Leads to the next question, wherever it is. */
byId("asks").onclick = () => {
  const all = [...open.values()], at = all.findIndex(node => node.contains(document.activeElement));
  const node = all[(at + 1) % all.length];
  if (!node) return;
  byId("show-calls").checked = true;
  const whole = cards.whole();
  if (whole && !whole.contains(node)) whole.querySelector(".leave").click();
  // Of a long one, its beginning: who asks, and what.
  node.scrollIntoView({ block: node.offsetHeight > innerHeight / 2 ? "start" : "center" });
  node.querySelector("h2").focus({ preventScroll: true });
};

// What the page scrolls to stands below the questions that stay in sight.
new ResizeObserver(([{ target }]) => target.parentElement.style.setProperty("--questions", `${target.offsetHeight + 16}px`))
  .observe(byId("questions"));

// MARK: Consent

// The first answer does nothing and is always there. The others wait until the question has been in sight for a
// moment, so that nothing that was meant for something else agrees: the second half of a double click, a press
// where the view was a moment ago, a page that moves under the pointer.
function disarm(node) {
  node.since = performance.now();
  for (const button of node.buttons.slice(1)) button.disabled = true;
}

function place(node) {
  const boxes = node.buttons.map(one => one.getBoundingClientRect());
  const isSeen = boxes.every(({ left, top, width, height }) =>
    node.contains(document.elementFromPoint(left + width / 2, top + height / 2)));
  // Each of them, so that all are noted.
  const isWhole = essentials(node).map(part => isUncovered(node, part)).every(Boolean) && isRead(node);
  return {
    top: boxes[0].top, left: boxes[0].left, isSeen: isSeen && isWhole && document.visibilityState === "visible",
  };
}

/** Who asks, what, and what it is about. */
const essentials = node => [...node.querySelectorAll(".from, h2, pre")].filter(one => one.parentElement === node && !one.hidden);

/** Whether nothing covers a part; what the user has scrolled out of sight, also of a part, has to have been there. */
function isUncovered(node, part) {
  const { left, right, top, bottom } = part.getBoundingClientRect();
  const inset = Math.min(6, (bottom - top) / 4), points = [[left + 6, top + inset], [(left + right) / 2, (top + bottom) / 2], [left + 6, bottom - inset]];
  let isCovered = false;
  points.forEach(([x, y], i) => {
    if (node.contains(document.elementFromPoint(x, y))) part.shown |= 1 << i;
    else isCovered ||= !isScrolledOut(node, x, y);
  });
  if (part.shown === 7) node.seen.add(part);
  return !isCovered && node.seen.has(part);
}

/** Whether what scrolls around a question leaves out this point. */
function isScrolledOut(node, x, y) {
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return true;
  for (let at = node.parentElement; at && at !== document.body; at = at.parentElement) {
    if (getComputedStyle(at).overflowY === "visible") continue;
    const { left, right, top, bottom } = at.getBoundingClientRect();
    if (x < left || x >= right || y < top || y >= bottom) return true;
  }
  return false;
}

// A text that is longer than its box says so, and has to have been scrolled to its end: consent is for all of it.
const longBoxes = node => [...node.querySelectorAll("h2, pre")].filter(one => one.parentElement === node && !one.hidden);
const isAtEnd = box => box.scrollTop + box.clientHeight >= box.scrollHeight - 2;

function isRead(node) {
  let isRead = true;
  for (const box of longBoxes(node)) {
    if (box.scrollHeight <= box.clientHeight + 2) continue;
    tellExtent(node, box);
    if (isAtEnd(box)) node.read.add(box);
    isRead &&= node.read.has(box);
  }
  return isRead;
}

function tellExtent(node, box) {
  if (box.tabIndex < 0) box.tabIndex = 0;
  const style = getComputedStyle(box), [space, line] = [style.paddingTop, style.lineHeight].map(parseFloat);
  const text = `${Math.round((box.scrollHeight - 2 * space) / line)} lines: scroll to the end to agree`;
  const [extent] = node.querySelectorAll(box.tagName === "PRE" ? "pre + .extent" : "h2 + .extent");
  if (extent.textContent !== text) extent.textContent = text;
  extent.hidden = false;
}

const isMoved = (a, b) => !a || Math.abs(a.top - b.top) > 2 || Math.abs(a.left - b.left) > 2;

function isMeant(node) {
  const now = place(node);
  if (now.isSeen && !isMoved(node.place, now) && performance.now() - node.since >= pause) return true;
  node.place = now;
  disarm(node);
  return false;
}

setInterval(() => {
  for (const node of open.values()) {
    const now = place(node);
    if (!now.isSeen || isMoved(node.place, now)) disarm(node);
    node.place = now;
    if (performance.now() - node.since < pause) continue;
    for (const button of node.buttons.slice(1)) button.disabled = false;
  }
}, 100);
