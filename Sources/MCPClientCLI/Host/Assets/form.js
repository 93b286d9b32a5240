// A form as described by the program. read() returns undefined for what was left out; read(secrets) also for what may be
// secret: fields that the program marks, and JSON in which `secrets` is found.
import { drawn, fill, parse } from "./dom.js";

export function form(part) {
  const made = kinds[part.kind](part);
  made.node.dataset.path = part.path ?? "";
  return made;
}

function field(part, read, value = part.value) {
  const node = fill(`field-${part.kind}`, part);
  if (value !== undefined) node.value = value;
  if (part.needed) node.dataset.needed = "";
  return {
    node, read(secrets) {
      if (secrets && (part.isSecret || part.kind === "json" && secrets.test(node.value))) return;
      try { return read(node) } catch (error) { if (!secrets) throw error }
    },
  };
}

function labelled(part) {
  const made = form(part);
  const node = fill(part.folds ? "folded" : part.isGroup ? "group" : "field", part);
  node.querySelector("slot").replaceWith(made.node);
  const about = node.querySelector(".about");
  if (!part.isGroup && part.description) {
    about.id = `about-${++lastID}`;
    made.node.setAttribute("aria-describedby", about.id);
  }
  return { ...made, node };
}
let lastID = 0;

/** Marks the fields that violations name, and returns the first of them. */
export function mark(node, violations) {
  for (const old of node.querySelectorAll(".fault")) old.remove();
  for (const bad of node.querySelectorAll(".bad")) unmark(bad);
  let first;
  for (const one of node.querySelectorAll("[data-path]")) {
    const own = violations.filter(({ path }) => path && path === one.dataset.path);
    if (!own.length) continue;
    const isEmpty = one.value === "" && one.hasAttribute("data-needed");
    const fault = fill("fault", { text: isEmpty ? "This field is required." : own.map(({ message }) => message).join("; ") });
    fault.id = `fault-${++lastID}`;
    one.classList.add("bad");
    one.ariaInvalid = "true";
    one.about ??= one.getAttribute("aria-describedby") ?? "";
    one.setAttribute("aria-describedby", `${fault.id} ${one.about}`.trim());
    one.after(fault);
    for (let out = one.closest("details"); out; out = out.parentElement.closest("details")) out.open = true;
    first ??= one;
  }
  return first?.matches("input, select, textarea") ? first : first?.querySelector("input, select, textarea, button");
}

export function unmark(one) {
  if (!one.classList.contains("bad")) return;
  one.classList.remove("bad");
  one.ariaInvalid = null;
  one.setAttribute("aria-describedby", one.about);
}

const kinds = {
  fixed: part => field(part, () => part.value, null),
  check(part) {
    const made = field(part, node => node.checked, null);
    made.node.checked = part.value === true;
    return made;
  },
  number: part => field(part, node => {
    if (node.validity.badInput) throw new Error(`${part.path}: this is not a number`);
    return node.value === "" ? undefined : Number(node.value);
  }),
  line: part => field(part, node => node.value || (part.required ? "" : undefined)),
  choice(part) {
    const made = field(part, node => part.options[node.value]?.value, null);
    part.options.forEach((one, i) => made.node.append(new Option(drawn(one.label), i)));
    made.node.value = part.selected ?? "";
    return made;
  },
  json: part => field(part, node => node.value.trim() ? parse(node.value, part.path || "/") : undefined),
  list(part) {
    const node = fill("field-list", part), rows = new Set();
    const add = item => {
      const made = form(item), row = fill("field-item", {});
      row.prepend(made.node);
      made.node.ariaLabel = `${part.label ?? "List"}, item ${rows.size + 1}`;
      row.querySelector("button").onclick = () => rows.delete(made) && row.remove();
      rows.add(made);
      node.lastElementChild.before(row);
      return made;
    };
    part.items.forEach(add);
    node.lastElementChild.onclick = () => add(part.item).node.focus?.();
    return { node, read: secrets => rows.size || part.required ? [...rows].map(one => one.read(secrets)) : undefined };
  },
  object(part) {
    const node = fill(part.path ? "field-object" : "field-root", part);
    const members = part.members.map(one => [one.name, labelled(one)]), more = part.more && labelled(part.more);
    node.append(...members.map(([, one]) => one.node), more?.node ?? "");
    return {
      node, read(secrets) {
        const known = members.map(([name, one]) => [name, one.read(secrets)]).filter(([, value]) => value !== undefined);
        const all = { ...more?.read(secrets), ...Object.fromEntries(known) };
        return part.required || Object.keys(all).length ? all : undefined;
      },
    };
  },
  either(part) {
    const node = fill("field-either", part), select = node.querySelector("select");
    let made;
    const show = () => {
      made = part.variants[select.value] && form(part.variants[select.value]);
      node.lastElementChild.replaceChildren(made?.node ?? "");
    };
    part.variants.forEach((one, i) => select.append(new Option(drawn(one.label), i)));
    select.value = part.selected ?? "";
    select.onchange = show;
    show();
    return { node, read: secrets => made?.read(secrets) };
  },
};
kinds.text = kinds.line;
