// The page: shows what the program sends, and reports what the user does. It knows nothing about MCP.
import { api, follow } from "./api.js";
import * as cards from "./cards.js";
import { attempt, byId, drop, empty, fill, notice, put } from "./dom.js";
import { form } from "./form.js";
import * as questions from "./questions.js";
import * as relay from "./relay.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
let chosen = {};

const handlers = {
  hello(hello) {
    for (const id of ["servers", "found", "tools", "messages", "lines", "entries"]) empty(byId(id));
    relay.begin(hello);
    cards.clear();
    questions.clear();
    fill(document.body, hello);
    byId("theme").value = localStorage.theme ?? hello.theme;
    tellContext();
    if (hello.probe) probe(hello.probe);
  },
  "server.state": server => put(byId("servers"), "server", server),
  "server.gone": ({ id }) => ["servers", "tools"].forEach(list => drop(byId(list), id)),
  "server.found": found => put(byId("found"), "found", found),
  tools(list) {
    const section = put(byId("tools"), "tools", list), place = section.lastElementChild;
    empty(place);
    for (const tool of list.tools) put(place, "tool", tool);
    mark();
  },
  "call.state": cards.show,
  "view.open": cards.openView,
  "view.msg": relay.send,
  "view.size": relay.resize,
  "view.mode": cards.mode,
  "view.note": cards.note,
  "view.close": cards.closeView,
  question: questions.ask,
  "question.closed": questions.settled,
  openLink({ url }) {
    open(url, "_blank", "noopener,noreferrer");
    notice(url, url);
  },
  download({ name, mimeType, data }) {
    fill("file", { name, href: `data:${mimeType};base64,${data}` }).click();
  },
  chat(item) {
    const row = put(byId("messages"), "said", item);
    row.lastElementChild.replaceChildren(...item.content.map(cards.content));
    row.scrollIntoView({ block: "nearest" });
  },
  "chat.delta"({ id, text }) {
    byId("messages").rows?.get(id)?.querySelector(".text")?.append(text);
  },
  log: line => put(byId("lines"), "log", line, true),
  history: entry => put(byId("entries"), "entry", entry, true),
};

follow(event => handlers[event.type]?.(event), online => fill(document.body, { online }));

// MARK: Tools

function mark() {
  const wanted = byId("filter").value.toLowerCase();
  for (const row of document.querySelectorAll(".pick")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    row.setAttribute("aria-pressed", row.data.server === chosen.server && row.data.tool === chosen.tool);
  }
}

/** Opens the form of a tool, with the given arguments or with its defaults. */
async function choose({ server, tool, arguments: given }) {
  const about = await api("POST", "form", { server, tool, arguments: given });
  chosen = { server, tool };
  const node = fill("compose", about), [body, raw] = node.querySelectorAll(".fields, .raw");
  let fields = form(about.form), isRaw = false;
  body.append(fields.node);
  // JSON is sent exactly as it was typed.
  const args = () => isRaw ? raw.value || "{}" : JSON.stringify(fields.read() ?? {});
  const request = () => (JSON.parse(args()), `{"server":${JSON.stringify(server)},"tool":${JSON.stringify(tool)},"arguments":${args()}}`);
  node.querySelector(".swap").onclick = attempt(async () => {
    if (isRaw) {
      fields = form((await api("POST", "form", request())).form);
      body.replaceChildren(fields.node);
    } else raw.value = JSON.stringify(fields.read() ?? {}, null, 2);
    isRaw = !isRaw;
    fill(node, { isRaw });
  });
  node.onsubmit = attempt(async () => {
    const text = request(), { violations } = await api("POST", "validate", text);
    node.querySelector(".wrong").replaceChildren(...violations.map(one => fill("wrong", one)));
    for (const one of node.querySelectorAll("[data-path]")) {
      one.classList.toggle("bad", violations.some(({ path }) => path && path === one.dataset.path));
    }
    if (!violations.length) await api("POST", "calls", text);
  });
  node.oninput = ({ target }) => target.classList.remove("bad");
  byId("compose").replaceChildren(node);
  byId("show-calls").checked = true;
  mark();
  node.scrollIntoView();
}

// MARK: User actions

// data-do="DELETE views/{id}": sends a request about the row. data-use: opens the form of its tool again.
onclick = attempt(async ({ target }) => {
  const button = target.closest("button"), row = target.closest("[data-row]")?.data;
  const { do: action, body, use } = button?.dataset ?? {};
  if (use) await choose(row);
  if (!action) return;
  const [method, path] = action.split(" ");
  await api(method, path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(row[name])), body);
});

// data-send: sends the fields of a form as one request.
for (const node of document.querySelectorAll("form[data-send]")) {
  node.onsubmit = attempt(async () => {
    await api("POST", node.dataset.send, Object.fromEntries(new FormData(node)));
    node.reset();
  });
}
byId("filter").oninput = mark;
byId("text").onkeydown = event => {
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  event.target.form.requestSubmit();
};

// MARK: Context

/** Sends the context. The page's own colours follow the choice automatically. */
function tellContext() {
  const theme = byId("theme").value;
  api("POST", "context", {
    theme: theme === "dark" || theme === "auto" && dark.matches ? "dark" : "light",
    locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    touch: matchMedia("(any-pointer: coarse)").matches, hover: matchMedia("(any-hover: hover)").matches,
  }).catch(() => {});
}
dark.onchange = tellContext;
byId("theme").onchange = () => {
  localStorage.theme = byId("theme").value;
  tellContext();
};

/** Checks whether names below localhost lead here. If not, views use ports, which the page must allow. */
function probe(src) {
  const frame = fill("probe", { src });
  const end = async isThere => {
    removeEventListener("message", hear);
    clearTimeout(timer);
    frame.remove();
    if (isThere) return;
    await api("POST", "ports");
    location.reload();
  };
  const hear = ({ source, data }) => source === frame.contentWindow && data === "probe" && end(true);
  const timer = setTimeout(end, 2000);
  addEventListener("message", hear);
  document.body.append(frame);
}
