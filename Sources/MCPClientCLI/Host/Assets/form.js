// A form as described by the program. read() returns undefined for what was left out.
import { fill } from "./dom.js";

export function form(part) {
  const made = kinds[part.kind](part);
  made.node.dataset.path = part.path ?? "";
  return made;
}

function field(part, read, value = part.value) {
  const node = fill(`field-${part.kind}`, part);
  if (value !== undefined) node.value = value;
  return { node, read: () => read(node) };
}

function labelled(part) {
  const made = form(part), node = fill(part.isGroup ? "group" : "field", part);
  node.querySelector("slot").replaceWith(made.node);
  return { ...made, node };
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
  text: part => kinds.line(part),
  choice(part) {
    const made = field(part, node => part.options[node.value]?.value, null);
    part.options.forEach((one, i) => made.node.append(new Option(one.label, i)));
    made.node.value = part.selected ?? "";
    return made;
  },
  json: part => field(part, node => {
    if (!node.value.trim()) return undefined;
    try { return JSON.parse(node.value) } catch (error) { throw new Error(`${part.path || "/"}: ${error.message}`) }
  }),
  list(part) {
    const node = fill("field-list", part), rows = new Set();
    const add = item => {
      const made = form(item), row = fill("field-item", {});
      row.prepend(made.node);
      row.querySelector("button").onclick = () => rows.delete(made) && row.remove();
      rows.add(made);
      node.lastElementChild.before(row);
    };
    part.items.forEach(add);
    node.lastElementChild.onclick = () => add(part.item);
    return { node, read: () => rows.size || part.required ? [...rows].map(one => one.read()) : undefined };
  },
  object(part) {
    const node = fill(part.path ? "field-object" : "field-root", part);
    const members = part.members.map(one => [one.name, labelled(one)]), more = part.more && labelled(part.more);
    node.append(...members.map(([, one]) => one.node), more?.node ?? "");
    return {
      node, read() {
        const known = members.map(([name, one]) => [name, one.read()]).filter(([, value]) => value !== undefined);
        const all = { ...more?.read(), ...Object.fromEntries(known) };
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
    part.variants.forEach((one, i) => select.append(new Option(one.label, i)));
    select.value = part.selected ?? "";
    select.onchange = show;
    show();
    return { node, read: () => made?.read() };
  },
};
