// What all pages share: elements, numbers as texts, the token.
"use strict";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// --- Elements: texts are set as texts, so nothing that a client sent is read as HTML

function el(name, given = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...inside.filter((each) => each !== null && each !== undefined));
  return made;
}

function svg(name, given = {}, ...inside) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

const percent = (x, digits = 1) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(digits)} %`);
const whole = (n) => Math.round(n).toLocaleString("en");
const size = (n) => (n >= 1e9 ? `${(n / 1e9).toFixed(1)} GB` : n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(n / 1e3))} kB`);
const count = (n, what) => `${whole(n)} ${what}${n === 1 ? "" : "s"}`;

function bar(share, bad) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: bad ? "fill bad" : "fill", width, height: 8 }));
}

// --- The server

let token = sessionStorage.getItem("token") || "";
const headers = (more = {}) => (token ? { Authorization: `Bearer ${token}`, ...more } : more);

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
