// Keeps the keyboard where the user put it. A frame can take the focus at any time, and with it everything
// that is typed; the page cannot prevent that, but it notices and takes the focus back.
import { stop } from "./relay.js";

const isFrame = node => node?.tagName === "IFRAME";
const maxThefts = 6, maxWhileTyping = 2, maxOfAll = 12;
let thefts = [];
// Where the user put the focus; the frame under the pointer; whether Tab is on its way.
let held = document.body, pointed = null, isTabbing = false, typedAt = -Infinity;
// When a frame last took the focus: what it asked for before may act for a moment after, in a browser that keeps
// frames in processes of their own.
let robbedAt = -Infinity;
// Whether a view may have a list, a calendar or the like of one of its fields open, which the page does not see: the
// view has had the keyboard. A press in the page closes them; who gets out of the view by Tab has closed them.
let mayCover = false;
const wasRobbed = () => performance.now() - robbedAt < 2000;

// Over each frame lies a shield that the pointer lifts by moving, before it can press. A key in the page puts
// it back. So a frame that has the focus without either was not given it by the user.
function point(room) {
  if (pointed?.parentElement === room) return;
  pointed?.parentElement?.classList.remove("open");
  pointed = room?.querySelector("iframe") ?? null;
  room?.classList.add("open");
}
for (const type of ["pointermove", "pointerdown"]) {
  addEventListener(type, event => {
    const { target } = event;
    point(target.closest?.(".room"));
    isTabbing = false;
    if (type === "pointermove") return;
    robbedAt = -Infinity;
    mayCover = false;
    if (isInFrame() && target.closest?.(".question")) {
      held = document.body;
      document.activeElement.blur();
    }
  }, true);
}
addEventListener("keydown", ({ key, timeStamp }) => {
  point(null);
  if (key.length === 1) typedAt = timeStamp;
  isTabbing = key === "Tab";
}, true);
addEventListener("focusin", ({ target }) => {
  if (isFrame(target)) return check();
  held = target;
  isTabbing = false;
  if (!wasRobbed()) mayCover = false;
}, true);
addEventListener("focusout", () => {
  // The user pressed beside all controls: nothing has the focus.
  setTimeout(() => {
    if (document.hasFocus() && document.activeElement === document.body && !wasRobbed()) held = document.body;
  });
});

const isActive = () => navigator.userActivation?.isActive ?? true;

function check(wasActive = isActive()) {
  const frame = document.activeElement;
  if (!isFrame(frame)) return;
  mayCover = true;
  // A press, in a frame too, activates the page; what has just been typed does not count as one.
  if (frame === held || isTabbing || frame === pointed && wasActive) {
    held = frame;
    isTabbing = false;
    return;
  }
  frame.blur();
  giveBack();
  mayCover = true;
  const time = robbedAt = performance.now();
  thefts = thefts.filter(one => time - one.time < 10000);
  thefts.push({ frame, time, isTyping: time - typedAt < 1500 });
  const own = thefts.filter(one => one.frame === frame);
  if (own.length >= maxThefts || own.filter(one => one.isTyping).length >= maxWhileTyping || thefts.length >= maxOfAll) {
    stop(frame, "keyboard");
  }
}

const isInFrame = () => isFrame(document.activeElement);

/** Whether something of a view may lie over the page, until the page is pressed. */
export const isCovered = () => mayCover || isInFrame();

function giveBack() {
  if (held.isConnected && held !== document.body) held.focus({ preventScroll: true });
  else window.focus();
}
// What a press opens, such as a calendar, uses up the activation at once.
addEventListener("blur", () => {
  const wasActive = isActive();
  setTimeout(() => check(wasActive));
});
// A frame that the keyboard has left does not get it back because the pointer still lies on it.
addEventListener("focus", () => mayCover && point(null));
// From one frame to another there is no event, nor when a frame is removed that has the focus.
setInterval(() => {
  if (isInFrame()) check();
  else if (wasRobbed() && held !== document.activeElement) giveBack();
}, 100);
