// How figures are written, and how elements are made. Text reaches the document as text only, never as HTML: names of splits and
// messages are whatever a source says.
"use strict";

const errors = document.getElementById("errors");
const tell = (text) => { errors.textContent += text + "\n"; };
window.addEventListener("error", (event) => tell(event.message));
window.addEventListener("unhandledrejection", (event) => tell(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => tell(`refused: ${event.violatedDirective} ${event.blockedURI}`));
const logged = console.error;
console.error = (...all) => { tell(all.map(String).join(" ")); logged.apply(console, all); };

const UNKNOWN = "–";
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// An element with classes, text and children.
function make(tag, classes, text, ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== null && text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
}

const card = (title, ...children) => make("section", "", null, make("h2", "", title), ...children);

// What is not known is not zero.
const orUnknown = (write) => (value) => (typeof value === "number" && isFinite(value) ? write(value) : UNKNOWN);

const grouped = orUnknown((number) => Math.round(number).toLocaleString("en-US"));
const counted = (number, word) => `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
const percent = orUnknown((share) => {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return (100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0) + " %";
});

// As on the terminal. It is rounded first: what is rounded up to 1024 is one of the next unit.
const bytes = orUnknown((number) => {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let unit = 0, shown = Math.round(number);
  for (; shown >= 1024 && unit < units.length - 1; unit++) {
    number /= 1024;
    shown = Math.round(100 * number) / 100;
  }
  return shown.toFixed(unit ? 2 : 0) + " " + units[unit];
});

// Rounded first as well: 999.6 µs are 1.00 ms.
const time = orUnknown((seconds) => {
  if (seconds <= 0) return "0 s";
  for (const [unit, factor] of [["µs", 1e6], ["ms", 1e3]]) {
    const shown = (seconds * factor).toPrecision(3);
    if (Number(shown) < 1000) return (Number(shown) < 0.01 ? "< 0.01" : shown) + " " + unit;
  }
  if (Math.round(seconds * 100) < 12000) return seconds.toFixed(2) + " s";
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  return minutes < 120 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
});

// A moment, in microseconds since 1970.
function moment(micros) {
  const date = new Date(micros / 1000);
  return isNaN(date) ? UNKNOWN : date.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

// Columns: [title, is a number]; rows: arrays of texts or elements. What is appended as a text stays one.
function table(columns, rows, classOf) {
  const cell = (tag, content, column) => {
    const one = make(tag, columns[column][1] ? "number" : "");
    one.append(content);
    // Where there is no room for columns, each cell says what it is.
    if (tag === "td") one.dataset.column = columns[column][0];
    return one;
  };
  const head = make("tr", "", null, ...columns.map(([title], column) => cell("th", title, column)));
  const body = rows.map((row, place) =>
    make("tr", classOf ? classOf(place) : "", null, ...row.map((text, column) => cell("td", text, column))));
  return make("div", "scroll", null, make("table", "", null, make("thead", "", null, head), make("tbody", "", null, ...body)));
}

const numbers = (...titles) => titles.map((title) => [title, true]);

function legendOf(all) {
  return make("div", "legend", null, ...all.map(([text, ink]) => {
    const mark = make("i");
    mark.style.background = `var(--${ink})`;
    return make("span", "", null, mark, text);
  }));
}

// What a result is called, and the class that gives it its colour.
const isUnsuccessful = (result) => result !== "done" && result !== "open";
const resultText = (result) => (result === "open" ? "not ended" : result.replaceAll("_", " "));
const resultClass = (result) => "result result-" + (isUnsuccessful(result) ? "failed" : result);

// How an entry ended. Done with dirty records is no clean end, and with no other ones no success.
function ending({ result, ending, dirty, all_dirty: allDirty }) {
  const isDirty = result === "done" && dirty > 0;
  return make("span", isDirty ? "result result-" + (allDirty ? "failed" : "dirty") : resultClass(result), ending);
}
