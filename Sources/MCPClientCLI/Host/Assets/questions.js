// Decisions that only the user makes, in the page of the host: one question after another.
import { api } from "./api.js";
import { attempt, byId, fill } from "./dom.js";
import { form } from "./form.js";

const open = new Map(), dialog = byId("question");
let shown;

export function clear() {
  open.clear();
  next();
}

export function ask(question) {
  open.set(question.id, question);
  next();
}

export function settled({ id }) {
  open.delete(id);
  next();
}

dialog.oncancel = event => {
  event.preventDefault();
  dialog.querySelector(".answers button")?.click();
};

function next() {
  const [question] = open.values();
  if (question?.id === shown) return;
  shown = question?.id;
  dialog.close();
  if (!question) return;
  const node = fill("question", question), fields = question.form && form(question.form);
  node.querySelector("slot").replaceWith(fields?.node ?? "");
  for (const line of question.lines ?? []) node.querySelector("ul").append(fill("line", { line }));
  const reply = answer => attempt(async () => {
    const body = answer.takesForm ? { ...answer.body, content: fields?.read() } : answer.body;
    await api("POST", question.path, body);
  });
  question.answers.forEach((answer, i, all) => {
    const isLast = i === all.length - 1, button = fill("answer", { ...answer, type: isLast ? "submit" : "button" });
    if (isLast) node.onsubmit = reply(answer);
    else button.onclick = reply(answer);
    // The first answer does nothing. The others are disabled at first: a second click was meant for the
    // previous question.
    button.disabled = i > 0;
    setTimeout(() => button.disabled = false, 500);
    node.querySelector(".answers").append(button);
  });
  dialog.replaceChildren(node);
  dialog.showModal();
}
