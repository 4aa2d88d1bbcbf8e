// Draws the report from the data in the page. Text reaches the document as text only, never as HTML: names of splits and messages are
// whatever a source says.
"use strict";

const errors = document.getElementById("errors");
const tell = (text) => { errors.textContent += text + "\n"; };
window.addEventListener("error", (event) => tell(event.message));
window.addEventListener("unhandledrejection", (event) => tell(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => tell(`refused: ${event.violatedDirective} ${event.blockedURI}`));
const logged = console.error;
console.error = (...all) => { tell(all.map(String).join(" ")); logged.apply(console, all); };

const runs = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const hover = document.getElementById("hover");
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
const grouped = (number) => Math.round(number).toLocaleString("en-US").replaceAll(",", "\u202f");
const counted = (number, word) => `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
const percent = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; number >= 1024 && unit < units.length - 1; unit++) number /= 1024;
  return number.toFixed(unit && number < 100 ? 1 : 0) + " " + units[unit];
}

function time(seconds) {
  if (!seconds) return "0 s";
  if (seconds < 1e-3) return Math.round(seconds * 1e6) + " µs";
  if (seconds < 1) return (seconds * 1e3).toPrecision(3) + " ms";
  if (seconds < 120) return seconds.toFixed(2) + " s";
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Columns: [title, is a number]; rows: arrays of texts or elements. What is appended as a text stays one.
function table(columns, rows, classOf) {
  const cell = (tag, content, column) => {
    const one = make(tag, columns[column][1] ? "number" : "");
    one.append(content);
    return one;
  };
  const head = make("tr", "", null, ...columns.map(([title], column) => cell("th", title, column)));
  const body = rows.map((row, place) =>
    make("tr", classOf ? classOf(place) : "", null, ...row.map((text, column) => cell("td", text, column))));
  return make("div", "scroll", null, make("table", "", null, make("thead", "", null, head), make("tbody", "", null, ...body)));
}

// The distribution of a latency, on a scale where each step is ten times the one before: all of it, and stronger from 50 % to 99 %.
function spread(one, most) {
  const at = (micros) => 100 * Math.log10(1 + micros) / Math.log10(1 + most);
  const bar = make("div", "spread");
  for (const [from, to] of [[one.min, one.max], [one.p50, one.p99]]) {
    const part = make("i");
    part.style.left = at(from) + "%";
    part.style.width = Math.max(0.5, at(to) - at(from)) + "%";
    bar.append(part);
  }
  return bar;
}

function header(run, id) {
  const { host, plugins } = run.run;
  const words = { done: "done", open: "not ended" };
  const result = make("span", "result " + run.result, words[run.result] || run.result.replaceAll("_", " "));
  result.id = id("result");
  const of = (name) => (plugins[name] ? `${name} ${plugins[name]}` : name);
  const machine = [host.name, host.os, host.kernel, host.arch, host.cores && host.cores + " cores",
    host.memory_bytes && bytes(host.memory_bytes)].filter(Boolean).join(", ");
  const path = [run.run.reader, ...run.run.transformers, run.run.writer].filter(Boolean).map(of).join(" → ");
  const facts = [`run ${run.run.run}, entry ${run.run.content}, began ${new Date(run.run.start_micros / 1000).toISOString()}`,
    path, `transship ${run.run.transship} on ${machine}`];
  const title = make("h1", "", run.run.job, result);
  const section = make("section", "", null, title, ...facts.map((fact) => make("div", "facts", fact)));
  if (run.verdict) {
    const verdict = make("p", "verdict", run.verdict);
    verdict.id = id("verdict");
    section.append(verdict);
  }
  if (run.message) section.append(make("p", "message", run.message));
  return section;
}

// What is shown large, and compared: [id, title, value, how it is written].
function figuresOf(run) {
  const per = (number) => (run.elapsed > 0 ? number / run.elapsed : 0);
  return [
    ["records-read", "records read", run.read, grouped],
    ["records-written", "records written", run.written, grouped],
    ["bytes-read", "bytes read", run.read_bytes, bytes],
    ["elapsed", "elapsed", run.elapsed, time],
    ["records-per-second", "records read a second", per(run.read), grouped],
    ["bytes-per-second", "bytes read a second", per(run.read_bytes), bytes],
    ["dirty", "dirty records", run.dirty, grouped],
    ["filtered", "filtered", run.filtered, grouped],
    ["duplicates", "duplicates", run.duplicates, grouped],
  ];
}

function figures(run, id) {
  const all = figuresOf(run).map(([name, title, value, write]) => {
    const number = make("b", "", write(value));
    number.id = id(name);
    number.dataset.value = value;
    return make("div", "figure", null, number, make("span", "", title));
  });
  return make("section", "figures", null, ...all);
}

// Attempts on rows: one of each slot, and as many more as lanes work at once.
function rowsOf(run) {
  const slots = [...new Set(run.attempts.map((attempt) => attempt.slot).filter((slot) => slot !== null))].sort((a, b) => a - b);
  const rows = slots.map((slot) => ({ name: "slot " + slot, attempts: [] }));
  const end = Math.max(run.elapsed * 1e6, 1, ...run.seconds.slice(-1).map((second) => second.micros - run.run.start_micros));
  const sorted = [...run.attempts].sort((a, b) => a.at - b.at);
  for (const attempt of sorted) {
    attempt.until = attempt.at + (attempt.took === null ? Math.max(0, end - attempt.at) : attempt.took);
    let row = rows[slots.indexOf(attempt.slot)];
    if (attempt.slot === null) {
      row = rows.slice(slots.length).find((row) => row.attempts.at(-1).until <= attempt.at);
      if (!row) rows.push(row = { name: "lane " + (rows.length - slots.length), attempts: [] });
    }
    row.attempts.push(attempt);
  }
  return { rows, slots: slots.length, end: sorted.reduce((last, attempt) => Math.max(last, attempt.until), end) };
}

const PHASE_COLOURS = { INIT: "wait2", PREPARE: "wait3", POST: "commit", DESTROY: "wait2" };
// Narrower attempts are one block, without phases.
const PHASES_FROM = 24;
const MARGIN = 58;

function timeline(run, id) {
  const { rows, slots, end } = rowsOf(run);
  if (!rows.length) return card("Tasks on their slots", make("div", "facts", "no task has begun"));
  const height = Math.max(5, Math.min(26, Math.floor(640 / rows.length)));
  const unsuccessful = (attempt) => attempt.result !== "done" && attempt.result !== "open";
  const failed = run.attempts.filter(unsuccessful).length;
  const note = make("p", "note", `${counted(run.attempts.length, "attempt")} on ${counted(slots, "slot")}` +
    (rows.length > slots ? ` and ${counted(rows.length - slots, "lane")}` : "") + `, ${grouped(failed)} failed or cancelled. ` +
    "Drag over a stretch to look closer, double-click to see all.");
  note.id = id("timeline-note");
  const canvas = make("canvas", "timeline");
  canvas.style.height = rows.length * (height + 2) + 20 + "px";
  const legend = legendOf([["reading", "read"], ["writing", "write"], ["commit, post", "commit"], ["init, prepare, destroy", "wait2"],
    ["failed or cancelled", "failed"], ["not ended", "open"]]);
  const view = { from: 0, to: end };
  let dragged = null;

  function draw() {
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    const names = ["read", "write", "commit", "wait2", "wait3", "failed", "open", "faint", "line", "card"];
    const inks = Object.fromEntries(names.map((name) => [name, colour(name)]));
    const x = (micros) => MARGIN + (micros - view.from) / (view.to - view.from) * (width - MARGIN);
    const block = (ink, from, to, top, tall) => {
      const left = Math.max(MARGIN, x(from)), right = Math.min(width, x(to));
      if (right < MARGIN || left > width) return;
      pen.fillStyle = inks[ink];
      pen.fillRect(left, top, Math.max(right - left, 0.75), tall);
    };
    const step = Math.max(1, Math.ceil(12 / (height + 2)));
    rows.forEach((row, place) => {
      const top = place * (height + 2);
      pen.fillStyle = inks.faint;
      if (place % step === 0) pen.fillText(row.name, 0, top + Math.min(height, 17) / 2 + 4);
      row.attempts.forEach((attempt, turn) => {
        if (unsuccessful(attempt)) return;
        const wide = x(attempt.until) - x(attempt.at);
        // Neighbours that are too narrow for a gap are told apart by their strength.
        pen.globalAlpha = wide < 3 && turn % 2 ? 0.65 : 1;
        if (attempt.result === "open") return block("open", attempt.at, attempt.until, top, height);
        const half = height / 2;
        const sides = wide >= PHASES_FROM ? attempt.parts : [];
        if (!sides.length) {
          const reads = attempt.parts.some(([name]) => name.startsWith("READ")) || !attempt.parts.length;
          const writes = attempt.parts.some(([name]) => name.startsWith("WRITE"));
          const gap = wide > 3 ? 1 / (width - MARGIN) * (view.to - view.from) : 0;
          if (reads) block("read", attempt.at, attempt.until - gap, top, writes ? half : height);
          if (writes) block("write", attempt.at, attempt.until - gap, top + (reads ? half : 0), reads ? half : height);
        } else {
          block("line", attempt.at, attempt.until, top, height);
        }
        for (const [name, from, took] of sides) {
          const [side, , phase] = name.split("_");
          const ink = PHASE_COLOURS[phase] || side.toLowerCase();
          block(ink, from, from + took, top + (side === "READ" ? 0 : half), half);
        }
        if (sides.length) { pen.fillStyle = inks.card; pen.fillRect(x(attempt.until) - 1, top, 1, height); }
      });
      pen.globalAlpha = 1;
      // Last, and never too narrow to be seen: of thousands these are looked for.
      const least = 2 / (width - MARGIN) * (view.to - view.from);
      for (const attempt of row.attempts.filter(unsuccessful)) {
        block("failed", attempt.at, Math.max(attempt.until, attempt.at + least), top, height);
      }
    });
    pen.fillStyle = inks.faint;
    for (let mark = 0; mark <= 6; mark++) {
      const micros = view.from + (view.to - view.from) * mark / 6;
      pen.textAlign = mark === 6 ? "right" : mark ? "center" : "left";
      pen.fillText(time(micros / 1e6), x(micros), rows.length * (height + 2) + 14);
    }
    if (dragged) {
      pen.globalAlpha = 0.25;
      pen.fillRect(dragged.from, 0, dragged.to - dragged.from, rows.length * (height + 2));
    }
  }

  const micros = (x) => view.from + (x - MARGIN) / (canvas.clientWidth - MARGIN) * (view.to - view.from);
  canvas.addEventListener("mousedown", (event) => { dragged = { from: event.offsetX, to: event.offsetX }; });
  canvas.addEventListener("dblclick", () => { view.from = 0; view.to = end; draw(); });
  canvas.addEventListener("mouseup", () => {
    const [from, to] = dragged ? [dragged.from, dragged.to].sort((a, b) => a - b) : [0, 0];
    if (to - from > 4) [view.from, view.to] = [Math.max(0, micros(from)), Math.min(end, micros(to))];
    dragged = null;
    draw();
  });
  canvas.addEventListener("mouseleave", () => { hover.hidden = true; if (dragged) { dragged = null; draw(); } });
  canvas.addEventListener("mousemove", (event) => {
    if (dragged) { dragged.to = event.offsetX; draw(); }
    const row = rows[Math.floor(event.offsetY / (height + 2))];
    const at = micros(event.offsetX), near = 2 / (canvas.clientWidth - MARGIN) * (view.to - view.from);
    const attempt = row && row.attempts.find((one) => one.at - near <= at && at <= one.until + near);
    hover.hidden = !attempt;
    if (!attempt) return;
    const lines = [attempt.split, `task ${attempt.number}, attempt ${attempt.attempt}: ${attempt.result}`,
      `${time((attempt.until - attempt.at) / 1e6)} from ${time(attempt.at / 1e6)}`,
      `${grouped(attempt.records || 0)} records, ${bytes(attempt.bytes || 0)}`, attempt.message];
    hover.textContent = lines.filter(Boolean).join("\n");
    hover.style.left = Math.min(event.clientX + 14, window.innerWidth - 430) + "px";
    hover.style.top = event.clientY + 16 + "px";
  });
  drawn.push(draw);
  return card("Tasks on their slots", canvas, legend, note);
}

function legendOf(all) {
  return make("div", "legend", null, ...all.map(([text, ink]) => {
    const mark = make("i");
    mark.style.background = `var(--${ink})`;
    return make("span", "", null, mark, text);
  }));
}

function curves(run) {
  const begin = run.run.start_micros;
  const points = run.seconds.map((second) => ({ ...second }));
  if (run.end_micros && run.end_micros - (points.at(-1)?.micros ?? begin) > 2e5) {
    points.push({ micros: run.end_micros, read_records: run.read, written_records: run.written, fill: 0, open_tasks: 0 });
  }
  const at = points.map((point) => (point.micros - begin) / 1e6);
  const rate = (what) => points.map((point, place) => {
    const before = place ? points[place - 1] : { micros: begin, [what]: 0 };
    const took = (point.micros - before.micros) / 1e6;
    return took > 0 ? Math.max(0, point[what] - before[what]) / took : null;
  });
  const charts = [
    ["Records a second", grouped, [["read", rate("read_records"), "read"], ["written", rate("written_records"), "write"]]],
    ["Fill of the channels", percent, [["fill", points.map((point) => point.fill), "transform"]], [0, 1]],
    ["Open tasks", grouped, [["open", points.map((point) => point.open_tasks), "commit"]]],
  ];
  return make("div", "curves", null, ...charts.map(([title, write, lines, range]) => {
    const place = make("div", "curve");
    const section = card(title, place);
    if (at.length < 2) {
      place.append(make("div", "facts", "the run was too short to be looked at twice: this is sampled each second"));
      return section;
    }
    let chart = null;
    drawn.push(() => {
      if (chart) chart.destroy();
      const axis = { stroke: colour("faint"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") } };
      chart = new uPlot({
        width: place.clientWidth, height: 200,
        scales: { x: { time: false }, y: { range: range || ((_, __, most) => [0, most > 0 ? most * 1.05 : 1]) } },
        axes: [{ ...axis, values: (_, all) => all.map((value) => value + " s") },
          { ...axis, size: 80, values: (_, all) => all.map((value) => (range ? Math.round(100 * value) + " %" : value < 10 ? value : grouped(value))) }],
        series: [{ label: "at", value: (_, value) => (value === null ? "" : value.toFixed(1) + " s") },
          ...lines.map(([label, , ink]) => ({
            label, stroke: colour(ink), width: 1.5, value: (_, value) => (value === null ? "" : write(value)),
          }))],
      }, [at, ...lines.map(([, values]) => values)], place);
    });
    return section;
  }));
}

const PART_COLOURS = {
  reader: "read", writer: "write", commit: "commit", transformers: "transform", lookup: "transform", speed_limit: "wait4",
  slots: "wait3", turn: "wait3", wait_for_reader: "wait", wait_for_writer: "wait",
};

function waits(run) {
  const lanes = run.attempts.some((attempt) => attempt.slot === null);
  const transforms = ["transformers", "lookup"];
  const sides = [
    ["The reader's side", ["reader", ...(lanes ? [] : transforms), "speed_limit", "slots", "wait_for_writer"]],
    [lanes ? "The writer's side (lanes)" : "The writer's side", [...(lanes ? transforms : []), "writer", "commit", "turn", "wait_for_reader"]],
  ];
  const section = card("Where the time went");
  for (const [title, names] of sides) {
    const parts = names.map((name) => run.parts.find((one) => one.part === name)).filter((one) => one && one.seconds > 0);
    const stack = make("div", "stack", null, ...parts.map((part) => {
      const bar = make("i");
      bar.style.width = 100 * part.share + "%";
      bar.style.background = `var(--${PART_COLOURS[part.part]})`;
      bar.title = `${part.words}: ${percent(part.share)}, ${time(part.seconds)}`;
      return bar;
    }));
    section.append(make("div", "facts", title), stack,
      legendOf(parts.map((part) => [`${part.words} ${percent(part.share)}`, PART_COLOURS[part.part]])));
  }
  section.append(make("p", "note", "Means over the tasks, as shares of the whole time of the run. Both sides work at the same time; what is left of a bar is neither."));
  return section;
}

function latencies(run) {
  const rows = [];
  const most = Math.max(1, ...run.stages.flatMap((stage) => stage.latencies || []).map((one) => one.max));
  for (const stage of run.stages) {
    for (const one of stage.latencies || []) {
      const micros = (what) => time(one[what] / 1e6);
      rows.push([stage.stage, one.name, grouped(one.count), ...["min", "p50", "p75", "p95", "p98", "p99", "p999", "max"].map(micros), spread(one, most)]);
    }
  }
  if (!rows.length) return null;
  const columns = [["stage"], ["latency"], ...["records", "least", "50 %", "75 %", "95 %", "98 %", "99 %", "99.9 %", "most"].map((title) => [title, true]),
    ["spread, logarithmic"]];
  return card("Latency of stages", table(columns, rows));
}

function dirty(run, id) {
  if (!run.causes.length) return null;
  const causes = [...run.causes].sort((a, b) => b.count - a.count);
  const section = card("Dirty records by cause",
    table([["side"], ["plugin"], ["cause"], ["records", true]], causes.map((one) => [one.side, one.plugin, one.cause, grouped(one.count)])));
  section.id = id("causes");
  return section;
}

function slowest(run, id) {
  if (!run.slowest.length) return null;
  const columns = [["task", true], ["split"], ["result"], ...["took", "CPU", "records", "bytes", "reading", "transforming", "writing", "waited for writer", "waited for reader"].map((title) => [title, true])];
  const rows = run.slowest.map((task) => [task.number + (task.attempt > 1 ? `, attempt ${task.attempt}` : ""), task.split, task.result,
    time(task.seconds), time(task.cpu_seconds), grouped(task.records), bytes(task.bytes), time(task.reading_seconds),
    time(task.transforming_seconds), time(task.writing_seconds), time(task.wait_for_writer_seconds), time(task.wait_for_reader_seconds)]);
  const failed = (place) => (["done", "open"].includes(run.slowest[place].result) ? "" : "failed");
  const title = run.tasks > run.slowest.length ? `The slowest ${run.slowest.length} of ${grouped(run.tasks)} tasks` : "Tasks, slowest first";
  const section = card(title, table(columns, rows, failed));
  section.id = id("slowest");
  return section;
}

function comparison(run, id) {
  if (!run.earlier) return null;
  const ratio = (now, before) => (before > 0 ? "× " + (now / before).toFixed(2) : "");
  const before = figuresOf(run.earlier);
  const rows = figuresOf(run).map(([, title, value, write], place) => [title, write(value), write(before[place][2]), ratio(value, before[place][2])]);
  const names = [...new Map([...run.parts, ...run.earlier.parts].map((part) => [part.part, part.words]))];
  for (const [name, words] of names) {
    const of = (parts) => parts.find((part) => part.part === name)?.seconds ?? 0;
    const [now, then] = [of(run.parts), of(run.earlier.parts)];
    if (now > 0 || then > 0) rows.push([words, time(now), time(then), ratio(now, then)]);
  }
  const section = card(`Compared with ${run.earlier.name}`, table([[""], ["this run", true], ["earlier", true], ["ratio", true]], rows));
  section.id = id("comparison");
  return section;
}

function settings(run) {
  const text = (title, tree) => card(title, make("pre", "", JSON.stringify(tree, null, 2)));
  return make("div", "pair", null, text("Settings", run.run.setting), text("How it ran", run.run.plan));
}

// What has to be drawn again when the page gets another width or other colours.
const drawn = [];
runs.forEach((run, place) => {
  const id = (name) => (place ? `${name}-${place}` : name);
  const sections = [header(run, id), figures(run, id), comparison(run, id), timeline(run, id), curves(run), waits(run), latencies(run),
    dirty(run, id), slowest(run, id), settings(run)];
  page.append(...sections.filter(Boolean));
});
document.title = [...new Set(runs.map((run) => run.run.job))].join(", ") + " – transship";
const redraw = () => drawn.forEach((draw) => draw());
redraw();
window.addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
page.dataset.drawn = runs.length;
