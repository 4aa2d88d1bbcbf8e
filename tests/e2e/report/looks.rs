//! How the page looks: colours that can be told apart, figures as people write them, curves with the values of the records, and what
//! pointing at the timeline tells.

use transship_tests::records::number;
use transship_tests::{Scratch, Value, json};

use super::browser::{Colours, evaluated, evaluated_in};
use super::{job, line_mut, page_of, recorded};

/// How well texts are told from what they lie on, as WCAG counts it: [what, ratio]; and the colour of the page. 4.5 is what small text should have.
const CONTRASTS: &str = r#"(() => {
    const light = (colour) => {
        const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => part / 255)
            .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element) => {
        const { backgroundColor } = getComputedStyle(element);
        return backgroundColor === "rgba(0, 0, 0, 0)" ? ground(element.parentElement) : backgroundColor;
    };
    const texts = ".result, h1, h2, .facts, .verdict, .message, .figure b, .figure span, th, td, .legend span, .note, summary";
    const ratios = [...document.querySelectorAll(texts)].map((element) => {
        const [one, other] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => b - a);
        return [`${element.tagName} ${element.className}`, (one + 0.05) / (other + 0.05)];
    });
    return { ratios, ground: ground(document.body) };
})()"#;

#[test]
fn every_text_can_be_read_in_light_and_in_dark_whatever_the_result() {
    let scratch = Scratch::new();
    let mut lines = recorded(&scratch, &job(3, "out"));
    let total = lines.iter_mut().find(|line| line["phase"] == "TASK_TOTAL").unwrap();
    (total["result"], total["message"]) = (json!("failed"), json!("it fell over"));
    let mut grounds = Vec::new();
    for result in ["done", "failed", "cancelled", "dirty_limit", "open"] {
        if result == "open" {
            lines.pop();
        } else {
            let end = line_mut(&mut lines, "end");
            (end["result"], end["message"], end["aborted_read"]) = (result.into(), json!("why"), json!(12));
        }
        page_of(&scratch, &lines);
        for colours in [Colours::Light, Colours::Dark] {
            let seen = evaluated_in(&scratch, "r.html", colours, CONTRASTS);
            let ratios = seen["ratios"].as_array().unwrap();
            assert!(ratios.len() > 50, "there are texts: {ratios:?}");
            let faint: Vec<&Value> = ratios.iter().filter(|text| text[1].as_f64().unwrap() < 4.5).collect();
            assert!(faint.is_empty(), "{result}, {colours:?}: {faint:?}");
            grounds.push(seen["ground"].clone());
        }
    }
    assert_ne!(grounds[0], grounds[1], "dark is another page than light");
}

#[test]
fn each_part_of_the_time_has_a_colour_of_its_own() {
    let scratch = Scratch::new();
    recorded(&scratch, &job(3, "out"));
    scratch.transship(["perf", "perf.jsonl", "--report", "r.html"]).run().succeeds();
    let inks = "[Object.values(PART_INKS), [...Object.values(PHASE_INKS), 'failed', 'open']] \
                .map((inks) => [...new Set(inks)].map(colour))";
    for colours in [Colours::Light, Colours::Dark] {
        let inks = evaluated_in(&scratch, "r.html", colours, inks);
        for all in inks.as_array().unwrap() {
            let mut all: Vec<&str> = all.as_array().unwrap().iter().map(|ink| ink.as_str().unwrap()).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert!(all.len() == count && !all.contains(&""), "{colours:?}: {all:?}");
        }
    }
}

#[test]
fn figures_are_rounded_before_they_get_their_unit() {
    let scratch = Scratch::new();
    recorded(&scratch, &job(1, "out"));
    scratch.transship(["perf", "perf.jsonl", "--report", "r.html"]).run().succeeds();
    let expected = [
        ("time(0)", "0 s"),
        ("time(1e-9)", "< 0.01 µs"),
        ("time(0.0000173)", "17.3 µs"),
        ("time(0.0009996)", "1.00 ms"),
        ("time(0.9994)", "999 ms"),
        ("time(0.9996)", "1.00 s"),
        ("time(119.994)", "119.99 s"),
        ("time(119.999)", "2 min 0 s"),
        ("time(179.6)", "3 min 0 s"),
        ("time(7260)", "2 h 1 min"),
        ("bytes(1023)", "1023 B"),
        ("bytes(1024)", "1.00 KB"),
        ("bytes(1048575)", "1.00 MB"),
        ("bytes(5 * 2 ** 30)", "5.00 GB"),
        ("bytes(3 * 2 ** 40)", "3.00 TB"),
        ("grouped(6001215)", "6,001,215"),
        ("grouped(999)", "999"),
        ("percent(0.0996)", "10 %"),
        ("[0, 0.0001, 0.0006].map(percent).join()", "0 %,< 0.1 %,0.1 %"),
        ("percent(0.0123)", "1.2 %"),
        ("counted(1, 'lane')", "1 lane"),
        ("counted(2, 'lane')", "2 lanes"),
        ("times(2.5)", "× 2.50"),
        ("times(2578.86)", "× 2,579"),
        ("times(0.001)", "× < 0.01"),
        ("[0, 2.5, 60, 90, 1200, 7200, 9000].map(mark).join()", "0 s,2.5 s,1 min,90 s,20 min,2 h,2 h 30 min"),
        ("moment(1796093292330869)", "2026-12-01 02:48:12 UTC"),
        // What is not known, or no number at all.
        ("[null, undefined, NaN, 'text'].map(bytes).join()", "–,–,–,–"),
        ("[time(null), grouped(undefined), percent(NaN), moment(1e30)].join()", "–,–,–,–"),
    ];
    let calls: Vec<&str> = expected.iter().map(|(call, _)| *call).collect();
    let told = evaluated(&scratch, "r.html", &format!("[{}]", calls.join(", ")));
    assert_eq!(told, json!(expected.map(|(_, text)| text)));
}

#[test]
fn curves_show_the_values_of_the_records() {
    let scratch = Scratch::new();
    let mut lines = recorded(&scratch, &job(3, "out"));
    lines.retain(|line| line["type"] != "second" && line["type"] != "dirty");
    let (run, begin) = (lines[0]["run"].clone(), number(&lines[0], "/start_micros"));
    let end = line_mut(&mut lines, "end");
    (end["micros"], end["read"], end["written"]) = (json!(begin + 3_500_000), json!(1000), json!(900));
    let place = lines.len() - 1;
    for (second, read, written, queued, fill) in [(1, 100, 40, 60, 0.25), (2, 400, 340, 60, 0.5), (3, 400, 400, 0, 0.0)]
    {
        lines.insert(place, json!({
            "type": "second", "run": run, "job": "job", "micros": begin + second * 1_000_000, "read_records": read, "read_bytes": 1,
            "written_records": written, "queued_records": queued, "queued_bytes": 1, "fill": fill, "open_tasks": 2,
            "tasks_known": 3, "tasks_done": 0, "wait_for_reader_nanos": 0, "wait_for_writer_nanos": 0,
        }));
    }
    lines[place..place + 3].sort_by_key(|line| number(line, "/micros"));
    page_of(&scratch, &lines);
    // The values that each chart tells at a place, as a hand would ask for them: from left to right.
    let point = r#"[...document.querySelectorAll(".curve")].map((curve, place) => {
        const [chart, over] = [charts.get(curve), curve.querySelector(".u-over")];
        return [0, 1, 2, 3].map((at) => {
            chart.setLegend({ idx: at });
            return [...curve.querySelectorAll(".u-value")].slice(1).map((value) => value.textContent).join("/");
        });
    })"#;
    let told = evaluated(&scratch, "r.html", point);
    let expected = json!([
        ["100/40", "300/300", "0/60", "1,200/1,000"],
        ["60", "60", "0", "0"],
        ["25 %", "50 %", "0 %", "0 %"],
        ["2", "2", "2", "0"],
    ]);
    assert_eq!(told, expected);
    let inked = "[...document.querySelectorAll('.curve canvas')].map((canvas) => \
                 canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part > 0))";
    assert_eq!(evaluated(&scratch, "r.html", inked), json!([true, true, true, true]), "and they are drawn");
}

#[test]
fn a_long_run_has_few_points_with_a_band_around_them() {
    let scratch = Scratch::new();
    let mut lines = recorded(&scratch, &job(1, "out"));
    lines.retain(|line| line["type"] != "second");
    let (run, begin) = (lines[0]["run"].clone(), number(&lines[0], "/start_micros"));
    let end = lines.pop().unwrap();
    for second in 1..=5000 {
        lines.push(json!({
            "type": "second", "run": run, "job": "job", "micros": begin + second * 1_000_000, "read_records": second * 10, "read_bytes": 1,
            "written_records": second * 10, "queued_records": second % 3, "queued_bytes": 1, "fill": 0.5, "open_tasks": 2,
            "tasks_known": 3, "tasks_done": 0, "wait_for_reader_nanos": 0, "wait_for_writer_nanos": 0,
        }));
    }
    lines.push(end);
    page_of(&scratch, &lines);
    let queued = "[runs[0].curves.at.length, runs[0].curves.queued.least[0], runs[0].curves.queued.mean[0], runs[0].curves.queued.most[0]]";
    assert_eq!(evaluated(&scratch, "r.html", queued), json!([1667, 0, 1, 2]));
    let bands = "[...document.querySelectorAll('.curve')].map((curve) => charts.get(curve).bands.length)";
    assert_eq!(evaluated(&scratch, "r.html", bands), json!([2, 1, 1, 1]));
}

#[test]
fn pointing_at_a_task_tells_what_it_was_and_dragging_looks_closer() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(1, "out"));
    let run = scratch.transship(["run", "job.json", "--json", "--report", "r.html"]).run().succeeds();
    let task = &run.summary()["tasks"][0];
    // What a hand does, after the page has drawn itself: the job lies in the first row, the only task in the second.
    let hand = r#"(() => {
        const canvas = document.querySelector("canvas.timeline"), box = canvas.getBoundingClientRect();
        const height = box.height / 2, attempt = runs[0].attempts[0], all = rowsOf(runs[0]).end;
        const middle = (attempt.at + attempt.took / 2) / all;
        const at = (kind, share, row) => canvas.dispatchEvent(new MouseEvent(kind, {
            clientX: box.left + MARGIN + share * (box.width - MARGIN), clientY: box.top + (row + 0.5) * height, bubbles: true }));
        const before = canvas.toDataURL();
        at("mousemove", middle, 1);
        const task = hover.textContent;
        at("mousemove", middle, 0);
        const job = hover.textContent;
        at("mousedown", 0.4, 1); at("mousemove", 0.6, 1); at("mouseup", 0.6, 1);
        const closer = canvas.toDataURL() !== before;
        at("dblclick", 0.5, 1);
        return { task, job, closer, asBefore: canvas.toDataURL() === before };
    })()"#;
    let told = evaluated(&scratch, "r.html", hand);
    let text = told["task"].as_str().unwrap();
    assert!(text.starts_with(task["split"].as_str().unwrap()), "{text}");
    let records = number(task, "/counts/read").to_string();
    assert!(text.replace(',', "").contains(&format!("{records} records")), "{records} of {text}");
    assert!(told["job"].as_str().unwrap().starts_with("JOB_SCHEDULE"), "{told}");
    assert_eq!(
        (&told["closer"], &told["asBefore"]),
        (&json!(true), &json!(true)),
        "it was drawn closer, and as before"
    );
}
