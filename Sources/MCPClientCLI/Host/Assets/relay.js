// Passes messages between the frames of views and the program; only the program knows what they mean.
import { api, pause } from "./api.js";

const views = new Map();
let page, limit;

export function begin(hello) {
  ({ page, limit } = hello);
  for (const id of views.keys()) close(id);
}

/** Adds a frame of the page. It must not be moved within the document: that would load it again. */
export function open({ id, origin }, frame) {
  close(id);
  const view = { id, origin, frame, queue: [], alone: 0, seq: 0, loads: 0 };
  views.set(id, view);
  frame.onload = () => ++view.loads > 1 && api("POST", `views/${id}/lost`);
  view.observer = new ResizeObserver(() => tellRoom(view));
  view.observer.observe(frame.parentElement);
}

export function close(id) {
  views.get(id)?.observer.disconnect();
  views.delete(id);
}

export function send({ id, message }) {
  const view = views.get(id);
  view?.frame.contentWindow?.postMessage(message, view.origin);
}

export function resize({ id, height }) {
  const frame = views.get(id)?.frame;
  if (frame && height != null) frame.style.height = `${Math.ceil(height)}px`;
}

/** Sets whether the page determines the height, as it does in every mode except inline. */
export function watch(id, isFixed) {
  const view = views.get(id);
  if (view) tellRoom(Object.assign(view, { isFixed }));
}

function tellRoom(view) {
  const { clientWidth: width, clientHeight: height } = view.frame.parentElement;
  const room = JSON.stringify(view.isFixed ? { width, height } : { width, maxHeight: Math.round(innerHeight * 0.8) });
  if (!width || room === view.room) return;
  view.room = room;
  api("POST", `views/${view.id}/room`, room).catch(() => {});
}
onresize = () => views.forEach(tellRoom);

addEventListener("message", ({ source, origin, data }) => {
  const view = [...views.values()].find(one => source === one.frame.contentWindow && origin === one.origin);
  if (!view) return;
  // Anything that is not JSON is sent as null, so that it is counted.
  let text = "null";
  try { text = JSON.stringify(data) ?? text } catch {}
  if (text.length > limit) text = JSON.stringify({ oversize: text.length, id: data.id });
  // If a view sends faster than the program reads, it loses the excess, so that the page does not run out of
  // memory.
  const size = view.queue.reduce((sum, one) => sum + one.length, text.length);
  if (view.queue.length < 2000 && size < 16 * limit) view.queue.push(text);
  pump(view);
});

/** Sends one request at a time to keep the order; messages that arrive meanwhile go with the next one. */
async function pump(view) {
  if (view.isSending) return;
  view.isSending = true;
  while (view.queue.length && views.get(view.id) === view) {
    let count = 0, size = 0;
    while (count < view.queue.length && count < (view.alone > 0 ? 1 : 100) && size < limit) size += view.queue[count++].length;
    const messages = view.queue.slice(0, count).join();
    try {
      await api("POST", `views/${view.id}/messages`, `{"page":"${page}","seq":${view.seq + 1},"messages":[${messages}]}`);
      view.seq++;
    } catch (error) {
      // Without a response, the request may have arrived or not: the number tells the program which.
      if (!error.status) {
        await pause(500);
        continue;
      }
      // The program cannot read one of the messages. Each is sent alone, and the unreadable one as its id,
      // which gets a response, or as null.
      if (error.status === 400 && view.queue[0] !== "null") {
        const { id, lost } = JSON.parse(view.queue[0]);
        if (count === 1) view.queue[0] = lost ? "null" : JSON.stringify({ lost: true, id });
        view.alone = Math.max(view.alone, count);
        continue;
      }
    }
    view.alone -= count;
    view.queue.splice(0, count);
  }
  view.isSending = false;
}
