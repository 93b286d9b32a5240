// Keeps the keyboard where the user put it. A frame can take the focus at any time, and with it everything
// that is typed; the page cannot prevent that, but it notices and takes the focus back.
import { clock, focused } from "./dom.js";
import { stop } from "./relay.js";

const isFrame = node => node?.tagName === "IFRAME";
const maxThefts = 6, maxWhileTyping = 2, maxOfAll = 12;
let thefts = [];
// Where the user put the focus; the frame under the pointer; whether Tab is on its way.
let held = document.body, pointed = null, isTabbing = false, typedAt = -Infinity;
// When a frame last took the focus: what it asked for before may act for a moment after, in a browser that keeps
// frames in processes of their own.
let robbedAt = -Infinity, isLeaving = false;
// Whether a view may have something over the page that the page does not see, because the pointer or the keyboard has
// been in a view: a list, a calendar or a colour dialog of one of its fields, a tooltip, a cursor. A press in the page
// closes them, and a key those that came by keys.
let mayCover = { pointer: false, keys: false };
// Until when the page is active because of a press or a key in it. What a view opens ends that at once.
let activeUntil = 0, isByKey = false;
// Whether the pointer was ever in a view, and when it or the keyboard was in one: what it pressed there may act for
// five seconds.
let wasPointed = false, visitedAt = -Infinity;
const wasRobbed = () => clock() - robbedAt < 2000;

// Over each frame lies a shield that the pointer lifts by moving, before it can press. A key in the page puts
// it back. So a frame that has the focus without either was not given it by the user.
function point(room) {
  if (room || pointed) visitedAt = clock();
  if (pointed?.parentElement === room) return;
  pointed?.parentElement?.classList.remove("open");
  pointed = room?.querySelector("iframe") ?? null;
  room?.classList.add("open");
}
for (const type of ["pointermove", "pointerdown", "pointerup"]) {
  addEventListener(type, event => {
    const { target } = event, room = target.closest?.(".room");
    point(room);
    if (room) wasPointed = mayCover.pointer = true;
    isTabbing = false;
    if (type === "pointermove") return;
    robbedAt = -Infinity;
    // Not where a press ends that began in a view.
    if (!room && type === "pointerdown") mayCover = { pointer: false, keys: false };
    // A finger activates the page by leaving it.
    if ((event.pointerType === "mouse") === (type === "pointerdown")) wasUsed(false);
    if (type === "pointerup") return;
    if (isInFrame() && target.closest?.(".question")) {
      held = document.body;
      focused().blur();
    }
  }, true);
}
addEventListener("keydown", ({ key, timeStamp, repeat }) => {
  point(null);
  if (!repeat) mayCover.keys = false;
  // A key makes the page active too, so that it would hide what a view opens.
  if (wasPointed && clock() - visitedAt < 5000) mayCover.pointer = true;
  if (!/^(Escape|Shift|Control|Alt|AltGraph|Meta|CapsLock|F\d+)$/.test(key)) wasUsed(true);
  if (key.length === 1) typedAt = timeStamp;
  isTabbing = key === "Tab";
}, true);
addEventListener("focusin", ({ target }) => {
  if (isFrame(target)) return check();
  held = target;
  isTabbing = false;
}, true);
addEventListener("focusout", () => {
  // The user pressed beside all controls: nothing has the focus.
  setTimeout(() => {
    const isNowhere = document.hasFocus() && focused() === document.body;
    if (isNowhere && !isLeaving && !wasRobbed()) held = document.body;
  });
});

const isActive = () => navigator.userActivation?.isActive ?? true;

// The page is active for five seconds.
function wasUsed(byKey) {
  isByKey = byKey;
  activeUntil = isActive() ? clock() + 4900 : 0;
}

function look() {
  if (!activeUntil || isActive()) return;
  if (clock() < activeUntil) mayCover[isByKey && !wasPointed ? "keys" : "pointer"] = true;
  activeUntil = 0;
}

function check(wasActive = isActive(), frame = focused()) {
  if (!isFrame(frame)) return;
  mayCover.keys = true;
  visitedAt = clock();
  // A press, in a frame too, activates the page; what has just been typed does not count as one.
  if (frame === held || isTabbing || frame === pointed && wasActive) {
    if (isInFrame()) held = frame;
    isTabbing = false;
    return;
  }
  frame.blur();
  giveBack();
  const time = robbedAt = clock();
  thefts = thefts.filter(one => time - one.time < 10000);
  thefts.push({ frame, time, isTyping: time - typedAt < 1500 });
  const own = thefts.filter(one => one.frame === frame);
  if (own.length >= maxThefts || own.filter(one => one.isTyping).length >= maxWhileTyping) stop(frame, "keyboard");
  else if (thefts.length >= maxOfAll) stopMost(frame);
}

/** Stops the views that took the keyboard most often; if none did so three times, the last one. */
function stopMost(last) {
  const all = Map.groupBy(thefts, one => one.frame), most = Math.max(...[...all.values()].map(own => own.length));
  for (const [frame, own] of all) {
    if (own.length === most && (most > 2 || frame === last)) stop(frame, "keyboard");
  }
}

const isInFrame = () => isFrame(focused());

/** Returns what the page waits for because something of a view may lie over it: a press, or a press or key. */
export function covered() {
  look();
  return mayCover.pointer ? "press" : mayCover.keys || isInFrame() ? "key" : "";
}

function giveBack() {
  if (held.isConnected && held !== document.body) held.focus({ preventScroll: true });
  else window.focus();
}
// What a press opens, such as a calendar, uses up the activation at once.
// A frame may have given the keyboard away again by then, though not to where it was.
addEventListener("blur", () => {
  const wasActive = isActive(), frame = focused();
  isLeaving = isFrame(frame);
  setTimeout(() => {
    isLeaving = false;
    check(wasActive, isInFrame() ? focused() : frame);
  });
});
// A frame that the keyboard has left does not get it back because the pointer still lies on it.
addEventListener("focus", () => mayCover.keys && point(null));
// From one frame to another there is no event, nor when a frame is removed that has the focus.
setInterval(() => {
  look();
  if (isInFrame()) check();
  else if (wasRobbed() && held !== focused()) giveBack();
}, 100);
