// Passes messages between the frames of views and the program, which alone knows what they mean.
import { api, pause } from "./api.js";

const views = new Map();
let page, limit;

export function begin(hello) {
  ({ page, limit } = hello);
  for (const id of views.keys()) close(id);
}

/** Takes a frame of the page. It must not be moved in the document: that would load it anew. */
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

/** In every mode but the one in the page, the height is the page's. */
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
  // What is no JSON goes as null, so that it is counted.
  let text = "null";
  try { text = JSON.stringify(data) ?? text } catch {}
  if (text.length > limit) text = JSON.stringify({ oversize: text.length, id: data.id });
  // A view that talks faster than the program listens loses what is too much, not the page its memory.
  const size = view.queue.reduce((sum, one) => sum + one.length, text.length);
  if (view.queue.length < 2000 && size < 16 * limit) view.queue.push(text);
  pump(view);
});

/** One request at a time keeps the order; what comes meanwhile goes with the next. */
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
      // Without an answer it may have arrived or not: the number tells the program.
      if (!error.status) {
        await pause(500);
        continue;
      }
      // The program cannot read one of them. Each goes alone, and of that one its id, which is answered, or null.
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
