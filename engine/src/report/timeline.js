// What happened when: the phases of the job itself, and the attempts at tasks on their slots.
"use strict";

const hover = document.getElementById("hover");

// Attempts on rows: one of each slot, and as many more as lanes work at once; above them the job itself.
function rowsOf(run) {
  const slots = [...new Set(run.attempts.map((attempt) => attempt.slot).filter((slot) => slot !== null))].sort((a, b) => a - b);
  const places = new Map(slots.map((slot, place) => [slot, place]));
  const rows = slots.map((slot) => ({ name: "slot " + slot, attempts: [] }));
  const end = Math.max(1, run.until);
  for (const attempt of [...run.attempts].sort((a, b) => a.at - b.at)) {
    attempt.until = attempt.at + (attempt.took ?? Math.max(0, end - attempt.at));
    let row = rows[places.get(attempt.slot)];
    if (attempt.slot === null) {
      row = rows.slice(slots.length).find((row) => row.attempts.at(-1).until <= attempt.at);
      if (!row) rows.push(row = { name: "lane " + (rows.length - slots.length), attempts: [] });
    }
    row.attempts.push(attempt);
  }
  const lanes = rows.length - slots.length;
  if (run.job.length) rows.unshift({ name: "job", attempts: [] });
  return { rows, slots: slots.length, lanes, end };
}

const PHASE_INKS = {
  JOB_INIT: "prepare", JOB_PREPARE: "prepare", JOB_SCHEDULE: "move", JOB_COMMIT: "commit", JOB_POST: "after", JOB_DESTROY: "release",
  READ_TASK_INIT: "open-source", READ_TASK_PREPARE: "open-source", READ_TASK_DATA: "read", READ_TASK_POST: "read", READ_TASK_DESTROY: "read",
  WRITE_TASK_INIT: "open-target", WRITE_TASK_PREPARE: "open-target", WRITE_TASK_DATA: "write", WRITE_TASK_POST: "commit",
  WRITE_TASK_DESTROY: "write",
};
const TIMELINE_LEGEND = [["making ready", "prepare"], ["records move", "move"], ["opening the source", "open-source"], ["reading", "read"],
  ["opening the target", "open-target"], ["writing", "write"], ["committing", "commit"], ["after (post)", "after"], ["releasing", "release"],
  ["failed or cancelled", "failed"], ["not ended", "open"]];
const TIMELINE_INKS = [...new Set([...Object.values(PHASE_INKS), "failed", "open", "faint", "line", "card"])];
// Narrower attempts are one block, without phases.
const PHASES_FROM = 24;
const MARGIN = 58;
// Between rows.
const GAP = 2;

function timeline(run, id, drawn) {
  const { rows, slots, lanes, end } = rowsOf(run);
  if (!rows.length) return card("What happened when", make("div", "facts", "no task has begun"));
  const height = Math.max(5, Math.min(26, Math.floor(600 / rows.length)));
  const failed = run.attempts.filter((attempt) => isUnsuccessful(attempt.result)).length;
  const note = make("p", "note", `${counted(run.attempts.length, "attempt")} on ${counted(slots, "slot")}` +
    (lanes ? ` and ${counted(lanes, "lane")}` : "") + `, ${grouped(failed)} failed or cancelled. ` +
    "Drag over a stretch to look closer, double-click to see all.");
  note.id = id("timeline-note");
  const canvas = make("canvas", "timeline"), axis = make("canvas", "axis");
  canvas.style.height = rows.length * (height + GAP) + "px";
  const view = { from: 0, to: end };
  let dragged = null;
  const inks = {};

  // A pen for a canvas in its size on the screen.
  function penOf(canvas) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = inks.faint;
    return pen;
  }

  function draw() {
    const width = canvas.clientWidth;
    if (!width) return;
    for (const name of TIMELINE_INKS) inks[name] = colour(name);
    const pen = penOf(canvas);
    const x = (micros) => MARGIN + (micros - view.from) / (view.to - view.from) * (width - MARGIN);
    const onePixel = (view.to - view.from) / (width - MARGIN);
    const block = (ink, from, to, top, tall) => {
      const left = Math.max(MARGIN, x(from)), right = Math.min(width, x(to));
      if (right < MARGIN || left > width) return;
      pen.fillStyle = inks[ink];
      pen.fillRect(left, top, Math.max(right - left, 0.75), tall);
    };
    const phase = ([name, from, took], top, tall) => block(PHASE_INKS[name] || "faint", from, from + took, top, tall);

    function attemptOn(attempt, top, turn) {
      const wide = (attempt.until - attempt.at) / onePixel;
      // Neighbours that are too narrow for a gap are told apart by their strength.
      pen.globalAlpha = wide < 3 && turn % 2 ? 0.65 : 1;
      if (attempt.result === "open") return block("open", attempt.at, attempt.until, top, height);
      const reads = attempt.parts.some(([name]) => name.startsWith("READ")) || !attempt.parts.length;
      const writes = attempt.parts.some(([name]) => name.startsWith("WRITE"));
      // The reader above the writer; all of the row for what has one of them only.
      const tall = reads && writes ? height / 2 : height, below = top + height - tall;
      if (wide >= PHASES_FROM && attempt.parts.length) {
        block("line", attempt.at, attempt.until, top, height);
        for (const part of attempt.parts) phase(part, part[0].startsWith("READ") ? top : below, tall);
        pen.fillStyle = inks.card;
        pen.fillRect(x(attempt.until) - 1, top, 1, height);
        return;
      }
      const gap = wide > 3 ? onePixel : 0;
      if (reads) block("read", attempt.at, attempt.until - gap, top, tall);
      if (writes) block("write", attempt.at, attempt.until - gap, below, tall);
    }

    const step = Math.max(1, Math.ceil(12 / (height + GAP)));
    rows.forEach((row, place) => {
      const top = place * (height + GAP);
      pen.fillStyle = inks.faint;
      if (place % step === 0) pen.fillText(row.name, 0, top + Math.min(height, 17) / 2 + 4);
      if (row.name === "job") run.job.forEach((part) => phase(part, top, height));
      row.attempts.forEach((attempt, turn) => { if (!isUnsuccessful(attempt.result)) attemptOn(attempt, top, turn); });
      pen.globalAlpha = 1;
      // Last, and never too narrow to be seen: of thousands these are looked for.
      for (const attempt of row.attempts.filter((attempt) => isUnsuccessful(attempt.result))) {
        block("failed", attempt.at, Math.max(attempt.until, attempt.at + 2 * onePixel), top, height);
      }
    });
    // As wide as what can be seen above it, without a scroll bar.
    axis.style.width = width + "px";
    const below = penOf(axis);
    const marks = width < 700 ? 3 : 6;
    for (let mark = 0; mark <= marks; mark++) {
      const micros = view.from + (view.to - view.from) * mark / marks;
      below.textAlign = mark === marks ? "right" : mark ? "center" : "left";
      below.fillText(time(micros / 1e6), x(micros), 14);
    }
    if (dragged) {
      pen.globalAlpha = 0.25;
      pen.fillStyle = inks.faint;
      pen.fillRect(dragged.from, 0, dragged.to - dragged.from, canvas.clientHeight);
    }
  }

  const micros = (x) => view.from + (x - MARGIN) / (canvas.clientWidth - MARGIN) * (view.to - view.from);
  // What lies at a place of the canvas: the texts to tell.
  function told(x, y) {
    const row = rows[Math.floor(y / (height + GAP))];
    const at = micros(x), near = 2 / (canvas.clientWidth - MARGIN) * (view.to - view.from);
    if (!row || x < MARGIN) return [];
    const holds = (from, until) => from - near <= at && at <= until + near;
    if (row.name === "job") {
      // The shortest, since the others are easily found.
      const parts = run.job.filter(([, from, took]) => holds(from, from + took)).sort((a, b) => a[2] - b[2]);
      return parts.slice(0, 1).flatMap(([name, from, took]) => [name, `${time(took / 1e6)} from ${time(from / 1e6)}`]);
    }
    const attempt = row.attempts.find((one) => holds(one.at, one.until));
    if (!attempt) return [];
    return [attempt.split, `task ${attempt.number}, attempt ${attempt.attempt}: ${resultText(attempt.result)}`,
      `${time((attempt.until - attempt.at) / 1e6)} from ${time(attempt.at / 1e6)}`,
      attempt.result === "open" ? "how many records is told when it ends" : `${grouped(attempt.records ?? 0)} records, ${bytes(attempt.bytes ?? 0)}`,
      attempt.message];
  }

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
    const lines = told(event.offsetX, event.offsetY);
    hover.hidden = !lines.length;
    if (!lines.length) return;
    hover.textContent = lines.filter(Boolean).join("\n");
    hover.style.left = Math.max(0, Math.min(event.clientX + 14, window.innerWidth - 430)) + "px";
    hover.style.top = event.clientY + 16 + "px";
  });
  drawn.push(draw);
  return card("What happened when", make("div", "rows", null, canvas), axis, legendOf(TIMELINE_LEGEND), note);
}
