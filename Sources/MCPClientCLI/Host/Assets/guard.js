// Keeps the keyboard where the user put it. A frame can take the focus at any time, and with it everything
// that is typed; the page cannot prevent that, but it notices and takes the focus back.
import { stop } from "./relay.js";

const isFrame = node => node?.tagName === "IFRAME";
const maxThefts = 6, maxWhileTyping = 2, thefts = new WeakMap();
// Where the user put the focus; the frame under the pointer; whether Tab is on its way.
let held = document.body, pointed = null, isTabbing = false, typedAt = -Infinity;
// When a frame last took the focus: what it asked for before may act for a moment after, in a browser that keeps
// frames in processes of their own.
let robbedAt = -Infinity;
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
    const { target, movementX, movementY } = event, isPress = type === "pointerdown";
    point(target.closest?.(".room"));
    isTabbing = false;
    if (isPress) robbedAt = -Infinity;
    // Who points at a question takes the keyboard from the view that has it, which closes the lists of that view.
    if ((isPress || movementX || movementY) && isInFrame() && target.closest?.(".question")) {
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
}, true);
addEventListener("focusout", () => {
  // The user pressed beside all controls: nothing has the focus.
  setTimeout(() => {
    if (document.hasFocus() && document.activeElement === document.body && !wasRobbed()) held = document.body;
  });
});

function check() {
  const frame = document.activeElement;
  if (!isFrame(frame) || frame === held) return;
  // A press, in a frame too, activates the page; what has just been typed does not count as one.
  if (isTabbing || frame === pointed && (navigator.userActivation?.isActive ?? true)) {
    held = frame;
    isTabbing = false;
    return;
  }
  frame.blur();
  giveBack();
  const now = robbedAt = performance.now(), recent = (thefts.get(frame) ?? []).filter(({ time }) => now - time < 10000);
  recent.push({ time: now, isTyping: now - typedAt < 1500 });
  thefts.set(frame, recent);
  if (recent.length >= maxThefts || recent.filter(one => one.isTyping).length >= maxWhileTyping) stop(frame, "keyboard");
}

/** Whether a frame has the keyboard. */
export const isInFrame = () => isFrame(document.activeElement);

function giveBack() {
  if (held.isConnected && held !== document.body) held.focus({ preventScroll: true });
  else window.focus();
}
addEventListener("blur", () => setTimeout(check));
// From one frame to another there is no event, nor when a frame is removed that has the focus.
setInterval(() => {
  if (isInFrame()) check();
  else if (wasRobbed() && held !== document.activeElement) giveBack();
}, 100);
