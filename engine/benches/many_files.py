#!/usr/bin/env python3
"""Measures how 100,000 small files in 100 folders are read beside 1,000 of them, and beside one file of the same records.

Needs: a release build (`cargo build --release`), and half a GB for the files, which are made on the first run.

    engine/benches/many_files.py [--runs 5] [--folder target/bench]

All contestants run one after another, in turn; ratios are of two that ran right after each other, the table shows medians of them. The
page cache is warm: what is measured is the work for each file, not the disk.
"""
import argparse, json, os, statistics, subprocess, sys, time
import systems

FOLDERS, FILES_IN_EACH, FILE_BYTES, CHANNELS = 100, 1_000, 1_024, 2
TYPES = {"id": "long", "name": "string", "amount": "double", "moment": "date", "kind": "string"}
GOALS = {"time to the first row": ("at most", 1.5), "rows/s": ("at least", 0.7)}


def row(number):
    return f"{number},customer {number % 977},{number % 100_000 / 4:.2f},2024-0{number % 9 + 1}-1{number % 9} 10:00:0{number % 10},{'abcdef'[number % 6]}\n"


class Bench(systems.Bench):
    def __init__(self, folder, runs):
        super().__init__(folder, "1", runs)
        self.many, self.few, self.one = self.path("files/many"), self.path("files/few"), self.path("files/one.csv")
        if not os.path.exists(self.one):
            self.make_files()
        # What opening and reading so many files costs at least.
        self.cat = ["sh", "-c", f"for folder in {self.many}/*; do cat $folder/*; done"]
        with open(self.one) as file:
            self.records = sum(1 for _ in file)

    def make_files(self):
        """The same records once in many files, once in one; the first folder is the small source."""
        number = 0
        os.makedirs(self.path("files"), exist_ok=True)
        with open(self.one + ".part", "w") as one:
            for folder in range(FOLDERS):
                os.makedirs(f"{self.many}/{folder:03}", exist_ok=True)
                for name in range(FILES_IN_EACH):
                    text = ""
                    while len(text) < FILE_BYTES:
                        text, number = text + row(number), number + 1
                    for place in [f"{self.many}/{folder:03}"] + [self.few] * (folder == 0):
                        os.makedirs(place, exist_ok=True)
                        with open(f"{place}/{name:04}.csv", "w") as file:
                            file.write(text)
                    one.write(text)
        os.rename(self.one + ".part", self.one)

    def reader(self, path):
        columns = [{"index": index, "name": name, "type": kind} for index, (name, kind) in enumerate(TYPES.items())]
        return {"name": "txtfilereader", "parameter": {"path": path, "column": columns}}

    def writers(self):
        self.remove("out", "out.db")
        csv = {"path": self.path("out"), "fileName": "rows", "fileFormat": "csv", "writeMode": "truncate"}
        table = {"path": self.path("out.db"), "table": "rows", "column": list(TYPES), "createTable": True}
        return {
            "nowhere": {"name": "streamwriter", "parameter": {"print": False}},
            "CSV": {"name": "txtfilewriter", "parameter": csv},
            "SQLite": {"name": "sqlitewriter", "parameter": table},
        }

    def first_row(self, path):
        """Seconds from the start of the program until it prints a row."""
        command = self.job(self.reader(path), {"name": "streamwriter", "parameter": {"print": True}}, CHANNELS)
        started = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            if not process.stdout.read(1):
                sys.exit(f"{command} printed nothing")
            seconds = time.monotonic() - started
            process.kill()
        return seconds

    def tasks(self):
        command = self.job(self.reader(self.many), self.writers()["nowhere"], CHANNELS)
        summary = subprocess.run(command + ["--json"], check=True, capture_output=True).stdout
        return len(json.loads(summary)["tasks"])

    def times_to_the_first_row(self):
        ratios = []
        for _ in range(self.runs * 3):
            few, many = self.first_row(self.few), self.first_row(self.many)
            ratios.append((few, many, many / few))
        few, many, ratio = (statistics.median(column) for column in zip(*ratios))
        print(f"time to the first row: {few * 1e3:.1f} ms of 1,000 files, {many * 1e3:.1f} ms of 100,000")
        self.judge("time to the first row", ratio)

    def rates(self):
        for target in self.writers():
            runs = []
            for _ in range(self.runs):
                run = lambda path: systems.measure(self.job(self.reader(path), self.writers()[target], CHANNELS))
                runs.append([run(self.one), run(self.many), run(self.few), systems.measure(self.cat)])
            medians = [[statistics.median(values) for values in zip(*times)] for times in zip(*runs)]
            print(f"\n{self.records:,} records to {target}")
            print(f"  {'':24} {'wall s':>8} {'CPU s':>8} {'MB':>6} {'records/s':>12}")
            names = {"one file": 1, "100,000 files": 1, "1,000 of them": FOLDERS, "cat of 100,000 files": 1}
            for (name, part), (wall, cpu, memory) in zip(names.items(), medians):
                records = self.records / part
                print(f"  {name:24} {wall:8.3f} {cpu:8.3f} {memory:6.0f} {records / wall:12,.0f}")
            self.judge("rows/s", statistics.median(one[0] / many[0] for one, many, *_ in runs))
            print(f"  by CPU {statistics.median(one[1] / many[1] for one, many, *_ in runs):.2f}; memory of 100,000 files to that of 1,000 "
                  f"{medians[1][2] / medians[2][2]:.2f}; for each file {(medians[1][1] - medians[0][1]) / FOLDERS / FILES_IN_EACH * 1e6:.1f} µs of CPU")
            sys.stdout.flush()
        self.remove("out", "out.db")

    def judge(self, what, ratio):
        least_or_most, goal = GOALS[what]
        is_met = ratio <= goal if least_or_most == "at most" else ratio >= goal
        print(f"  {what}: ratio {ratio:.2f}, goal {least_or_most} {goal}: {'met' if is_met else 'missed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", default=os.path.join(systems.ROOT, "target", "bench"))
    arguments = parser.parse_args()
    if not os.path.exists(systems.PROGRAM):
        sys.exit("cargo build --release comes first")
    bench = Bench(os.path.abspath(arguments.folder), arguments.runs)
    bench.times_to_the_first_row()
    tasks = bench.tasks()
    print(f"tasks: {tasks}, goal fewer than 500: {'met' if tasks < 500 else 'missed'}")
    bench.rates()


if __name__ == "__main__":
    main()
