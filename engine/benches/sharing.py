#!/usr/bin/env python3
"""Measures how small tables fare beside a huge one in the same job, and what that costs the whole.

Needs a release build (`cargo build --release`). The tables are made by transship itself on the first run.

    engine/benches/sharing.py [--runs 5] [--small 500000] [--large 20000000] [--folder target/bench] [--program FILE] [csv sqlite]

One job has 21 entries, the huge table first, on two channels. Printed are, as medians of the runs with the smallest and the largest:
- small: when the last of the small tables was done, against the time that the small ones take alone on one of the two slots;
- whole: the time for all, against the same job with its entries one after another (--in-order).
The three runs of each comparison follow each other, so that what else runs on the machine hits all of them.
"""
import argparse, datetime, json, os, shutil, statistics, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALL_TABLES = 20
NAMES = ["id", "amount", "name"]


class Bench:
    def __init__(self, asked):
        self.asked, self.folder = asked, os.path.join(asked.folder, "sharing")
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tables(self):
        return [("large", self.asked.large)] + [(f"small{number}", self.asked.small) for number in range(SMALL_TABLES)]

    def run(self, content, *options):
        """Runs these entries; the seconds it took and the summaries."""
        job = self.path("job.json")
        with open(job, "w") as file:
            json.dump({"job": {"setting": {"speed": {"channel": 2}, "contents": "all"}, "content": content}}, file)
        began, started = datetime.datetime.now(datetime.timezone.utc), time.monotonic()
        run = subprocess.run([self.asked.program, "run", "--quiet", "--json", *options, job], capture_output=True, text=True)
        wall = time.monotonic() - started
        if run.returncode != 0:
            sys.exit(run.stderr)
        decoder, text, summaries = json.JSONDecoder(), run.stdout.strip(), []
        while text:
            summary, end = decoder.raw_decode(text)
            summaries.append(summary)
            text = text[end:].lstrip()
        return wall, began, summaries

    def make(self):
        columns = [{"name": "id", "random": "0, 1000000000", "type": "long"}, {"name": "amount", "random": "0, 100000", "type": "double"},
                   {"name": "name", "random": "8, 24", "type": "string"}]
        for name, rows in self.tables():
            if not os.path.exists(self.path(f"{name}.{rows}.csv")):
                reader = {"name": "streamreader", "parameter": {"sliceRecordCount": rows, "column": columns}}
                self.run([{"reader": reader, "writer": self.csv_writer(f"{name}.new")}])
                os.rename(self.written(f"{name}.new"), self.path(f"{name}.{rows}.csv"))

    def csv_reader(self, name, rows):
        columns = [{"index": 0, "type": "long", "name": "id"}, {"index": 1, "type": "double", "name": "amount"},
                   {"index": 2, "type": "string", "name": "name"}]
        return {"name": "txtfilereader", "parameter": {"path": self.path(f"{name}.{rows}.csv"), "column": columns}}

    def csv_writer(self, name):
        return {"name": "txtfilewriter", "parameter": {"path": self.path("out"), "fileName": name, "writeMode": "truncate"}}

    def written(self, name):
        found = [file for file in os.listdir(self.path("out")) if file.startswith(name)]
        return os.path.join(self.path("out"), found[0])

    def sqlite_writer(self, name):
        table = "create table if not exists t (id integer, amount real, name text)"
        return {"name": "sqlitewriter", "parameter": {"path": self.path(f"out/{name}.db"), "table": "t", "column": NAMES, "preSql": [table]}}

    def entries(self, kind):
        writer = self.csv_writer if kind == "csv" else self.sqlite_writer
        return [{"reader": self.csv_reader(name, rows), "writer": writer(name)} for name, rows in self.tables()]

    def clear(self):
        shutil.rmtree(self.path("out"), ignore_errors=True)
        os.makedirs(self.path("out"))

    def compare(self, kind):
        small, whole, figures = [], [], []
        for _ in range(self.asked.runs):
            entries = self.entries(kind)
            self.clear()
            alone, _, _ = self.run(entries[1:], "--slots", "1")
            self.clear()
            shared, began, summaries = self.run(entries)
            ends = [datetime.datetime.fromisoformat(summary["ended"]) for summary in summaries[1:]]
            done = max((end - began).total_seconds() for end in ends)
            self.clear()
            plain, _, _ = self.run(entries, "--in-order")
            small.append(done / alone)
            whole.append(shared / plain)
            figures.append((alone, done, shared, plain))
        alone, done, shared, plain = (statistics.median(values) for values in zip(*figures))
        print(f"{kind:<7} small: {spread(small)} ({done:.1f} s, alone on one slot {alone:.1f} s)   "
              f"whole: {spread(whole)} ({shared:.1f} s, one after another {plain:.1f} s)", flush=True)


def spread(ratios):
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["csv", "sqlite"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--small", type=int, default=500_000)
    parser.add_argument("--large", type=int, default=20_000_000)
    parser.add_argument("--folder", default=os.path.join(ROOT, "target", "bench"))
    parser.add_argument("--program", default=os.path.join(ROOT, "target", "release", "transship"))
    bench = Bench(parser.parse_args())
    bench.clear()
    bench.make()
    print(f"{SMALL_TABLES} tables of {bench.asked.small:,} rows and one of {bench.asked.large:,}, two channels; medians of {bench.asked.runs}")
    for kind in bench.asked.kinds:
        bench.compare(kind)
    bench.clear()


if __name__ == "__main__":
    main()
