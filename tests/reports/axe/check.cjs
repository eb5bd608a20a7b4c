// Print, as JSON, what axe-core finds in the HTML file that the first argument names.
const { readFileSync } = require("node:fs");
const { JSDOM } = require("jsdom");

const { window } = new JSDOM(readFileSync(process.argv[2], "utf8"), { runScripts: "outside-only" });
const { document } = window;
// jsdom draws nothing: colours are checked in Python. Without the style sheet it is much faster.
document.querySelectorAll("style").forEach((style) => style.remove());
// What the page's own script does, and what a reader may unfold.
document.querySelectorAll("noscript").forEach((text) => text.replaceWith(...text.childNodes));
document.querySelectorAll("form[hidden]").forEach((form) => (form.hidden = false));
document.querySelectorAll("details").forEach((details) => (details.open = true));
window.eval(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
const rules = { "color-contrast": { enabled: false } };
window.axe.run(document, { rules, resultTypes: ["violations"] }).then((found) => {
  const violations = found.violations.map(({ id, impact, help, nodes }) => ({
    id,
    impact,
    help,
    nodes: nodes.map(({ html }) => html),
  }));
  console.log(JSON.stringify({ passes: found.passes.map(({ id }) => id), violations }));
});
