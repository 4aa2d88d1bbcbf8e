// Draws the page from the data in it: each entry of a job that was recorded, below each other.
"use strict";

const runs = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
// Of more entries each is drawn when it is opened.
const DRAWN_AT_ONCE = 3;

const pathOf = (run) => [run.run.reader, ...run.run.transformers, run.run.writer].filter(Boolean).join(" → ");

function header(run, id) {
  const { host, plugins } = run.run;
  const result = ending(run);
  result.id = id("result");
  const machine = [host.name, host.os, host.kernel, host.arch, host.cores && host.cores + " cores",
    host.memory_bytes && bytes(host.memory_bytes)].filter(Boolean).join(", ");
  const versions = Object.entries(plugins).map(([name, version]) => `${name} ${version}`).join(", ");
  const facts = [`run ${run.run.run}, began ${moment(run.run.start_micros)}`, pathOf(run),
    `transship ${run.run.transship}` + (machine && ` on ${machine}`) + (versions ? `; plugins: ${versions}` : "")];
  const section = make("section", "", null, make("h1", "", run.title, result), ...facts.map((fact) => make("div", "facts", fact)));
  if (run.message) section.append(make("p", "message", run.message));
  if (run.verdict) {
    const verdict = make("p", "verdict", run.verdict);
    verdict.id = id("verdict");
    section.append(verdict);
  }
  return section;
}

// What is shown large, and compared. Rates are by the time in which records moved. `aborted`: what attempts had that failed.
function figuresOf(run) {
  const per = (number) => (run.moving > 0 ? number / run.moving : null);
  const figure = (name, title, value, write, aborted) => ({ name, title, value, write, aborted });
  return [
    figure("records-read", "records read", run.read, grouped, run.aborted_read),
    figure("records-written", "records written", run.written, grouped),
    figure("bytes-read", "bytes read", run.read_bytes, bytes),
    figure("elapsed", "elapsed", run.elapsed, time),
    figure("moving", "time in which records moved", run.moving, time),
    figure("records-per-second", "records read a second", per(run.read), grouped),
    figure("bytes-per-second", "bytes read a second", per(run.read_bytes), bytes),
    figure("dirty", "dirty records", run.dirty, grouped, run.aborted_dirty),
    figure("filtered", "filtered", run.filtered, grouped),
    figure("duplicates", "duplicates", run.duplicates, grouped),
  ];
}

function figures(run, id) {
  const all = figuresOf(run).map(({ name, title, value, write, aborted }) => {
    const number = make("b", "", write(value));
    number.id = id(name);
    number.dataset.value = value ?? "";
    const figure = make("div", "figure", null, number, make("span", "", title));
    if (aborted) {
      const beside = make("span", "aborted", `and ${write(aborted)} in attempts that failed`);
      beside.id = id(name + "-aborted");
      figure.append(beside);
    }
    return figure;
  });
  return make("section", "figures", null, ...all);
}

const PART_INKS = {
  open_source: "open-source", reader: "read", transformers: "transform", lookup: "lookup", open_target: "open-target", writer: "write",
  commit: "commit", prepare: "prepare", post: "after", speed_limit: "wait4", slots: "wait3", turn: "wait2", wait_for_reader: "wait",
  wait_for_writer: "wait",
};

function waits(run, id) {
  const lanes = run.attempts.some((attempt) => attempt.slot === null);
  const transforms = ["transformers", "lookup"];
  const sides = [
    ["Before records move", ["prepare"]],
    ["The reader's side", ["open_source", "reader", ...(lanes ? [] : transforms), "speed_limit", "slots", "wait_for_writer"]],
    [lanes ? "The writer's side (lanes)" : "The writer's side",
      ["open_target", ...(lanes ? transforms : []), "writer", "commit", "turn", "wait_for_reader"]],
    ["After the commit", ["post"]],
  ];
  const section = card("Where the time went");
  for (const [title, names] of sides) {
    const parts = names.map((name) => run.parts.find((one) => one.part === name)).filter((one) => one && one.seconds > 0);
    if (!parts.length) continue;
    const stack = make("div", "stack", null, ...parts.map((part) => {
      const bar = make("i");
      bar.dataset.part = part.part;
      bar.style.width = 100 * part.share + "%";
      bar.style.background = `var(--${PART_INKS[part.part]})`;
      bar.title = `${part.words}: ${percent(part.share)}, ${time(part.seconds)}`;
      return bar;
    }));
    section.append(make("div", "facts", title), stack,
      legendOf(parts.map((part) => [`${part.words} ${percent(part.share)}`, PART_INKS[part.part]])));
  }
  section.append(make("p", "note", "Shares of the whole time of the run, in the mean over the tasks. The two sides work at the same time; " +
    "what is left of their bars is what comes before and after."));
  section.id = id("waits");
  return section;
}

function settings(run) {
  const text = (title, tree) =>
    make("section", "", null, make("details", "", null, make("summary", "", title), make("pre", "", JSON.stringify(tree, null, 2))));
  return make("div", "pair", null, text("Settings", run.run.setting), text("How it ran", run.run.plan));
}

// Fills the place of an entry, once; then draws what has a size.
function show(entry) {
  const { run, place, element, drawn } = entry;
  const id = (name) => (place ? `${name}-${place}` : name);
  if (!entry.shown) {
    entry.shown = true;
    const sections = [header(run, id), figures(run, id), comparison(run, id), timeline(run, id, drawn), curves(run, drawn), waits(run, id),
      latencies(run), dirty(run, id), attempts("tasks", run.splits, OF_SPLITS, id), attempts("lanes", run.lanes, OF_LANES, id), settings(run)];
    element.append(...sections.filter(Boolean));
  }
  drawn.forEach((draw) => draw());
}

// Those that were not done, or for nothing, first; then in the order of their job files.
const jobs = [...new Set(runs.map((run) => run.run.job))];
const ranks = (run) => [run.result === "done" && !run.all_dirty ? 1 : 0, jobs.indexOf(run.run.job), run.run.content];
const entries = runs
  .map((run, place) => ({ run, place, drawn: [], shown: false, element: null }))
  .sort((a, b) => ranks(a.run).map((rank, at) => rank - ranks(b.run)[at]).find((difference) => difference) || a.place - b.place);

function look(place) {
  const entry = entries.find((one) => one.place === place);
  if (entry) entry.element.open = true;
}

if (entries.length > 1) page.append(overview(entries, look));
const foldable = entries.length > DRAWN_AT_ONCE;
entries.forEach((entry, turn) => {
  entry.element = make(foldable ? "details" : "div", "entry");
  entry.element.id = `entry-${entry.place}`;
  if (foldable) {
    entry.element.append(make("summary", "", `${entry.run.title}: ${entry.run.ending}`));
    entry.element.open = turn === 0;
    entry.element.addEventListener("toggle", () => { if (entry.element.open) show(entry); });
  }
  page.append(entry.element);
  if (!foldable || turn === 0) show(entry);
});
document.title = jobs.join(", ") + " – transship";
const redraw = () => entries.filter((entry) => entry.shown).forEach(show);
window.addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
if (location.hash.startsWith("#entry-")) look(Number(location.hash.slice("#entry-".length)));
page.dataset.drawn = runs.length;
