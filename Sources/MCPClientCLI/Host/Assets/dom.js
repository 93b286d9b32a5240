// Templates of the page, filled with data. Text is always text: nothing here parses HTML.
export const byId = id => document.getElementById(id);

export const clock = () => performance.now();
export const focused = () => document.activeElement;

// Letters of scripts that a browser takes long to shape, and what joins them; what changes the direction.
const shaped = /[\xa0\u0530-\u2e7f\ua000-\uabff\ud7a4-\ufeff\u{10000}-\u{10ffff}]/gu;
const turns = /[\u202a-\u202e\u2066-\u2069\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+/gu;

// A text in a form that a browser draws at once. It takes minutes for long rows of marks, for long words of shaped
// letters, and for thousands of changes of direction: these are escapes then. Other texts stay as they are.
export function drawn(text) {
  const shown = `${text}`.replace(/[\p{M}\p{DI}\p{EMod}]{9,}/gu, row => `⟨${[...row].length} marks⟩`)
    .replace(/[^\t\n\r ]{250,}/gu, word => word.match(shaped)?.length > word.length / 4 ? word.replace(/.{250}/gu, "$&\n") : word);
  const escaped = run => [...run].map(one => `\\u{${one.codePointAt().toString(16)}}`).join("");
  return shown.match(turns)?.length > 3000 ? shown.replace(turns, escaped) : shown;
}

// Each string of JSON has a direction of its own, so that none of its letters moves those of another one.
const isolated = json => json.split(/("(?:[^"\\]|\\.)*")/)
  .map((part, i) => i % 2 && /[\u0590-\uffff]/.test(part) ? fill("isolated", { part }) : part);

/** Fills a new copy of a template, or an existing one again, with data: data-bind="text=name title=line". */
export function fill(node, data) {
  if (typeof node === "string") node = document.importNode(byId(`t-${node}`).content.firstElementChild, true);
  node.data = { ...node.data, ...data };
  for (const one of [node, ...node.querySelectorAll("[data-bind]")]) {
    // A row inside this one has data of its own.
    if (one.closest("[data-row]") !== node) continue;
    for (const pair of one.dataset.bind?.split(" ") ?? []) {
      const [name, from] = pair.split("=");
      const value = node.data[from] ?? "";
      if (name === "text") one.replaceChildren(drawn(value));
      else if (name === "json") one.replaceChildren(...isolated(drawn(value)));
      else if (name === "time") one.textContent = value && new Date(value).toLocaleString([], { dateStyle: "short", timeStyle: "medium" });
      else if (name === "if") one.hidden = !value;
      else if (name === "unless") one.hidden = !!value;
      else if (value === "" || value === false) one.removeAttribute(name);
      // Setting an address again would load it again.
      else if (one.getAttribute(name) !== String(value)) one.setAttribute(name, value);
    }
  }
  return node;
}

/** Returns the row with this id in a list: the existing one, filled again, or a new one at the end or top. */
export function put(list, template, data, atTop) {
  list.rows ??= new Map();
  const old = list.rows.get(data.id);
  const row = fill(old ?? template, data);
  if (!old) {
    list.rows.set(data.id, row);
    list[atTop ? "prepend" : "append"](row);
  }
  // A row with a frame stays: the frame is active.
  if (list.rows.size > 500) drop(list, [...list.rows.keys()].find(id => !list.rows.get(id).querySelector("iframe")));
  return row;
}

export function drop(list, id) {
  list.rows?.get(id)?.remove();
  list.rows?.delete(id);
}

export function empty(list) {
  list.rows?.clear();
  list.replaceChildren();
}

// While a question is open, what peers say changes the page at most once in this time: nobody can agree on a page
// that moves.
export const changes = new Map();
let isResting = false;

/** Changes the page at once or, while a question is open, after a rest; of changes of one kind, the last one. */
export function calmly(kind, change) {
  changes.set(kind, change);
  if (!isResting) applyChanges();
}

function applyChanges() {
  isResting = false;
  if (!changes.size) return;
  const all = [...changes.values()];
  changes.clear();
  for (const change of all) change();
  isResting = !!document.querySelector(".question");
  if (isResting) setTimeout(applyChanges, 2000);
}

/** Shows a notice for a moment. */
export function notice(text, href) {
  const row = fill("notice", { text, href });
  byId("notices").append(row);
  row.querySelector("button").onclick = () => row.remove();
  setTimeout(() => row.remove(), 12000);
}

/** Reads JSON; an error has the name of what was read. */
export function parse(text, name) {
  try { return JSON.parse(text) } catch (error) { throw new Error(`${name}: ${error.message}`) }
}

/** Performs an action of the user, and shows any error. */
export const attempt = action => async event => {
  if (event?.type === "submit") event.preventDefault();
  try {
    await action(event);
  } catch (error) {
    notice(error.message);
  }
};
