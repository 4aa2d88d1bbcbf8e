#!/usr/bin/env python3
"""Measures whole jobs against named references in the same run, and prints ratios.

Needs: a release build (`cargo build --release`), `sqlite3`, and for the comparison of CSV files `pip install polars duckdb`.
The data is TPC-H's lineitem: `cargo install tpchgen-cli` (or `pip install tpchgen-cli`) makes it on the first run.

    engine/benches/systems.py [--runs 3] [--scale 1] [--folder target/bench] [NAME...]

Each run of a benchmark runs all its contestants one after another, in turn; the table shows medians. CPU is user and system
time of the process and its children, memory the largest resident set.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "target", "release", "transship")
COLUMNS = ("l_orderkey l_partkey l_suppkey l_linenumber l_quantity l_extendedprice l_discount l_tax l_returnflag l_linestatus "
           "l_shipdate l_commitdate l_receiptdate l_shipinstruct l_shipmode l_comment").split()


def measure(command, stdout=subprocess.DEVNULL, stdin=None):
    """Runs a command; wall and CPU seconds and the largest resident set in MB."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, stdin=stdin)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} failed:\n{error.decode(errors='replace')}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Bench:
    def __init__(self, folder, scale, runs):
        self.folder, self.scale, self.runs = folder, scale, runs
        os.makedirs(folder, exist_ok=True)
        self.csv = self.path(f"sf{scale}/lineitem.csv")
        self.database = self.path(f"sf{scale}/lineitem.db")

    def path(self, name):
        return os.path.join(self.folder, name)

    def job(self, reader, writer, channels):
        path = self.path("job.json")
        with open(path, "w") as file:
            json.dump({"job": {"setting": {"speed": {"channel": channels}}, "content": [{"reader": reader, "writer": writer}]}}, file)
        return [PROGRAM, "run", "--quiet", path]

    def exact_csv_reader(self):
        """DataX drops blanks around unquoted fields; none of the others do."""
        return {"name": "txtfilereader", "parameter": {"path": self.csv, "skipHeader": True, "csvReaderConfig": {"trimWhitespace": False}}}

    def need_csv(self):
        if not os.path.exists(self.csv):
            os.makedirs(os.path.dirname(self.csv), exist_ok=True)
            tool = shutil.which("tpchgen-cli") or sys.exit("cargo install tpchgen-cli, or pip install tpchgen-cli")
            subprocess.run([tool, "csv", "-s", str(self.scale), "--tables", "lineitem", "--output-dir", os.path.dirname(self.csv)],
                           check=True, stdout=subprocess.DEVNULL)
        self.rows = sum(chunk.count(b"\n") for chunk in iter(lambda f=open(self.csv, "rb"): f.read(1 << 24), b"")) - 1

    def need_database(self):
        self.need_csv()
        if not os.path.exists(self.database):
            self.import_with_sqlite3(self.database)

    def import_with_sqlite3(self, database):
        table = f"create table lineitem ({', '.join(f'{name} text' for name in COLUMNS)});"
        return ["sqlite3", database, "-cmd", table, "-cmd", ".mode csv", f".import --skip 1 {self.csv} lineitem"]

    def compare(self, title, records, contestants):
        """Contestants: (name, function that prepares and returns command and stdout path)."""
        results = {name: [] for name, _ in contestants}
        for _ in range(self.runs):
            for name, prepare in contestants:
                command, out = prepare()
                if out:
                    with open(out, "wb") as stdout:
                        results[name].append(measure(command, stdout))
                else:
                    results[name].append(measure(command))
        print(f"\n{title}")
        print(f"  {'':26} {'wall s':>8} {'CPU s':>8} {'MB':>6} {'records/s':>12} {'CPU ns/record':>14} {'wall / transship':>17}")
        medians = {name: tuple(statistics.median(run[i] for run in runs) for i in range(3)) for name, runs in results.items()}
        ours = medians["transship"][0]
        for name, (wall, cpu, memory) in medians.items():
            print(f"  {name:26} {wall:8.3f} {cpu:8.3f} {memory:6.0f} {records / wall:12,.0f} {cpu / records * 1e9:14.0f} {wall / ours:17.2f}")
        sys.stdout.flush()

    def remove(self, *names):
        for name in names:
            path = self.path(name)
            shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)

    # --- the benchmarks

    def stream(self):
        records = 10_000_000
        columns = [{"type": "long", "random": "1,1000000"}, {"type": "long", "random": "1,9"}, {"type": "double", "random": "0,1000"},
                   {"type": "bool", "random": "1,1"}, {"type": "string", "random": "8,8"}, {"type": "string", "value": "a constant"},
                   {"type": "date", "random": "2020-01-01 00:00:00,2026-01-01 00:00:00"}, {"type": "bytes", "random": "8,8"},
                   {"type": "long", "value": "42"}, {"type": "double", "value": "3.14"}]
        def ours():
            reader = {"name": "streamreader", "parameter": {"column": columns, "sliceRecordCount": records}}
            return self.job(reader, {"name": "streamwriter", "parameter": {"print": False}}, 1), None
        self.compare(f"stream to stream, {records:,} records of 10 mixed columns, one channel, nothing printed", records, [("transship", ours)])

    def csv_to_csv(self):
        self.need_csv()
        reader = self.exact_csv_reader()
        def ours():
            self.remove("out")
            writer = {"name": "txtfilewriter", "parameter": {"path": self.path("out"), "fileName": "lineitem", "fileFormat": "csv",
                                                             "writeMode": "truncate", "header": COLUMNS}}
            return self.job(reader, writer, 2), None
        contestants = [("transship", ours), ("cat (the limit)", lambda: (["cat", self.csv], self.path("cat.csv")))]
        polars = f"import polars as p; p.scan_csv({self.csv!r}, infer_schema=False).sink_csv({self.path('polars.csv')!r})"
        duckdb = (f"import duckdb; duckdb.sql(\"copy (select * from read_csv('{self.csv}', all_varchar=true, header=true)) "
                  f"to '{self.path('duckdb.csv')}' (header)\")")
        for name, script in (("polars", polars), ("duckdb", duckdb)):
            if subprocess.run([sys.executable, "-c", f"import {name}"], stderr=subprocess.DEVNULL).returncode == 0:
                contestants.append((f"{name}, all text", lambda script=script: ([sys.executable, "-c", script], None)))
            else:
                print(f"{name} is left out: pip install {name}")
        self.compare(f"CSV to CSV, lineitem, {self.rows:,} records, all columns as text", self.rows, contestants)
        self.remove("out", "cat.csv", "polars.csv", "duckdb.csv")

    def csv_to_sqlite(self):
        self.need_csv()
        reader = self.exact_csv_reader()
        def ours():
            self.remove("ours.db")
            writer = {"name": "sqlitewriter", "parameter": {"path": self.path("ours.db"), "table": "lineitem", "column": COLUMNS,
                                                            "createTable": True}}
            return self.job(reader, writer, 1), None
        def theirs():
            self.remove("theirs.db")
            return self.import_with_sqlite3(self.path("theirs.db")), None
        self.compare(f"CSV to SQLite, lineitem, {self.rows:,} records", self.rows, [("transship", ours), ("sqlite3 .import", theirs)])
        self.remove("ours.db", "theirs.db")

    def sqlite_to_csv(self):
        self.need_csv()
        if not os.path.exists(self.database):
            measure(self.import_with_sqlite3(self.database))
        def ours():
            self.remove("out")
            reader = {"name": "sqlitereader", "parameter": {"path": self.database, "table": "lineitem", "column": ["*"]}}
            writer = {"name": "txtfilewriter", "parameter": {"path": self.path("out"), "fileName": "lineitem", "fileFormat": "csv",
                                                             "writeMode": "truncate"}}
            return self.job(reader, writer, 2), None
        theirs = lambda: (["sqlite3", "-csv", self.database, "select * from lineitem"], self.path("theirs.csv"))
        self.compare(f"SQLite to CSV, lineitem, {self.rows:,} records", self.rows, [("transship", ours), ("sqlite3 -csv", theirs)])
        self.remove("out", "theirs.csv")

    def ten_rows(self):
        with open(self.path("ten.csv"), "w") as file:
            file.writelines(f"{number},name {number}\n" for number in range(10))
        def ours():
            self.remove("ten.db")
            reader = {"name": "txtfilereader", "parameter": {"path": self.path("ten.csv")}}
            writer = {"name": "sqlitewriter", "parameter": {"path": self.path("ten.db"), "table": "ten", "column": ["id", "name"],
                                                            "createTable": True}}
            return self.job(reader, writer, 2), None
        runs, self.runs = self.runs, max(self.runs, 11)
        self.compare("ten records from CSV to SQLite, start to finish", 10, [("transship", ours)])
        self.runs = runs


def main():
    names = ["stream", "csv_to_csv", "csv_to_sqlite", "sqlite_to_csv", "ten_rows"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--folder", default=os.path.join(ROOT, "target", "bench"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all by default")
    arguments = parser.parse_args()
    if not os.path.exists(PROGRAM):
        sys.exit("cargo build --release comes first")
    bench = Bench(os.path.abspath(arguments.folder), arguments.scale, arguments.runs)
    for name in arguments.names or names:
        if name not in names:
            sys.exit(f"there is no benchmark {name}; there are {', '.join(names)}")
        getattr(bench, name)()


if __name__ == "__main__":
    main()
