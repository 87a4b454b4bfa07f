// The list of models; each has a page of its own.
"use strict";

const $ = (id) => document.getElementById(id);

function el(name, given = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

const whole = (n) => Math.round(n).toLocaleString("en");
const percent = (x) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(1)} %`);
const size = (n) => (n >= 1e9 ? `${(n / 1e9).toFixed(1)} GB` : n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(n / 1e3))} kB`);

let token = sessionStorage.getItem("token") || "";

async function wantsToken() {
  const dialog = $("login");
  if (!dialog.open) dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  token = $("token").value;
  sessionStorage.setItem("token", token);
}

function state(text, kind) {
  if ($("state").textContent !== text) $("state").textContent = text;
  $("state").className = `state ${kind}`;
}

function row(model) {
  const cells = model.open
    ? [model.class, whole(model.labels), whole(model.asked), whole(model.version), percent(model.error_lately), size(model.bytes)]
    : ["not open", "", "", "", "", ""];
  return el("tr", {}, el("td", {}, el("a", { href: `m/${model.name}/` }, model.name)), ...cells.map((text) => el("td", {}, text)));
}

let shown = "";

function show(models) {
  const text = JSON.stringify(models);
  if (text === shown) return; // so that the focus stays where it is
  shown = text;
  const at = document.activeElement && document.activeElement.getAttribute("href");
  $("count").textContent = models.length === 1 ? "1 model" : `${whole(models.length)} models`;
  const head = ["model", "learner", "labels", "asked", "lessons", "errors lately", "memory"].map((name) => el("th", { scope: "col" }, name));
  const rows = models.map(row);
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 7, class: "empty" }, "There is no model in the folder yet.")));
  $("models").replaceChildren(el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  for (const link of $("models").querySelectorAll("a")) if (link.getAttribute("href") === at) link.focus();
}

async function watch() {
  for (;;) {
    try {
      const answer = await fetch("models", { headers: token ? { Authorization: `Bearer ${token}` } : {} });
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
