// The connection to the program: requests with the token, and one stream of events.

// The token comes after the #, so that no server and no log sees it. It survives a reload.
if (location.hash) {
  sessionStorage.token = location.hash.slice(1);
  history.replaceState(null, "", "/");
}
const headers = { Authorization: `Bearer ${sessionStorage.token}` };

/** Sends a request; `body` is a value, or JSON as text. */
export async function api(method, path, body = {}) {
  const answer = await fetch(`/api/${path}`, {
    method, headers: { ...headers, "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  if (answer.status === 204) return null;
  const json = await answer.json().catch(() => ({}));
  if (answer.ok) return json;
  throw Object.assign(new Error(json.error ?? `The program responded with ${answer.status}.`), { status: answer.status });
}

export const pause = ms => new Promise(done => setTimeout(done, ms));

/** Reads events for the lifetime of the page; after an interruption it resumes where it left off. */
export async function follow(handle, tell) {
  let last, wait = 250;
  for (;;) {
    try {
      const answer = await fetch("/api/events", { headers: last ? { ...headers, "Last-Event-ID": last } : headers });
      if (answer.status === 401) return tell("denied");
      tell("yes");
      wait = 250;
      for await (const block of blocks(answer.body)) {
        const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (!id) continue;
        last = id;
        const event = JSON.parse(data);
        if (event.type === "replaced") return tell("replaced");
        handle(event);
      }
    } catch (error) {
      console.warn(error);
    }
    tell("no");
    await pause(wait);
    wait = Math.min(wait * 2, 4000);
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
