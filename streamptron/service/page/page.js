// The page of a service: what it does, what it got wrong, what to label next. No other file is asked.
"use strict";

const MOST_KEYS = 9;

// --- The server

async function call(path, body, type = "application/json") {
  const given = body === undefined ? { headers: headers() }
    : { method: "POST", headers: headers({ "Content-Type": type }), body: type === "application/json" ? JSON.stringify(body) : body };
  const answer = await fetch(path, given);
  if (answer.status === 401) {
    await wantsToken();
    return call(path, body, type);
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error.message);
  return found;
}

async function watch() {
  for (let wait = 500; ; wait = Math.min(8000, wait * 2)) {
    try {
      const answer = await fetch("events", { headers: headers() });
      if (answer.status === 401) { await wantsToken(); continue; }
      if (!answer.ok) throw new Error((await answer.json()).error.message);
      wait = 500;
      await hear(answer.body.getReader());
      state("the server is away; trying again", "away");
    } catch (error) { // it is asked again
      state(error instanceof TypeError ? "the server is away; trying again" : error.message, "away");
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function hear(reader) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [first, second] = event.split("\n");
      if (first === "event: stats") show(JSON.parse(second.slice(6)));
    }
  }
}

// --- What is shown

let now = null;
let before = null;

function show(stats) {
  before = now;
  now = stats;
  const model = stats.model;
  state("live", "live");
  $("model").textContent = `${model.class} · ${model.learns ? "learns" : "answers only"} · version ${whole(model.version)}`;
  form(model);
  figures(stats);
  curve(stats);
  labels(stats.labels);
  wrong(stats.wrong);
  bars($("moved"), stats.moved.map((each) => ({
    name: [el("span", {}, each.word), el("span", { class: "arrow" }, "→"), String(each.label)],
    share: Math.abs(each.by), n: (each.by > 0 ? "+" : "−") + Math.abs(each.by).toFixed(2), bad: each.by < 0,
  })), "What lessons change most is shown here.");
  bars($("confused"), stats.confusions.map((each) => ({
    name: [el("span", {}, each.label), el("span", { class: "arrow" }, "taken for"), String(each.answered)],
    share: each.n, n: whole(each.n), bad: true,
  })), "Nothing has been confused.");
  calibration(stats.calibration);
  if (!item && stats.queued > 0) refill();
  queueState();
}

function figure(value, what, more, kind = "") {
  return el("div", { class: `figure ${kind}` }, el("small", {}, what), el("b", {}, value), el("small", {}, more));
}

function figures(stats) {
  const seconds = before ? stats.at - before.at : 0;
  const rate = seconds > 0 ? Math.max(0, (stats.asked - before.asked) / seconds) : 0;
  const taught = seconds > 0 ? Math.max(0, (stats.model.version - before.model.version) / seconds) : 0;
  const worse = stats.error_lately !== null && stats.lately > 100 && stats.error_lately > 1.2 * stats.error;
  const model = stats.model;
  const saved = model.unsaved ? `${whole(model.unsaved)} in the log, not saved yet` : "all is saved";
  $("figures").replaceChildren(
    figure(percent(stats.error_lately), "errors lately", stats.lately ? `of the last ${count(stats.lately, "lesson")}` : "no lesson yet", worse ? "first worse" : "first"),
    figure(percent(stats.error), "errors so far", `${whole(stats.mistakes)} of ${whole(stats.lessons)}`),
    figure(whole(stats.asked), "asked", `${rate.toFixed(rate < 10 ? 1 : 0)} a second`),
    figure(whole(model.version), "lessons", model.learns ? `${taught.toFixed(taught < 10 ? 1 : 0)} a second; ${saved}` : "it does not learn"),
    figure(whole(model.features), "features", `${count(model.labels, "label")}, ${size(model.bytes)}`),
  );
  shadow(stats, stats.shadow);
}

function shadow(stats, found) {
  $("shadow").hidden = !found;
  if (!found) return;
  const [a, b] = [found.only_answering_right, found.only_shadow_right];
  const head = ["model", "errors lately", "errors so far", "right alone"].map((name) => el("th", { scope: "col" }, name));
  const row = (name, kind, errors, right) => el("tr", {},
    el("th", { scope: "row" }, name, " ", el("span", { class: "quiet" }, kind)),
    el("td", {}, percent(errors.error_lately)), el("td", {}, percent(errors.error)),
    el("td", {}, whole(right), el("span", { class: "cell" }, bar(a + b ? right / (a + b) : 0))));
  $("second").replaceChildren(el("thead", {}, el("tr", {}, ...head)),
    el("tbody", {}, row("answers", stats.model.class, stats, a), row("shadow", found.class, found, b)));
  const lacks = found.lacks ? ` It lacks ${count(found.lacks, "lesson")} that the log has no more.` : "";
  const left = found.left_out ? ` ${count(found.left_out, "lesson")} did not fit it.` : "";
  const says = found.sentence || `No difference beyond chance yet: of ${count(a + b, "lesson")} that only one of the two answered rightly, the shadow did ${whole(b)}.`;
  if ($("compared").textContent !== says + lacks + left) $("compared").textContent = says + lacks + left;
}

// How wide and high a drawing is, in the page's own dots, so that its texts are as large as others.
function room(box, least) {
  return [Math.max(240, box.clientWidth), Math.max(least, box.clientHeight)];
}

function curve(stats) {
  const { width, mistakes, last } = stats.curve;
  const box = $("curve");
  if (mistakes.length < 2) {
    box.replaceChildren(el("p", { class: "empty" }, "The curve begins with the second lesson: each is answered before it is learned, and counted."));
    return;
  }
  const [W, H] = room(box, 240), left = 44, bottom = 24, top = 8;
  const sizes = mistakes.map((_, k) => (k === mistakes.length - 1 ? last : width));
  const total = sizes.reduce((a, b) => a + b, 0);
  // lately: over some points around each, so that single lessons are no jumps
  const reach = Math.max(2, Math.round(mistakes.length / 16));
  let seen = 0, errors = 0;
  const points = mistakes.map((n, k) => {
    seen += sizes[k]; errors += n;
    const from = Math.max(0, k - reach), part = mistakes.slice(from, k + 1);
    const of = sizes.slice(from, k + 1).reduce((a, b) => a + b, 0);
    return { at: seen, lately: part.reduce((a, b) => a + b, 0) / of, sofar: errors / seen };
  });
  const settled = points.slice(Math.min(points.length - 1, Math.ceil(points.length / 20)));
  const high = Math.min(1, Math.max(0.01, ...settled.map((p) => Math.max(p.lately, p.sofar))) * 1.15);
  const x = (at) => left + ((W - left - 6) * at) / total;
  const y = (share) => top + (H - top - bottom) * (1 - Math.min(share, high) / high);
  const line = (key) => points.map((p, k) => `${k ? "L" : "M"}${x(p.at).toFixed(1)} ${y(p[key]).toFixed(1)}`).join("");
  const drawn = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Errors over ${total} lessons: ${percent(stats.error)} so far, ${percent(stats.error_lately)} lately` });
  for (const share of [0, high / 2, high]) {
    drawn.append(svg("line", { class: "grid", x1: left, x2: W, y1: y(share), y2: y(share) }),
      svg("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share, high < 0.05 ? 1 : 0)));
  }
  for (const share of [0, 0.5, 1]) {
    drawn.append(svg("text", { x: x(total * share), y: H - 4, "text-anchor": ["start", "middle", "end"][2 * share] }, whole(total * share)));
  }
  drawn.append(svg("path", { class: "area", d: `${line("lately")}L${x(total)} ${y(0)}L${x(points[0].at)} ${y(0)}Z` }),
    svg("path", { class: "sofar", d: line("sofar") }), svg("path", { class: "lately", d: line("lately") }),
    svg("circle", { class: "dot", r: 3.5, cx: x(total), cy: y(points.at(-1).lately) }));
  box.replaceChildren(drawn);
}

function labels(found) {
  const head = ["label", "asked", "taught", "precision", "recall"].map((name) => el("th", { scope: "col" }, name));
  const share = (value) => el("td", {}, percent(value, 0), el("span", { class: "cell" }, bar(value, value !== null && value < 0.7)));
  const rows = found.slice(0, 12).map((each) => el("tr", {},
    el("td", { title: each.label }, String(each.label)), el("td", {}, whole(each.asked)), el("td", {}, whole(each.learned)),
    share(each.precision), share(each.recall)));
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 5, class: "empty" }, "It knows no label yet.")));
  $("labels").replaceChildren(el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}

function bars(list, rows, empty) {
  if (!rows.length) { list.replaceChildren(el("li", { class: "empty" }, empty)); return; }
  const most = Math.max(...rows.map((row) => row.share));
  list.replaceChildren(...rows.slice(0, 10).map((row) => el("li", {}, el("span", { class: "name" }, ...row.name),
    el("span", { class: "track" }, bar(row.share / most, row.bad)), el("span", { class: "n" }, row.n))));
}

function words(found) {
  return el("div", { class: "words" }, ...found.map(({ word, part }) =>
    el("span", { class: part < 0 ? "word against" : "word" }, word, el("small", {}, (part < 0 ? "−" : "+") + Math.abs(part).toFixed(2)))));
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most).trimEnd()}…` : text);

function wrong(found) {
  const rows = found.slice(0, 6).map((each) => el("li", {},
    el("span", { class: "bad" }, String(each.answered)), el("span", { class: "quiet" }, ` ${percent(each.probability, 0)}`),
    el("span", { class: "arrow" }, "but it was"), el("span", { class: "good" }, String(each.label)),
    each.text ? el("p", { class: "quiet" }, short(each.text, 160)) : null,
    words(each.words.slice(0, 5))));
  if (!rows.length) rows.push(el("li", { class: "empty" }, "No mistake since the server was started."));
  $("wrong").replaceChildren(...rows);
}

function calibration(buckets) {
  const points = buckets.filter(Boolean);
  if (!points.length) { $("calibration").replaceChildren(el("p", { class: "empty" }, "It is counted from lessons that were answered first.")); return; }
  const [W, H] = room($("calibration"), 200), left = 44, bottom = 24;
  const x = (p) => left + (W - left - 8) * p, y = (p) => 6 + (H - bottom - 6) * (1 - p);
  const most = Math.max(...points.map((each) => each.answers));
  const drawn = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": points.map((each) => `said ${percent(each.probability, 0)}, right ${percent(each.right, 0)}`).join("; ") });
  for (const share of [0, 0.5, 1]) {
    drawn.append(svg("line", { class: "grid", x1: left, x2: W - 8, y1: y(share), y2: y(share) }),
      svg("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0)),
      svg("text", { x: x(share), y: H - 4, "text-anchor": ["start", "middle", "end"][2 * share] }, percent(share, 0)));
  }
  drawn.append(svg("line", { class: "ideal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
  for (const each of points) {
    drawn.append(svg("circle", { class: "dot", cx: x(each.probability), cy: y(each.right), r: 3 + 6 * Math.sqrt(each.answers / most), opacity: 0.75 },
      svg("title", {}, `${count(each.answers, "answer")}: said ${percent(each.probability)}, right ${percent(each.right)}`)));
  }
  $("calibration").replaceChildren(drawn);
}

// --- Ask

// How an event is given: a text, a mail, an input for each field, or an object of JSON.
function form(model) {
  const drawn = JSON.stringify([model.events, model.fields]);
  if ($("ask").dataset.drawn === drawn) return;
  $("ask").dataset.drawn = drawn;
  const wanted = { text: "A text", mail: "A mail, with its header", fields: 'Fields, as {"title": "a late goal"}', x: 'Names and values, as {"size": 3, "city": "Paris"}' };
  $("text").placeholder = wanted[model.events];
  if (!model.fields) return;
  const inputs = Object.entries(model.fields).map(([name, kind], k) => el("p", { class: "field" }, el("label", { for: `field-${k}` }, name),
    el(kind === "text" ? "textarea" : "input", { id: `field-${k}`, name, rows: 2, spellcheck: "false" })));
  $("event").replaceChildren(...inputs);
}

function value(text) { // of a feature: a number, true, false or null, or else a text
  try {
    const found = JSON.parse(text);
    return typeof found === "object" && found !== null ? text : found;
  } catch {
    return text;
  }
}

function event() {
  const { events, fields } = now.model;
  if (fields) {
    const given = [...$("event").querySelectorAll("[name]")].map((input) => [input.name, input.value]);
    return Object.fromEntries(given.filter(([name, text]) => fields[name] === "text" || text.trim() !== "")
      .map(([name, text]) => [name, fields[name] === "text" ? text : value(text)]));
  }
  if (events === "text") return $("text").value;
  try {
    return JSON.parse($("text").value);
  } catch {
    throw new Error(`Give an object of JSON: ${$("text").placeholder}`);
  }
}

function asked() {
  if (!now) throw new Error("The server has not answered yet; try again.");
  const kind = now.model.events;
  if (kind === "mail") return call("predict?top=5&explain=12&remember=false", $("text").value, "message/rfc822");
  return call("predict", { [kind]: event(), top: 5, explain: 12, remember: false });
}

async function ask(pressed) {
  pressed.preventDefault();
  try {
    const found = await asked();
    const rows = (found.top || []).map((each) => el("div", { class: "meter" }, el("span", { class: "name" }, String(each.label)),
      el("span", { class: "track" }, bar(each.probability)), el("span", { class: "n" }, percent(each.probability))));
    const parts = (found.explain || []).filter((each) => each.feature !== "(intercept)");
    $("answer").replaceChildren(...(rows.length ? rows : [el("p", { class: "empty" }, "It knows no label yet.")]),
      words(parts.map((each) => ({ word: each.feature, part: each.part }))));
  } catch (error) {
    $("answer").replaceChildren(el("p", { class: "bad" }, error.message));
  }
}

// --- The queue: one key a label

let items = [];
let item = null;
let done = [];
let filling = false;
const handled = new Set(); // skipped, or taught and perhaps not yet heard of there

async function refill() {
  if (filling || !now || !now.model.learns) return;
  filling = true;
  try {
    const found = await call("queue?n=30");
    items = found.filter((each) => !(item && each.id === item.id));
    if (!item) next();
  } catch (error) {
    did(error.message);
  } finally {
    filling = false;
  }
}

function next() {
  do item = items.shift() || null;
  while (item && handled.has(item.id));
  drawItem();
  if (items.length < 5) refill();
}

function queueState() {
  $("waiting").textContent = now.keeps_texts && now.queued ? `${whole(now.queued)} without a label, the least sure first` : "";
  if (!item) drawItem();
}

function drawItem() {
  const choices = now ? now.names : [];
  if (!item) {
    const why = !now || !now.model.learns ? "This server only answers. With --learn it can be taught here."
      : !now.keeps_texts ? "With --keep-texts 1000 what was asked waits here for a label."
        : "All that was asked has its label.";
    if ($("item").textContent !== why) { $("item").replaceChildren(el("p", { class: "empty" }, why)); $("keys").replaceChildren(); }
    if (done.length && !$("keys").children.length) $("keys").append(undoButton());
    return;
  }
  $("item").replaceChildren(el("p", { class: "text" }, item.text),
    el("p", { class: "said quiet" }, item.label === null ? "no answer yet" : `it says ${item.label}, ${percent(item.probability)}`),
    words(item.words.slice(0, 8)));
  const keys = choices.slice(0, MOST_KEYS).map((label, k) => el("button", { type: "button", class: label === item.label ? "guess" : "", onclick: () => teach(label) },
    el("kbd", {}, String(k + 1)), String(label)));
  if (choices.length > MOST_KEYS || choices.length < 2) keys.push(otherLabel(choices));
  keys.push(el("button", { type: "button", onclick: skip }, el("kbd", {}, "s"), "skip"));
  if (done.length) keys.push(undoButton());
  $("keys").replaceChildren(...keys);
}

function undoButton() {
  return el("button", { type: "button", onclick: undo }, el("kbd", {}, "u"), "undo");
}

function otherLabel(choices) {
  const list = el("datalist", { id: "names" }, ...choices.map((label) => el("option", { value: label })));
  const input = el("input", { list: "names", placeholder: "another label", "aria-label": "Another label" });
  return el("form", { onsubmit: (event) => { event.preventDefault(); if (input.value) teach(input.value); } }, input, list);
}

function did(text) {
  $("did").textContent = text;
}

async function teach(label) {
  const taught = item;
  if (!taught) return;
  item = null;
  done.push(taught);
  handled.add(taught.id);
  next();
  try {
    const found = await call("learn", { id: taught.id, label });
    did(found.done === "known" ? `${label}: it was taught already` : found.right ? `${label}: it had it right` : `${label}: learned`);
    const card = $("queue");
    card.classList.remove("flash");
    void card.offsetWidth;
    card.classList.add("flash");
  } catch (error) {
    done = done.filter((each) => each !== taught);
    handled.delete(taught.id);
    did(error.message);
  }
}

function skip() {
  if (!item) return;
  handled.add(item.id);
  did("skipped");
  next();
}

async function undo() {
  const taught = done.pop();
  if (!taught) return;
  try {
    await call("undo", { id: taught.id });
    if (item) items.unshift(item);
    handled.delete(taught.id);
    item = taught;
    drawItem();
    did("taken back; it can be labelled anew");
  } catch (error) {
    did(error.message);
  }
}

window.addEventListener("resize", () => {
  if (!now) return;
  curve(now);
  calibration(now.calibration);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const number = Number(event.key);
  if (item && number >= 1 && number <= Math.min(MOST_KEYS, now.names.length)) teach(now.names[number - 1]);
  else if (event.key === "s") skip();
  else if (event.key === "u") undo();
});
$("ask").addEventListener("submit", ask);
const name = /^\/m\/([^/]+)\/$/.exec(location.pathname);
if (name) { // one of a folder
  document.title = `${name[1]}: streamptron`;
  document.querySelector("h1").replaceChildren(el("a", { href: "../../", title: "All models" }, "streamptron"), ` / ${name[1]}`);
}
$("ask").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(event);
});
watch();
