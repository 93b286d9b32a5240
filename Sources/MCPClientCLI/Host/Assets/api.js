// The connection to the program: requests with the token, and one stream of events.

// The token comes after the #, so that no server and no log sees it. It survives a reload.
const query = new URLSearchParams(location.search), token = location.hash.slice(1);
if (token) {
  sessionStorage.clear();
  sessionStorage.token = token;
}
if (token || location.search) history.replaceState(null, "", "/");
// A browser does not load a page again when only that part of its address is another one.
addEventListener("hashchange", () => location.hash.slice(1) && location.reload());
const headers = { Authorization: `Bearer ${sessionStorage.token}` };

/** The tool that the address names. Only an address with the key, which no other page knows, calls it at once. */
export const link = query.get("tool") && { ...Object.fromEntries(query), call: query.get("call") === "true" && !!token };

/** Sends a request; `body` is a value, or JSON as text. */
export async function api(method, path, body = {}) {
  const answer = await fetch(`/api/${path}`, {
    method, headers: { ...headers, "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  }).catch(() => { throw new Error("The program does not respond. It may have done nothing; check that it runs.") });
  if (answer.status === 204) return null;
  const json = await answer.json().catch(() => ({}));
  if (answer.ok) return json;
  throw Object.assign(new Error(json.error ?? `The program responded with ${answer.status}.`), { ...json, status: answer.status });
}

export const pause = ms => new Promise(done => setTimeout(done, ms));

/** Reads events for the lifetime of the page; after an interruption it resumes where it left off. */
export async function follow(handle, tell) {
  let last, wait = 250;
  watch(tell);
  for (;;) {
    try {
      const answer = await fetch("/api/events", { cache: "no-store", headers: last ? { ...headers, "Last-Event-ID": last } : headers });
      // A key that was valid before, or came from a page before this one, is that of an earlier run.
      if (answer.status === 401) return tell(ended = last || !token && sessionStorage.token ? "restarted" : "denied");
      tell(state = "yes");
      wait = 250;
      for await (const block of blocks(answer.body)) {
        const [, id, data] = /^id: (.*?)\ndata: (.*)$/s.exec(block) ?? [];
        if (!id) continue;
        last = id;
        const event = JSON.parse(data);
        if (event.type === "replaced") return tell(ended = "replaced");
        handle(event);
      }
    } catch (error) {
      console.warn(error);
    }
    tell(state = "no");
    await pause(wait);
    wait = Math.min(wait * 2, 4000);
  }
}

// A program that hangs keeps its connections: the page asks now and then whether it responds.
let state = "no", ended;
async function watch(tell) {
  while (!ended) {
    await pause(5000);
    if (state === "no" || document.hidden) continue;
    const isThere = await fetch("/api/alive", { headers, signal: AbortSignal.timeout(5000) }).then(() => true, () => false);
    if (!ended && state !== "no") tell(isThere ? "yes" : "silent");
  }
}

async function* blocks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", seen = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    // Text that was searched is not searched again: one event may be megabytes long.
    for (let end; (end = text.indexOf("\n\n", Math.max(0, seen - 1))) >= 0; seen = 0) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
    seen = text.length;
  }
}
