// The list of models; each has a page of its own.
"use strict";

// What a column is, its class, and what of a model is in it.
const COLUMNS = [
  ["learner", "kind", (model) => model.class],
  ["labels", "less", (model) => whole(model.labels)],
  ["asked", "", (model) => whole(model.asked)],
  ["lessons", "", (model) => whole(model.version)],
  ["errors lately", "", (model) => percent(model.error_lately)],
  ["memory", "less", (model) => size(model.bytes)],
];

function row(model) {
  const cells = model.open ? COLUMNS.map(([, kind, text]) => el("td", { class: kind }, text(model)))
    : [el("td", { class: "closed", colspan: COLUMNS.length }, "opened when it is asked for")];
  return el("tr", {}, el("th", { scope: "row" }, el("a", { href: `m/${model.name}/` }, model.name)), ...cells);
}

let shown = "";

function show(models) {
  const text = JSON.stringify(models);
  if (text === shown) return; // so that the focus stays where it is
  shown = text;
  const at = document.activeElement && document.activeElement.getAttribute("href");
  $("count").textContent = models.length === 1 ? "1 model" : `${whole(models.length)} models`;
  const head = [["model", ""], ...COLUMNS].map(([name, kind]) => el("th", { scope: "col", class: kind }, name));
  const rows = models.map(row);
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 1 + COLUMNS.length, class: "empty" }, "There is no model in the folder yet.")));
  $("models").replaceChildren(el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  for (const link of $("models").querySelectorAll("a")) if (link.getAttribute("href") === at) link.focus();
}

async function watch() {
  for (;;) {
    try {
      const answer = await fetch("models", { headers: headers() });
      if (answer.status === 401) { await wantsToken(); continue; }
      if (!answer.ok) throw new Error(String(answer.status));
      show(await answer.json());
      state("live", "live");
    } catch {
      state("the server is away; trying again", "away");
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}

watch();
