// Decisions that only the user makes, in the page of the host: at the view that asks, or above the calls.
import { api } from "./api.js";
import * as cards from "./cards.js";
import { attempt, byId, clock, fill, focused } from "./dom.js";
import { form, mark, unmark } from "./form.js";
import { covered } from "./guard.js";

const open = new Map();
// How long a question stays in sight, unmoved and unpressed, before it can be agreed to.
const pause = 700;

export const clear = () => open.forEach((_, id) => settled({ id }));

export function ask(question) {
  if (open.has(question.id)) return;
  const node = fill("question", question), fields = question.form && form(question.form);
  node.querySelector("slot").replaceWith(fields?.node ?? "");
  for (const kind of ["lines", "warnings"]) {
    node.querySelector(`.${kind}`).append(...(question[kind] ?? []).map(line => fill("line", { line })));
  }
  const buttons = question.answers.map((answer, i) => {
    const button = fill("answer", answer);
    button.onclick = attempt(async ({ timeStamp }) => {
      // A press that a busy browser delivers late was meant for what the screen showed before.
      if (i > 0 && (timeStamp < node.readyAt || !isMeant(node))) return refuse(node);
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
    const { key, target, timeStamp } = event, isEscape = key === "Escape";
    // Also one that is let go once the button accepts.
    const isEarly = timeStamp < node.readyAt && buttons.indexOf(target) > 0 && /^( |Enter)$/.test(key);
    if (isEarly) refuse(node);
    if (isEarly || event.repeat && (isEscape || target.tagName === "BUTTON")) event.preventDefault();
    if (!isEscape) return;
    event.stopPropagation();
    // A held key leads on to the next question.
    if (!event.repeat) buttons[0].click();
  };
  // A button that waits lets the press through.
  node.onpointerdown = ({ target }) =>
    target.closest("button, input, select, textarea, summary") || (target.matches(".answers") ? refuse : disarm)(node);
  // Who comes by the keyboard has all of it in sight.
  node.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && node.scrollIntoView({ block: "nearest" }));
  open.set(question.id, Object.assign(node, { question, buttons, read: new Set(), seen: new Set() }));
  (cards.questionsOf(question.view) ?? byId("questions")).append(node);
  isMeant(node);
  count();
}

/** Puts the questions of a view into its new frame. */
export function move(view) {
  for (const node of open.values()) if (node.question.view === view) cards.questionsOf(view)?.append(node);
}

export function settled({ id }) {
  const node = open.get(id);
  if (!node) return;
  open.delete(id);
  const hadFocus = node.contains(focused());
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
  const all = [...open.values()], at = all.findIndex(node => node.contains(focused()));
  const node = all[(at + 1) % all.length];
  if (!node) return;
  byId("show-calls").checked = true;
  const whole = cards.whole();
  if (whole && !whole.contains(node)) whole.querySelector(".leave").click();
  node.scrollIntoView({ block: "center" });
  node.querySelector("h2").focus({ preventScroll: true });
};

// What the page scrolls to stands below the questions that stay in sight.
new ResizeObserver(([{ target }]) => target.parentElement.style.setProperty("--questions", `${target.offsetHeight + 16}px`))
  .observe(byId("questions"));

// MARK: Consent

// The first answer does nothing and is always there. The others wait until all of the question has been in sight for
// a moment, so that nothing that was meant for something else agrees: the second half of a double click, a press
// where the view was a moment ago, a page that moves under the pointer.
function disarm(node) {
  node.since = shown;
  node.readyAt = Infinity;
  arm(node, true);
}

// How long the screen has shown the page while a question in sight waited. What a view draws can hold up the picture for
// seconds while clocks go on, so each frame counts for a moment at most, however late it is.
let shown = 0, framedAt, isPaced, beat = 0;
function frame() {
  const now = clock();
  if (isPaced) shown += Math.min(now - framedAt, 50);
  framedAt = now;
  isPaced = false;
  for (const node of open.values()) {
    if (node.readyAt < Infinity || !node.place.isSeen && !isEnlarged()) continue;
    // Nobody sees this change; a frame that changes nothing would not wait for the screen.
    node.style.outline = `1px solid #0000000${1 + (++beat & 1)}`;
    isPaced = true;
  }
  if (isPaced) requestAnimationFrame(frame);
}

// They can be reached meanwhile, and say that they wait: a button that is disabled cannot.
function arm(node, waits = null) {
  for (const button of node.buttons.slice(1)) button.ariaDisabled = waits;
}

// Tells those who press an answer too early why it waits: each press restarts the wait.
function refuse(node) {
  disarm(node);
  node.refusedAt = clock();
}

function place(node) {
  const { top, left } = boxOf(node.buttons[0]), { offsetTop, offsetLeft, scale } = visualViewport;
  // A bar that the browser shows above the page, at the wish of a view, moves all of it.
  const bars = outerHeight - innerHeight;
  const now = { top: (top - offsetTop) * scale + bars, left: (left - offsetLeft) * scale };
  if (isMoved(node.place, now)) node.movedAt = shown;
  // What is long says so, whether it is in sight or not.
  const isThrough = isRead(node), isAll = isWhole(node) && isThrough, cover = covered();
  const early = clock() - node.refusedAt < 4000 && (isAll ? "early" : "unseen");
  node.dataset.why = cover || !isAll && isEnlarged() && "part" || early || "";
  return { ...now, isSeen: !cover && isAll && document.visibilityState === "visible" };
}

/** Whether all of a question is in sight: the page may have been scrolled by a view, and another part may cover it. */
function isWhole(node) {
  // Where the window has no room for a line of it, nothing of it is in sight, even if it was read before.
  if (node.querySelector(".words").clientHeight < 16) return false;
  const { left, top, width, bottom } = boxOf(node);
  const isOwn = (x, y) => {
    const at = document.elementFromPoint(x, y);
    // A scroll bar of the box of all questions may lie over the edge.
    return node.contains(at) || at === node.parentElement;
  };
  // Enlarged by two fingers, the window shows one part after another: those that it showed at rest add up.
  const isAtRest = !isEnlarged() || shown - node.movedAt >= pause;
  if (Math.abs(node.width - width) > 1) node.seen.clear();
  node.width = width;
  const columns = columnsOf(width);
  let isCovered = false, count = 0;
  for (let y = top + 6; y < bottom + 14; y += 20) {
    for (let i = 0; i <= columns; i++, count++) {
      const x = left + 6 + (width - 12) * i / columns, line = Math.min(y, bottom - 6);
      if (!isOwn(x, line)) isCovered = true;
      else if (isAtRest && isShown(x, line)) node.seen.add(count);
    }
  }
  return !isCovered && node.seen.size >= count && node.buttons.every(one => {
    const box = boxOf(one);
    return isOwn(box.left + box.width / 2, box.top + box.height / 2);
  });
}

// An enlarged window may be narrower than a part of the question, and must not skip what is between two points of it.
const columnsOf = width => Math.max(4, Math.ceil(width / 64));

const isEnlarged = () => visualViewport.scale > 1.01;

/** Whether the window, which may be enlarged, shows a point of the page. */
function isShown(x, y) {
  const { offsetLeft, offsetTop, width, height } = visualViewport, across = x - offsetLeft, down = y - offsetTop;
  return across >= 0 && across <= width && down >= 0 && down <= height;
}

/** Whether an enlarged window has shown all of the text of a box that scrolls, each part of it for a moment. */
function hasShown(box) {
  const { left, top, bottom, width } = boxOf(box), height = box.scrollHeight;
  if (box.shown?.width !== width || box.shown.height !== height) box.shown = { width, height, since: new Map(), seen: new Set() };
  const { since, seen } = box.shown, columns = columnsOf(width), rows = Math.floor((height - 8) / 8), start = top - box.scrollTop;
  const inSight = new Set();
  for (let row = Math.max(0, Math.ceil((top - start - 4) / 8)); row <= rows && start + 4 + row * 8 <= bottom; row++) {
    for (let i = 0; i <= columns; i++) {
      const cell = row * (columns + 1) + i, x = left + 6 + (width - 12) * i / columns, y = start + 4 + row * 8;
      if (isShown(x, y) && box.contains(document.elementFromPoint(x, y))) inSight.add(cell);
    }
  }
  for (const cell of since.keys()) if (!inSight.has(cell)) since.delete(cell);
  for (const cell of inSight) {
    if (!since.has(cell)) since.set(cell, shown);
    else if (shown - since.get(cell) >= pause) seen.add(cell);
  }
  return seen.size === (rows + 1) * (columns + 1);
}

// What is longer than its box says so, and has to have been scrolled to its end: consent is for all of it. No view
// can scroll these boxes. An enlarged window that shows a part of a box has to have shown each part of its text.
function isRead(node) {
  for (const box of node.querySelectorAll(".words, .words > h2, .topic")) {
    const rest = box.scrollHeight - box.clientHeight, extent = box.nextElementSibling;
    extent.hidden = rest <= 2;
    if (extent.hidden) continue;
    if (box.tabIndex) box.tabIndex = 0;
    const left = rest - box.scrollTop, lines = Math.ceil(left / parseFloat(getComputedStyle(box).lineHeight));
    // The line stays: nothing moves.
    const text = left > 2 ? `${lines} more line${lines === 1 ? "" : "s"}: scroll to the end` : "\u00a0";
    if (extent.textContent !== text) extent.textContent = text;
    const { x, top, right, bottom } = boxOf(box);
    const isPartly = isEnlarged() && !(isShown(x + 4, top) && isShown(right - 4, bottom));
    if (isPartly ? hasShown(box) : left <= 2) node.read.add(box);
  }
  return [...node.querySelectorAll(".extent:not([hidden])")].every(one => node.read.has(one.previousElementSibling));
}

const boxOf = node => node.getBoundingClientRect();
const isMoved = (a, b) => !a || Math.abs(a.top - b.top) > 2 || Math.abs(a.left - b.left) > 2;

/** Looks at a question, and returns whether it can be agreed to now. */
function isMeant(node) {
  const now = place(node);
  if (!now.isSeen || isMoved(node.place, now)) disarm(node);
  node.place = now;
  if (!isPaced) frame();
  return shown - node.since >= pause;
}

setInterval(() => {
  for (const node of open.values()) {
    if (!isMeant(node)) continue;
    arm(node);
    node.readyAt = Math.min(node.readyAt, clock());
    node.refusedAt = -Infinity;
  }
}, 100);
