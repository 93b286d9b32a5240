// Templates of the page, filled with data. Text is always text: nothing here reads HTML.
export const byId = id => document.getElementById(id);

/** Puts data into a new copy of a template, or again into an earlier one: data-bind="text=name title=line". */
export function fill(node, data) {
  if (typeof node === "string") node = document.importNode(byId(`t-${node}`).content.firstElementChild, true);
  node.data = { ...node.data, ...data };
  for (const one of [node, ...node.querySelectorAll("[data-bind]")]) {
    // A row inside of this one has data of its own.
    if (one.closest("[data-row]") !== node) continue;
    for (const pair of one.dataset.bind?.split(" ") ?? []) {
      const [name, from] = pair.split("=");
      const value = node.data[from] ?? "";
      if (name === "text") one.textContent = value;
      else if (name === "time") one.textContent = value && new Date(value).toLocaleString([], { dateStyle: "short", timeStyle: "medium" });
      else if (name === "if") one.hidden = !value;
      else if (name === "unless") one.hidden = !!value;
      else if (value === "" || value === false) one.removeAttribute(name);
      // Set again, an address would be loaded again.
      else if (one.getAttribute(name) !== String(value)) one.setAttribute(name, value);
    }
  }
  return node;
}

/** The row of this id in a list: filled again, or new at its end or its top. */
export function put(list, template, data, atTop) {
  list.rows ??= new Map();
  const old = list.rows.get(data.id);
  const row = fill(old ?? template, data);
  if (!old) {
    list.rows.set(data.id, row);
    list[atTop ? "prepend" : "append"](row);
  }
  // A row with a frame stays: the frame is at work.
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

/** Says something for a moment. */
export function notice(text, href) {
  const row = fill("notice", { text: href ? "" : text, label: text, href });
  byId("notices").append(row);
  row.querySelector("button").onclick = () => row.remove();
  setTimeout(() => row.remove(), 12000);
}

/** Does what the user asked for; what goes wrong is said. */
export const attempt = action => async event => {
  if (event?.type === "submit") event.preventDefault();
  try {
    await action(event);
  } catch (error) {
    notice(error.message);
  }
};
