// What is told in rows and columns.
"use strict";

// Not every distribution that is recorded tells its edges.
const mostOf = (one) => one.max ?? one.p99;

// The distribution of a latency, on a scale where each step is ten times the one before: all of it, and stronger from 50 % to 99 %.
function spread(one, most) {
  const at = (micros) => 100 * Math.log10(1 + (micros ?? 0)) / Math.log10(1 + most);
  const bar = make("div", "spread");
  for (const [from, to] of [[one.min, mostOf(one)], [one.p50, one.p99]]) {
    const part = make("i");
    part.style.left = at(from) + "%";
    part.style.width = Math.max(0.5, at(to) - at(from)) + "%";
    bar.append(part);
  }
  return bar;
}

function latencies(run) {
  const all = run.stages.flatMap((stage) => (stage.latencies || []).map((latency) => [stage.stage, latency]));
  if (!all.length) return null;
  const most = Math.max(1, ...all.map(([, one]) => mostOf(one)));
  const points = ["min", "p50", "p75", "p95", "p98", "p99", "p999", "max"];
  const rows = all.map(([stage, one]) =>
    [stage, one.name, grouped(one.count), ...points.map((point) => time(one[point] / 1e6)), spread(one, most)]);
  const columns = [["stage"], ["latency"], ...numbers("records", "least", "50 %", "75 %", "95 %", "98 %", "99 %", "99.9 %", "most"),
    ["spread, logarithmic"]];
  return card("Latency of stages", table(columns, rows));
}

// Why records were dirty, and where they are.
function dirty(run, id) {
  if (!run.causes.length && !run.dirty_file) return null;
  const causes = [...run.causes].sort((a, b) => b.count - a.count);
  const section = card("Dirty records by cause",
    table([["side"], ["plugin"], ["cause"], ["records", true]], causes.map((one) => [one.side, one.plugin, one.cause, grouped(one.count)])));
  if (run.dirty_file) section.append(make("p", "note", `They are kept in ${run.dirty_file}`));
  section.id = id("causes");
  return section;
}

// [title of a column, what of an attempt, how it is written]
const OF_ATTEMPTS = [["took", "seconds", time], ["CPU", "cpu_seconds", time], ["records", "records", grouped], ["bytes", "bytes", bytes]];
const OF_SPLITS = [...OF_ATTEMPTS, ["opening", "opening_seconds", time], ["reading", "reading_seconds", time],
  ["transforming", "transforming_seconds", time], ["writing", "writing_seconds", time], ["waited for a slot", "wait_for_slot_seconds", time],
  ["waited for the writer", "wait_for_writer_seconds", time], ["waited for the reader", "wait_for_reader_seconds", time]];
const OF_LANES = [...OF_ATTEMPTS, ["transforming", "transforming_seconds", time], ["writing", "writing_seconds", time],
  ["waited for the reader", "wait_for_reader_seconds", time]];

// Some of the attempts, of so many.
function attempts(name, { shown, count }, figures, id) {
  if (!shown.length) return null;
  const columns = [["", true], [name === "lanes" ? "lane" : "split"], ["result"], ...numbers(...figures.map(([title]) => title))];
  const rows = shown.map((one) => {
    // What an attempt has done is told when it ends.
    const told = ([, of, write]) => (one.result === "open" && of !== "seconds" ? UNKNOWN : write(one[of]));
    const split = make("div", "text", one.split);
    if (one.message) split.append(make("div", "message", one.message));
    return [one.number + (one.attempt > 1 ? `, attempt ${one.attempt}` : ""), split, make("span", resultClass(one.result), resultText(one.result)), ...figures.map(told)];
  });
  const failed = (place) => (isUnsuccessful(shown[place].result) ? "unsuccessful" : "");
  const first = count > shown.length ? `the first ${shown.length} of ${grouped(count)}` : counted(count, "attempt");
  const order = shown[0].result === "failed" ? "those that failed, then the slowest" : "slowest first";
  const section = card(`${name === "lanes" ? "Lanes" : "Tasks"}, ${order} (${first})`, table(columns, rows, failed));
  section.id = id(name);
  return section;
}

function times(ratio) {
  if (ratio > 0 && ratio < 0.01) return "× < 0.01";
  return "× " + (ratio < 100 ? ratio.toFixed(2) : grouped(ratio));
}

function comparison(run, id) {
  const { earlier } = run;
  if (!earlier) return null;
  const ratio = (now, before) => (now !== null && before > 0 ? times(now / before) : "");
  const before = figuresOf(earlier);
  const rows = figuresOf(run).map(({ title, value, write }, place) =>
    [title, write(value), write(before[place].value), ratio(value, before[place].value)]);
  const names = new Map([...run.parts, ...earlier.parts].map((part) => [part.part, part.words]));
  for (const [name, words] of names) {
    const of = (parts) => parts.find((part) => part.part === name)?.seconds ?? 0;
    const [now, then] = [of(run.parts), of(earlier.parts)];
    if (now > 0 || then > 0) rows.push([words, time(now), time(then), ratio(now, then)]);
  }
  const told = (which, name, { ending, verdict }) =>
    make("div", "facts", `${which}: run ${name}, ${ending}${verdict ? "; " + verdict : ""}`);
  const section = card(`Compared with ${earlier.title} of ${moment(earlier.start_micros)}`,
    told("this run", run.run.run, run), told("earlier", earlier.run, earlier),
    table([[""], ...numbers("this run", "earlier", "ratio")], rows));
  section.id = id("comparison");
  return section;
}

// All entries at a glance, where there are several; `look` shows one.
function overview(entries, look) {
  const columns = [["entry"], ["from → to"], ["result"], ...numbers("elapsed", "records read", "written", "dirty", "read a second"), [""]];
  const rows = entries.map(({ run, place }) => {
    const link = make("a", "text", run.title);
    link.href = `#entry-${place}`;
    link.addEventListener("click", () => look(place));
    const figures = Object.fromEntries(figuresOf(run).map((figure) => [figure.name, figure.write(figure.value)]));
    // What to try is told with the entry itself.
    const verdict = (run.verdict || "").split(";")[0];
    return [link, make("div", "text", pathOf(run)), ending(run), figures.elapsed, figures["records-read"],
      figures["records-written"], figures.dirty, figures["records-per-second"],
      make("div", "said" + (run.message ? " message" : ""), run.message || verdict)];
  });
  const section = card(`${grouped(entries.length)} entries`, table(columns, rows));
  section.id = "overview";
  return section;
}
