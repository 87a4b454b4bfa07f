// The page Try it: the C library as WebAssembly, which try_wasm.js holds, and the page's fields.

const ERROR_SIZE = 524;
const ANSWER_SIZE = 24;
const PART_SIZE = 16;
const CHOICE_SIZE = 16;
const PARTS = 4096;
const SHOWN = 8;
const EXAMPLES = [
  ["ham", "see you at the meeting tomorrow"],
  ["spam", "win a free prize now"],
  ["ham", "the report is attached"],
  ["spam", "free money, click here"],
  ["ham", "lunch at noon?"],
  ["spam", "you have won a free holiday"],
  ["ham", "minutes of the meeting"],
  ["spam", "cheap pills, free delivery"],
  ["ham", "can you call me tomorrow"],
  ["spam", "claim your prize today"],
];

// The library: its calls, and its memory.
async function library() {
  const bytes = Uint8Array.from(atob(TRY_WASM), (digit) => digit.charCodeAt(0));
  const module = await WebAssembly.compile(bytes);
  const system = {}; // there are no files: 8 is "no such descriptor"
  for (const { name } of WebAssembly.Module.imports(module)) system[name] = () => 8;
  let c;
  system.random_get = (p, n) => {
    crypto.getRandomValues(new Uint8Array(c.memory.buffer, p, n));
    return 0;
  };
  const made = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system });
  c = made.exports;
  c._initialize();
  const memory = () => new DataView(c.memory.buffer); // another one once it has grown
  const bytesAt = (p, n) => new Uint8Array(c.memory.buffer, p, n);
  const textAt = (p, n) => new TextDecoder().decode(bytesAt(p, n));
  const error = c.malloc(ERROR_SIZE);

  // A call that can fail: its words are thrown.
  const call = (name, ...args) => {
    memory().setUint32(error, ERROR_SIZE, true);
    if (c[name](...args, error) === 0) return;
    const words = textAt(error + 12, ERROR_SIZE - 12);
    throw new Error(words.slice(0, words.indexOf("\0")));
  };
  // Bytes that the library sees, with a zero behind them, while `use` runs.
  const lend = (data, use) => {
    const p = c.malloc(data.length + 1);
    if (p === 0) throw new Error("there is no memory");
    bytesAt(p, data.length).set(data);
    memory().setUint8(p + data.length, 0);
    try {
      return use(p, data.length);
    } finally {
      c.free(p);
    }
  };
  return { c, memory, bytesAt, textAt, call, lend };
}

// A model, new or of a file's bytes, and one event of it.
function modelOf({ c, memory, bytesAt, textAt, call, lend }, file) {
  const encoded = (text) => new TextEncoder().encode(text);
  const out = c.malloc(8);
  const answer = c.malloc(ANSWER_SIZE);
  const parts = c.malloc(PARTS * PART_SIZE);
  const pointer = () => memory().getUint32(out, true);
  if (file) lend(file, (p, n) => call("spt_open_memory", p, n, 0, out));
  else {
    const make = (learner) => lend(encoded("{}"), (p) => call("spt_new", learner, 0, p, out));
    lend(encoded("adaptive"), make);
  }
  const model = pointer();
  call("spt_event_new", model, out);
  const event = pointer();
  const take = (text) => lend(encoded(text), (p, n) => call("spt_event_text", event, p, n));

  const several = c.spt_is_multilabel(model) !== 0; // whether an event has a set of labels
  const label = (i) => {
    const p = c.spt_label(model, i, out);
    return textAt(p, memory().getUint32(out, true));
  };
  const probabilities = (n) => {
    const p = c.malloc(8 * n + 8);
    call("spt_probabilities", model, event, p, n);
    const found = Array.from({ length: n }, (_, i) => memory().getFloat64(p + 8 * i, true));
    c.free(p);
    return found;
  };
  // The numbers of the labels that are answered.
  const answered = (n) => {
    if (!several) {
      memory().setUint32(answer, ANSWER_SIZE, true);
      call("spt_predict", model, event, answer);
      const best = memory().getInt32(answer + 4, true);
      return best < 0 ? [] : [best];
    }
    const choices = c.malloc(CHOICE_SIZE * n + CHOICE_SIZE);
    call("spt_predict_set", model, event, choices, n, out);
    const found = Array.from({ length: pointer() }, (_, k) =>
      memory().getUint32(choices + CHOICE_SIZE * k, true),
    );
    c.free(choices);
    return found;
  };
  const explained = (i) => {
    call("spt_explain", model, event, i, parts, PARTS, out);
    const n = Math.min(memory().getUint32(out, true), PARTS);
    return Array.from({ length: n }, (_, k) => {
      const at = parts + k * PART_SIZE;
      const name = memory().getUint32(at, true);
      const words = name ? textAt(name, memory().getUint32(at + 4, true)) : null;
      return { name: words, share: memory().getFloat64(at + 8, true) };
    });
  };
  return {
    labels: () => Array.from({ length: c.spt_labels(model) }, (_, i) => label(i)),
    several,
    // The numbers of the labels that are answered, all probabilities, what the words say of the
    // likeliest label.
    ask(text) {
      take(text);
      const n = c.spt_labels(model);
      const p = probabilities(n);
      const chosen = answered(n);
      const likeliest = several ? p.indexOf(Math.max(...p)) : (chosen[0] ?? -1);
      return { chosen, p, parts: likeliest < 0 ? [] : explained(likeliest) };
    },
    // Of several labels those between the commas; of none the event has none.
    learn(text, as) {
      take(text);
      if (!several) {
        lend(encoded(as), (p, n) => call("spt_learn_as", model, event, p, n, 1));
        return;
      }
      const labels = as.split(",").map((part) => encoded(part.trim())).filter((part) => part.length);
      const pointers = c.malloc(8 * labels.length + 8);
      const learned = (at) => {
        if (at === labels.length) {
          const lengths = pointers + 4 * at;
          call("spt_learn_set_as", model, event, pointers, lengths, 0, at, 1);
          return;
        }
        lend(labels[at], (p, n) => {
          memory().setUint32(pointers + 4 * at, p, true);
          memory().setUint32(pointers + 4 * (labels.length + at), n, true);
          learned(at + 1);
        });
      };
      try {
        learned(0);
      } finally {
        c.free(pointers);
      }
    },
    counts() {
      const p = c.malloc(48);
      memory().setUint32(p, 48, true);
      c.spt_count(model, p);
      const [seen, , mistakes, features] = [8, 16, 24, 32].map((at) =>
        Number(memory().getBigUint64(p + at, true)),
      );
      c.free(p);
      return { seen, mistakes, features };
    },
    bytes() {
      call("spt_save_memory", model, out, out + 4);
      const p = pointer();
      const found = bytesAt(p, memory().getUint32(out + 4, true)).slice();
      c.spt_free(p);
      return found;
    },
    close() {
      c.spt_event_free(event);
      c.spt_close(model);
      for (const p of [out, answer, parts]) c.free(p);
    },
  };
}

// A line with a name, a bar of a share of the width, and a number.
function bar(name, share, number, against) {
  const line = document.createElement("div");
  line.className = against ? "try-bar try-against" : "try-bar";
  const fill = document.createElement("i");
  fill.style.width = `${100 * share}%`;
  for (const [kind, text] of [
    ["span", name],
    ["b", number],
  ]) {
    const part = document.createElement(kind);
    part.textContent = text;
    line.append(part);
  }
  line.append(fill);
  return line;
}

addEventListener("DOMContentLoaded", async () => {
  const at = (name) => document.getElementById(`try-${name}`);
  if (TRY_WASM === null) {
    at("none").textContent =
      "This site was made without the model of this page: clang, lld or wasi-libc were missing.";
    return;
  }
  if (!window.WebAssembly) return;
  const lib = await library();
  let model = modelOf(lib);

  const show = () => {
    const text = at("text").value;
    const labels = model.labels();
    const { chosen, p, parts } = model.ask(text);
    const order = labels.map((_, i) => i).sort((a, b) => p[b] - p[a]);
    const answers = order.slice(0, SHOWN);
    at("answer").replaceChildren(
      ...answers.map((i) =>
        bar(labels[i], p[i], `${(100 * p[i]).toFixed(1)} %`, !chosen.includes(i)),
      ),
    );
    if (!labels.length) at("answer").textContent = "none yet: it has learned no label";
    const words = parts.filter(({ name }) => name !== null);
    words.sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    const most = words.length ? Math.abs(words[0].share) : 1;
    at("words").replaceChildren(
      ...words
        .slice(0, SHOWN)
        .map(({ name, share }) =>
          bar(name, Math.abs(share) / most, `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(3)}`, share < 0),
        ),
    );
    if (!words.length) at("words").textContent = "none that it knows";
    const { seen, mistakes, features } = model.counts();
    const error = seen ? ` (${((100 * mistakes) / seen).toFixed(1)} %)` : "";
    at("counts").textContent =
      `${seen} learned, ${mistakes} of them answered wrong before${error}; ${features} words known`;
    at("labels").replaceChildren(
      ...labels.map((label) => Object.assign(document.createElement("option"), { value: label })),
    );
  };
  const trying = (what) => async (event) => {
    event.preventDefault();
    at("fault").textContent = "";
    try {
      await what();
      show();
    } catch (fault) {
      at("fault").textContent = fault.message;
    }
  };
  const replace = (fresh) => {
    try {
      fresh.ask(""); // it may learn from something else than texts
    } catch (fault) {
      fresh.close();
      throw fault;
    }
    model.close();
    model = fresh;
  };

  at("text").addEventListener("input", trying(() => {}));
  document.querySelector("#try form").addEventListener(
    "submit",
    trying(() => {
      const label = at("label").value.trim();
      if (!label && !model.several) throw new Error("give the text a label, such as spam");
      model.learn(at("text").value, label);
    }),
  );
  at("examples").addEventListener(
    "click",
    trying(() => {
      for (const [label, text] of EXAMPLES) model.learn(text, label);
    }),
  );
  at("new").addEventListener("click", trying(() => replace(modelOf(lib))));
  at("open").addEventListener(
    "change",
    trying(async () => {
      const [file] = at("open").files;
      at("open").value = ""; // so that the same file can be chosen again
      if (file) replace(modelOf(lib, new Uint8Array(await file.arrayBuffer())));
    }),
  );
  at("save").addEventListener(
    "click",
    trying(() => {
      const blob = new Blob([model.bytes()], { type: "application/octet-stream" });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = "mine.model";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    }),
  );
  show();
  at("none").hidden = true;
  document.getElementById("try").hidden = false;
});
