// Passes messages between the frames of views and the program; only the program knows what they mean.
import { api, pause } from "./api.js";
import { calmly, clock } from "./dom.js";

const views = new Map(), all = () => [...views.values()];
// Counts messages whose frames were removed, and show no origin.
const strays = { since: 0, count: 0 };
// What a frame may send in one second: that many messages and characters are passed on, and one that sends
// far more is removed, before it can block the page.
const maxMessages = 450, hardMessages = 2000, hardSize = 64 << 20;
let page, limit;

export function begin(hello) {
  ({ page, limit } = hello);
  for (const id of views.keys()) close(id);
}

/** Adds a frame of the page. It must not be moved within the document: that would load it again. */
export function open({ id, origin }, frame) {
  close(id);
  const view = { id, origin, frame, queue: [], waiting: 0, seq: 0, loads: 0, since: 0, count: 0, size: 0 };
  views.set(id, view);
  frame.onload = () => ++view.loads > 1 && tell(view, "lost");
  view.observer = new ResizeObserver(() => tellRoom(view));
  view.observer.observe(frame.parentElement);
}

export function close(id) {
  views.get(id)?.observer.disconnect();
  // What it has posted still arrives.
  if (views.delete(id)) Object.assign(strays, { since: clock() + 4000, count: -Infinity });
}

/** Removes the frame of a view that harms the page; the user can load it again. */
export function stop(frame, reason) {
  const view = all().find(one => one.frame === frame);
  if (!view) return;
  close(view.id);
  frame.remove();
  tell(view, "stopped", { reason });
}

const tell = (view, what, body) => api("POST", `views/${view.id}/${what}`, body).catch(() => {});

export function send({ id, message }) {
  const view = views.get(id);
  view?.frame.contentWindow?.postMessage(message, view.origin);
}

export function resize({ id, height }) {
  if (height == null) return;
  calmly(`height of ${id}`, () => {
    const frame = views.get(id)?.frame;
    if (frame) frame.style.height = `${Math.ceil(height)}px`;
  });
}

/** Sets whether the page determines the height, as it does in every mode except inline. */
export function watch(id, isFixed) {
  const view = views.get(id);
  if (view) tellRoom(Object.assign(view, { isFixed }));
}

function tellRoom(view) {
  const { clientWidth: width, clientHeight: height } = view.frame.parentElement;
  const room = JSON.stringify(view.isFixed ? { width, height } : { width, maxHeight: Math.round(innerHeight * 0.8) });
  // A question may leave no room for the view that asks it.
  if (!width || view.isFixed && !height || room === view.room) return;
  view.room = room;
  tell(view, "room", room);
}
onresize = () => views.forEach(tellRoom);

// MARK: From the frames

/** Returns the views that a message may be from: the one whose frame contains its window, else those of its origin. */
function owners({ source, origin }) {
  let frame = source;
  while (frame?.parent && frame.parent !== window && frame.parent !== frame) frame = frame.parent;
  const own = all().filter(view => view.frame.contentWindow === frame);
  // The frame may have been removed since, with its view where several views share a port.
  const isUnclear = strays.count < 0 && origin.includes("127.0.0.1");
  return own[0] || isUnclear ? own : all().filter(view => view.origin === origin);
}

/** Counts a message; returns whether there are too many. */
function floods(one, now) {
  if (now - one.since > 1000) Object.assign(one, { since: now, count: 0, size: 0 });
  return ++one.count > hardMessages;
}

addEventListener("message", event => {
  // What extensions of the browser say to the page is not for us.
  if (event.source === window) return;
  // Messages are counted before they are looked at: to read what was posted can take long.
  const now = clock(), from = owners(event), [view] = from;
  for (const one of from) if (floods(one, now)) stop(one.frame, "flood");
  // Nobody can tell whose strays are, and the page has to stay usable.
  if (!view && floods(strays, now)) for (const one of all()) stop(one.frame, "flood");
  if (!views.has(view?.id)) return;
  if (view.count > maxMessages || event.source !== view.frame.contentWindow || event.origin !== view.origin) return;
  const text = event.data;
  // The sandbox posts text; anything else is a view that pretends to be it.
  if (typeof text !== "string" || (view.size += text.length) > hardSize) return stop(view.frame, "flood");
  if (text === "pong") return answers(view);
  view.answered ??= now;
  const isReadable = text.length <= limit && text.isWellFormed();
  // If a view sends faster than the program reads, it loses the excess, so that the page does not run out of
  // memory.
  if (view.queue.length >= 2000 || view.waiting + text.length > 16 * limit) return;
  view.queue.push(isReadable ? text : "null");
  view.waiting += view.queue.at(-1).length;
  pump(view);
});

/** Sends one request at a time to keep the order; messages that arrive meanwhile go with the next one. */
async function pump(view) {
  if (view.isSending) return;
  view.isSending = true;
  while (view.queue.length && views.get(view.id) === view) {
    let count = 0, size = 0;
    while (count < view.queue.length && count < 100 && size < limit) size += view.queue[count++].length;
    try {
      await api("POST", `views/${view.id}/messages`, { page, seq: view.seq + 1, messages: view.queue.slice(0, count) });
      view.seq++;
    } catch (error) {
      // Without a response, the request may have arrived or not: the number tells the program which.
      if (!error.status) {
        await pause(500);
        continue;
      }
    }
    for (const text of view.queue.splice(0, count)) view.waiting -= text.length;
  }
  view.isSending = false;
}

// MARK: Signs of life

// The sandbox answers unless a script of the view never ends, or the view has removed its page.
function answers(view) {
  view.asked = null;
  if (view.isBusy) tell(view, "busy", { isBusy: view.isBusy = false });
}

setInterval(() => {
  if (document.hidden) return;
  const now = clock();
  for (const view of views.values()) {
    if (!view.answered) continue;
    if (view.asked && now - view.asked > 5000 && !view.isBusy) tell(view, "busy", { isBusy: view.isBusy = true });
    view.asked ??= now;
    view.frame.contentWindow?.postMessage("ping", view.origin);
  }
}, 1000);
