// The page: shows what the program sends, and reports what the user does. It knows nothing about MCP.
import { api, follow, link } from "./api.js";
import * as cards from "./cards.js";
import { attempt, byId, drawn, drop, empty, fill, focused, notice, parse, put } from "./dom.js";
import { form, mark, unmark } from "./form.js";
import "./guard.js";
import * as questions from "./questions.js";
import * as relay from "./relay.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
// What was typed into the form of a tool outlives a reload, unless it may be secret.
let draft = () => sessionStorage.draft ?? null;
let chosen = {}, awaited = link || JSON.parse(draft()), choices = 0;
onpagehide = () => sessionStorage.draft = draft();
// A server may need a while to connect. What comes after the notice is not called: nobody waits for it any more. A form
// that was kept waits until another one is chosen.
setTimeout(() => {
  if (!awaited) return;
  const { tool, server } = awaited, isKept = awaited !== link;
  // A character that nobody sees stands as in the address.
  notice((isKept ? `The form of ${tool} opens when its server offers it.` : `There is no ${tool} of ${server || "any server"}.`)
    .replace(/[\p{C}\p{DI}]/gu, encodeURIComponent));
  if (!isKept) awaited = null;
}, 8000);

const handlers = {
  hello(hello) {
    for (const id of ["servers", "found", "messages", "lines", "entries"]) empty(byId(id));
    relay.begin(hello);
    cards.clear();
    questions.clear();
    fill(document.body, hello);
    byId("theme").value = hello.theme;
    tellContext();
    if (hello.probe) probe(hello.probe);
  },
  "server.state"(server) {
    const isNew = !byId("servers").rows?.has(server.id);
    put(byId("servers"), "server", server);
    const { rows } = byId("servers");
    // Many servers with all their tools would be too long a list.
    if (!isNew || rows.size <= 4) return;
    for (const row of rows.values()) if (row.data.isFolded === undefined) foldServer(row, true);
  },
  "server.gone": ({ id }) => drop(byId("servers"), id),
  "server.found": found => put(byId("found"), "found", found),
  tools(list) {
    const row = byId("servers").rows?.get(list.id);
    if (!row) return;
    const one = focused(), hadFocus = row.querySelector(".tools").contains(one);
    row.tools = list.tools;
    filter();
    if (hadFocus) (one.isConnected ? one : row.querySelector(".fold")).focus({ preventScroll: true });
    openLink(list);
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
    notice("If no tab has opened:", url);
  },
  download({ name, mimeType, data }) {
    const bytes = Uint8Array.from(atob(data), one => one.charCodeAt(0));
    const href = URL.createObjectURL(new Blob([bytes], { type: mimeType }));
    fill("file", { name, href }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
  },
  chat(item) {
    const row = put(byId("messages"), "said", item);
    row.lastElementChild.replaceChildren(...item.content.map(cards.content));
    // A view may report its state all the time, and nobody has to see that at once.
    if (item.author !== "context") row.scrollIntoView({ block: "nearest" });
  },
  "chat.delta"({ id, text }) {
    const shown = byId("messages").rows?.get(id)?.querySelector(".text");
    // One node: thousands of them would make the page slow.
    if (shown) shown.firstChild.data = drawn(shown.data.text += text);
  },
  turn({ isTalking }) {
    if (!isTalking && focused() === byId("stop")) byId("text").focus();
    fill(document.body, { isTalking });
  },
  log: line => put(byId("lines"), "log", line, true),
  history(entry) {
    const list = byId("entries"), before = list.firstElementChild?.data;
    const row = put(list, "entry", { ...entry, isOver: true }, true);
    // A view that calls a tool every second has one entry, until something else is called.
    if (entry.isByView && before?.isByView) {
      cards.fold(list, row, entry.tool, other => other.id === before.id && other.server === entry.server);
    }
  },
};

follow(event => handlers[event.type]?.(event), online => {
  const isOver = !!byId(`t-${online}`);
  if (isOver) byId("cover").replaceChildren(fill(online));
  fill(document.body, { online, isOver });
  for (const node of document.querySelectorAll("body > :is(header, nav, aside, main)")) node.inert = isOver;
});

// MARK: Tools

/** Shows the first of these tools, and returns how many are left. Rows that stay are the same ones: the user may be about to press one. */
function putTools(place, tools) {
  const shown = tools.slice(0, 500), ids = new Set(shown.map(one => one.id));
  for (const id of [...place.rows?.keys() ?? []]) if (!ids.has(id)) drop(place, id);
  let next = place.firstElementChild;
  for (const tool of shown) {
    const row = put(place, "tool", tool);
    if (row === next) next = next.nextElementSibling;
    else place.insertBefore(row, next);
  }
  return tools.length - shown.length;
}

const foldServer = (row, isFolded) => fill(row, { isFolded, expanded: `${!isFolded}` });

/** Shows the tools that were looked for, among all that each server has. */
function filter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  for (const row of byId("servers").children) {
    const fits = one => [one.title, one.name, one.description, one.badge].join("\n").toLowerCase().includes(wanted);
    const found = (row.tools ?? []).filter(fits), ofViews = found.filter(one => one.isForViews), count = ofViews.length;
    const [own, others] = row.querySelectorAll(".own, .of-views > div");
    const left = putTools(own, found.filter(one => !one.isForViews)) + putTools(others, ofViews);
    fill(row, { ofViews: count, left });
    row.hidden = wanted && !found.length;
    row.classList.toggle("searched", !!wanted);
    if (wanted && count) others.parentElement.open = true;
  }
  for (const row of document.querySelectorAll(".pick")) {
    row.ariaPressed = row.data.server === chosen.server && row.data.tool === chosen.tool;
  }
}

/** Follows the address of the page, ?server=…&tool=…&call=true, once. */
function openLink({ id, name, tools }) {
  if (!awaited || (awaited.id ?? id) !== id || (awaited.server || name) !== name || !tools.some(one => one.tool === awaited.tool)) return;
  const { tool, call, arguments: text, raw } = awaited;
  attempt(async () => {
    const node = await choose({ server: id, tool, arguments: text && parse(text, "arguments"), raw }, true);
    if (call) node?.requestSubmit();
  })();
}

/** Opens the form of a tool, with the given arguments, as a form or as JSON, or with its defaults: the last one that was chosen. */
async function choose({ server, tool, arguments: given, raw: json }, isLinked) {
  awaited = null;
  const choice = ++choices, about = await api("POST", "form", { server, tool, arguments: given });
  if (choice !== choices) return;
  const secrets = RegExp(about.form.secrets);
  chosen = { server: about.server, tool };
  let fields = form(about.form), isRaw = !!json;
  const node = fill("compose", { ...about, isRaw, isEmpty: about.form.isEmpty && !isRaw }), [body, raw] = node.querySelectorAll(".fields, .raw");
  raw.value = json ?? "";
  body.append(fields.node);
  // JSON is sent exactly as it was typed.
  const args = () => isRaw ? raw.value || "{}" : JSON.stringify(fields.read() ?? {});
  const head = JSON.stringify({ server, tool, client: about.client }).slice(0, -1);
  const request = () => (JSON.parse(args()), `${head},"arguments":${args()}}`);
  draft = () => JSON.stringify({
    id: about.server, tool,
    ...isRaw ? { raw: secrets.test(raw.value) ? undefined : raw.value } : { arguments: JSON.stringify(fields.read(secrets)) },
  });
  node.querySelector(".swap").onclick = attempt(async () => {
    const made = await api("POST", "form", request());
    if (isRaw) body.replaceChildren((fields = form(made.form)).node);
    else raw.value = made.text;
    isRaw = !isRaw;
    fill(node, { isRaw, isEmpty: about.form.isEmpty && !isRaw });
    if (isRaw) raw.focus();
  });
  node.onsubmit = attempt(async () => {
    const text = request(), { violations } = await api("POST", "validate", text);
    node.querySelector(".wrong ul").replaceChildren(...violations.map(one => fill("wrong", one)));
    const first = mark(node, violations);
    if (violations.length) return cards.isElsewhere() || (isRaw ? raw : first)?.focus();
    const { id } = await api("POST", "calls", text);
    cards.reveal(id);
  });
  node.oninput = ({ target }) => unmark(target);
  // In a field of several lines, Enter begins the next one.
  node.onkeydown = ({ key, ctrlKey, metaKey }) => { if (key === "Enter" && (ctrlKey || metaKey)) node.requestSubmit() };
  byId("compose").replaceChildren(node);
  filter();
  // Who types elsewhere meanwhile goes on typing there, also in a part that a narrow window shows alone.
  if (!isLinked || focused() === document.body) {
    byId("show-calls").checked = true;
    node.scrollIntoView();
    // A finger would open a keyboard over what it wants to see.
    const first = !matchMedia("(pointer: coarse)").matches && body.querySelector("input, select, textarea:not(details *)");
    (first || node.querySelector("h2")).focus({ preventScroll: true });
  }
  return node;
}

// MARK: User actions

// data-do="DELETE views/{id}": sends a request about the row. data-use: opens the form of its tool again.
onclick = attempt(async ({ target }) => {
  const button = target.closest("button"), row = target.closest("[data-row]");
  const { do: action, body, use, fold } = button?.dataset ?? {};
  if (button?.id === "continue") location.reload();
  if (fold) foldServer(row, !row.data.isFolded);
  if (use) await choose(row.data);
  if (!action) return;
  const [method, path] = action.split(" ");
  const answer = await api(method, path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(row.data[name])), body);
  if (answer?.id) cards.reveal(answer.id);
});

addEventListener("keydown", ({ key }) => key === "Escape" && cards.whole()?.querySelector(".leave").click());

// data-send: sends the fields of a form as one request.
for (const node of document.querySelectorAll("form[data-send]")) {
  node.onsubmit = attempt(async () => {
    await api("POST", node.dataset.send, Object.fromEntries(new FormData(node)));
    node.reset();
  });
}
byId("filter").oninput = filter;
byId("text").onkeydown = event => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.target.form.requestSubmit();
};

// MARK: Context

/** Sends the context, with the user's choice of colours when it was just made. The page's own colours follow it. */
function tellContext(chosen) {
  const theme = byId("theme").value;
  api("POST", "context", {
    chosen,
    theme: theme === "dark" || theme === "auto" && dark.matches ? "dark" : "light",
    locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    touch: matchMedia("(any-pointer: coarse)").matches, hover: matchMedia("(any-hover: hover)").matches,
  }).catch(() => {});
}
dark.onchange = () => tellContext();
byId("theme").onchange = () => tellContext(byId("theme").value);

/** Checks whether names below localhost lead here. If not, views use ports, which the page must allow. */
function probe(src) {
  const frame = fill("probe", { src });
  const end = async isThere => {
    clearTimeout(timer);
    frame.remove();
    if (isThere) return;
    await api("POST", "ports");
    location.reload();
  };
  // A name that leads nowhere loads an error at once; a busy machine may take its time.
  let timer = setTimeout(end, 15000);
  frame.onload = () => {
    clearTimeout(timer);
    timer = setTimeout(end, 3000);
  };
  addEventListener("message", ({ source, data }) => source === frame.contentWindow && data === "probe" && end(true));
  document.body.append(frame);
}
