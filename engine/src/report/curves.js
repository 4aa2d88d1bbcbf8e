// What was sampled each second, as curves. Each point of a long run is the mean of several seconds, with the least and the most of them
// as a band around it.
"use strict";

// [title, how a value is written, [label, curve, ink] of each line that there may be, whether it is a share]
const CHARTS = [
  ["Records a second", grouped, [["read", "read", "read"], ["written", "written", "write"]]],
  ["Records that wait", grouped, [["in channels", "queued", "transform"], ["waiting for their key", "waiting", "lookup"]]],
  ["Fill of the channels", percent, [["fill", "fill", "transform"]], true],
  ["Open tasks", grouped, [["open", "open_tasks", "commit"]]],
];

// Where the axis of time has marks: round seconds, minutes and hours.
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400,
  172800, 604800, 2592000];

function mark(seconds) {
  if (seconds < 60 || seconds % 60) return Number(seconds.toFixed(2)) + " s";
  const minutes = seconds / 60, hours = Math.floor(minutes / 60);
  return [hours && `${hours} h`, (minutes % 60 || !hours) && `${minutes % 60} min`].filter(Boolean).join(" ");
}

function curves(run, drawn) {
  const { at, seconds_a_point: perPoint } = run.curves;
  const sections = CHARTS.map(([title, write, lines, isShare]) => {
    const place = make("div", "curve");
    if (at.length < 2) {
      place.append(make("div", "facts", "the run was too short to be looked at twice: this is sampled each second"));
    } else {
      drawn.push(chartIn(place, run.curves, write, lines.filter(([, name]) => run.curves[name]), isShare));
    }
    return card(title, place);
  });
  // One for all of a run that was too short.
  const shown = make("div", "curves", null, ...(at.length < 2 ? sections.slice(0, 1) : sections));
  if (perPoint > 1) shown.append(make("p", "note", `Each point is the mean of ${perPoint} samples; the band around it is from the least to the most of them.`));
  return shown;
}

// The charts that are drawn, by their places.
const charts = new Map();

// Draws a chart there, when called.
function chartIn(place, all, write, lines, isShare) {
  return () => {
    if (!place.clientWidth) return;
    charts.get(place)?.destroy();
    const stroke = colour("line");
    const axis = { stroke: colour("faint"), grid: { stroke, width: 1 }, ticks: { stroke } };
    const told = (write) => (_, value) => (value === null || value === undefined ? "" : write(value));
    const columns = [all.at], series = [{ label: "at", value: told((value) => time(value)) }], bands = [];
    for (const [label, name, ink] of lines) {
      const { mean, least, most } = all[name];
      columns.push(mean);
      series.push({ label, stroke: colour(ink), width: 1.5, value: told(write) });
      if (!least) continue;
      for (const edge of [most, least]) {
        columns.push(edge);
        series.push({ label: label + (edge === most ? ", most" : ", least"), stroke: "transparent", points: { show: false }, value: told(write) });
      }
      bands.push({ series: [columns.length - 2, columns.length - 1], fill: colour(ink) + "40" });
    }
    const range = isShare ? [0, 1] : (_, __, most) => [0, most > 0 ? most * 1.05 : 1];
    const values = (value) => (isShare ? Math.round(100 * value) + " %" : value < 10 ? value : grouped(value));
    // Without a hand there is no value to tell.
    const point = (chart) => chart.root.classList.toggle("pointed", typeof chart.legend.idx === "number");
    charts.set(place, new uPlot({
      hooks: { setLegend: [point] },
      width: place.clientWidth, height: 190, scales: { x: { time: false }, y: { range } }, series, bands,
      axes: [{ ...axis, incrs: STEPS, values: (_, all) => all.map(mark) }, { ...axis, size: 80, values: (_, all) => all.map(values) }],
    }, columns, place));
  };
}
