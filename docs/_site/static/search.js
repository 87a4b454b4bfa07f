// Before Sphinx's search, on its page alone.

// What explains comes before the names of the reference, which has the same words many times.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 0, 1: -5, 2: -10 },
  objPrioDefault: 0,
  title: 25,
  partialTitle: 15,
  term: 10,
  partialTerm: 2,
};

// Search reads each page that it found for a few lines of it. A page that was opened as a file may
// not read others, so there it is given their texts by a script.
if (location.protocol === "file:") {
  document.write('<script src="_static/texts.js"></script>');
  window.fetch = async (url) => {
    const page = url.replace(/^\.\//, "").replace(/\.html$/, "");
    return new Response(`<div role="main">${TEXTS[page]}</div>`);
  };
}
