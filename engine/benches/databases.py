#!/usr/bin/env python3
"""Measures moves from, to and between PostgreSQL and MariaDB against the servers' own tools in the same run, and prints ratios.

Needs: a release build (`cargo build --release`); PostgreSQL, MariaDB and their clients from the system's packages; `tpchgen-cli`; for
the comparison with sling its program (`pip install sling-linux-amd64` brings it), named by --sling or found as `sling`.

    engine/benches/databases.py [--runs 3] [--scale 1] [--folder target/bench] [--tables lineitem,mixed] [NAME...]

The servers are those of TRANSSHIP_TEST_POSTGRES and TRANSSHIP_TEST_MYSQL, which must run on this machine, or else new ones that
`scripts/servers` starts and stops. What is in their databases `bench_source` and `bench_target` is overwritten.

The contestants of a benchmark run in turn, A B A B, each into a new table or file, and each ratio is that of two neighbours: what else
runs on the machine hits both. Where it is busy with something else, a contestant of more threads gets a larger share of it: then the ratio of
all CPU, client and servers, says more than that of wall time. Tables show medians, and of ratios the smallest and the largest too.
Client CPU and memory (of the largest process) are those of the command with its children, by `wait4`; server CPU is that of the servers'
processes while the command ran; `other cores` is how many were busy with something else. What each contestant has written is compared
with the source once: the number of rows, and a sum of hashes over whole rows.
"""
import argparse, collections, json, os, shutil, statistics, sys, time

import mixed_table, systems
from clocks import ThreadClock, seconds_of_machine, seconds_of_tree
from local_servers import SOURCE, TARGET, MariaDb, Postgres, output_of, servers, shell

TYPES = (["bigint"] + ["integer"] * 3 + ["decimal(15,2)"] * 4 + ["varchar(1)"] * 2 + ["date"] * 3
         + ["varchar(25)", "varchar(10)", "varchar(44)"])
LINEITEM = ", ".join(f"{name} {kind} not null" for name, kind in zip(systems.COLUMNS, TYPES))

Table = collections.namedtuple("Table", "name columns rows csv")
Contestant = collections.namedtuple("Contestant", "name prepare check")


class Figures(collections.namedtuple("Figures", "wall client memory postgres mariadb other reader writer")):
    @property
    def work(self):
        """All CPU seconds, which other work on the machine changes least."""
        return self.client + self.postgres + self.mariadb


def medians(runs):
    return Figures(*(statistics.median(values) for values in zip(*runs)))


def spread(ratios):
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def is_ours(name):
    return name.startswith("transship")


class Bench(systems.Bench):
    def __init__(self, asked, addresses):
        super().__init__(asked.folder, asked.scale, asked.runs)
        self.postgres, self.mariadb = Postgres(addresses[0]), MariaDb(addresses[1], self.folder)
        self.servers, self.sling, self.digests = (self.postgres, self.mariadb), asked.sling, {}

    # --- measuring

    def job(self, reader, writer, channels=None):
        """A job that says where from and where to; without a number it has one channel a core."""
        path, setting = self.path("job.json"), {"setting": {"speed": {"channel": channels}}} if channels else {}
        with open(path, "w") as file:
            json.dump({"job": {**setting, "content": [{"reader": reader, "writer": writer}]}}, file, indent=1)
        return [systems.PROGRAM, "run", "--quiet", "--dirty", self.path("dirty.jsonl"), path]

    def measure(self, command):
        self.settle()
        before, own, machine = [seconds_of_tree(server.process) for server in self.servers], sum(os.times()[:2]), seconds_of_machine()
        with ThreadClock(os.path.basename(systems.PROGRAM)) as clock:
            wall, client, memory = systems.measure(command)
            used = [seconds_of_tree(server.process) - start for server, start in zip(self.servers, before)]
            other = seconds_of_machine() - machine - (sum(os.times()[:2]) - own) - client - sum(used)
        return Figures(wall, client, memory, *used, max(0, other / wall), clock.seconds("channel-"), clock.seconds("-write"))

    def settle(self):
        """Waits, but not for ever, until the servers have done what the run before has left to them."""
        for server in self.servers:
            server.settle()
        for _ in range(40):
            before = sum(seconds_of_tree(server.process) for server in self.servers)
            time.sleep(0.25)
            if sum(seconds_of_tree(server.process) for server in self.servers) - before <= 0.02:
                return

    def compare(self, title, records, contestants, goals={}):
        """transship is the last contestant; its ratio to a reference is that to the run of it just before."""
        runs, verdicts, failed = {contestant.name: [] for contestant in contestants}, {}, set()
        for _ in range(self.runs):
            for name, prepare, check in contestants:
                if name in failed:
                    continue
                try:
                    runs[name].append(self.measure(prepare()))
                except SystemExit as failure:
                    # A reference may be unable to: that is worth a line, not the end.
                    if is_ours(name):
                        raise
                    failed.add(name)
                    verdicts[name] = "fails: " + " ".join(str(failure).replace("|", " ").split())[-160:]
                if name not in verdicts:
                    verdicts[name] = check()
        self.show(f"{title}, {records:,} records", records, runs, verdicts, goals)

    def show(self, title, records, runs, verdicts, goals):
        print(f"\n{title}\n")
        print("| contestant | wall s | client CPU s | server CPU s: PostgreSQL, MariaDB | MB | records/s | transship's wall to this "
              "| all CPU to this | other cores | rows |\n|---|---|---|---|---|---|---|---|---|---|")
        *_, ours = runs.values()
        for name, theirs in runs.items():
            if not theirs:
                print(f"| {name} | | | | | | | | | {verdicts[name]} |")
                continue
            of, ratio, work = medians(theirs), "", ""
            if not is_ours(name):
                ratios = [mine.wall / other.wall for mine, other in zip(ours, theirs)]
                ratio, work = spread(ratios), spread([mine.work / other.work for mine, other in zip(ours, theirs)])
                if name in goals:
                    ratio += f"; goal {goals[name]}: {'met' if statistics.median(ratios) <= goals[name] else 'missed'}"
            print(f"| {name} | {of.wall:.2f} | {of.client:.2f} | {of.postgres:.2f}, {of.mariadb:.2f} | {of.memory:.0f} "
                  f"| {records / of.wall / 1000:,.0f} k | {ratio} | {work} | {of.other:.2f} | {verdicts[name]} |")
        of = medians(ours)
        print(f"\ntransship's CPU seconds: servers {of.postgres + of.mariadb:.2f}, reader threads {of.reader:.2f}, writer threads "
              f"{of.writer:.2f}, others {max(0, of.client - of.reader - of.writer):.2f}; largest memory of {len(ours)} runs "
              f"{max(run.memory for run in ours):.0f} MB; load {os.getloadavg()[0]:.1f}", flush=True)
        self.keep(title, runs, verdicts)

    def keep(self, title, runs, verdicts):
        """All figures, for another look."""
        with open(self.path("databases.jsonl"), "a") as file:
            file.write(json.dumps({"title": title, "fields": Figures._fields, "runs": runs, "verdicts": verdicts}) + "\n")

    # --- the tables

    def lineitem(self, limit=None):
        """TPC-H's lineitem; with a limit its first rows, for contestants that would need too long for all."""
        if not os.path.exists(self.csv):
            self.need_csv()
        # Not read in this process: its size is the smallest memory that it can see.
        rows, name, csv = int(output_of(["wc", "-l", self.csv]).split()[0]) - 1, "lineitem", self.csv
        if limit:
            rows, name = min(rows, limit), f"lineitem_{limit // 1000}k"
            csv = self.path(f"sf{self.scale}/{name}.csv")
            output_of(shell(f"head -n {rows + 1} {self.csv} > {csv}"))
        for server, form in zip(self.servers, ("format csv, header", "ignore 1 lines")):
            if not server.holds(name, rows):
                server.make_table(SOURCE, name, f"{LINEITEM}, primary key (l_orderkey, l_linenumber)")
                server.fill(SOURCE, name, systems.COLUMNS, f"'{csv}'", form)
        return Table(name, systems.COLUMNS, rows, csv)

    def mixed(self):
        """The table of mixed_table.py. MariaDB's reading of CSV has its own words for NULL and booleans."""
        table = Table("mixed", list(mixed_table.COLUMNS), max(1000, int(1_000_000 * float(self.scale))), None)
        generator, csv = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mixed_table.py"), self.path("mixed.csv")
        forms = (("", "format csv, null '\\N'"), ("--null NULL --booleans 1,0 --bytes hex", ""))
        for server, (options, form) in zip(self.servers, forms):
            if not server.holds(table.name, table.rows):
                output_of(shell(f"{sys.executable} {generator} {table.rows} {options} > {csv}"))
                server.make_table(SOURCE, table.name, self.columns_of(server, table))
                server.fill(SOURCE, table.name, table.columns, f"'{csv}'", form)
                self.remove("mixed.csv")
        return table

    def columns_of(self, server, table):
        """What a target is made with: lineitem without its key."""
        if table.name != "mixed":
            return LINEITEM
        return ", ".join(f"{name} {types[server.dialect]}" for name, types in mixed_table.COLUMNS.items())

    def into(self, server, table, command):
        """A contestant's preparation: a new table, and the command that fills it."""
        def prepare():
            server.make_table(TARGET, table.name, self.columns_of(server, table))
            return command()
        return prepare

    def same_rows(self, server, table, columns=None, source=None):
        """A check: whether the target's table has the rows of the same server's source."""
        names = tuple(columns or table.columns)
        if server is self.postgres and source is self.mariadb:
            # MariaDB has but one zero.
            names = tuple("c_dbl + 0" if name == "c_dbl" else name for name in names)
        def check():
            key = server, table.name, names
            if key not in self.digests:
                self.digests[key] = server.digest(SOURCE, table.name, names)
            found = server.digest(TARGET, table.name, names)
            return "same" if found == self.digests[key] else f"other: {found}, not {self.digests[key]}"
        return check

    def same_file_rows(self, table, columns, files, form, source):
        """The same for CSV files: PostgreSQL reads them."""
        def check():
            self.postgres.make_table(TARGET, table.name, self.columns_of(self.postgres, table))
            try:
                self.postgres.fill(TARGET, table.name, columns, f"program 'cat {files}'", form)
            except SystemExit as failure:
                return "cannot be read again: " + str(failure).partition("ERROR:")[2].partition("\n")[0].strip()
            return self.same_rows(self.postgres, table, columns, source)()
        return check

    # --- pairs

    def pg_to_pg(self, table):
        name, to = "psql COPY to psql COPY, binary", (self.postgres, table)
        pipe = shell(f"psql -X -d {SOURCE} -c 'copy {table.name} to stdout (format binary)' | "
                     f"psql -X -d {TARGET} -c 'copy {table.name} from stdin (format binary)'")
        ours = lambda: self.job(self.postgres.reader(table.name), self.postgres.writer(table.name))
        self.compare(f"PostgreSQL to PostgreSQL, {table.name}", table.rows, [
            Contestant(name, self.into(*to, lambda: pipe), self.same_rows(*to)),
            Contestant("transship", self.into(*to, ours), self.same_rows(*to)),
        ], {name: 1.15})

    def csv_to_pg(self, table):
        columns, path = without_bytes(table), table.csv or self.path("mixed.csv")
        if not table.csv:
            self.postgres.ask(SOURCE, f"\\copy {table.name} ({', '.join(columns)}) to '{path}' (format csv, header)")
        copy = shell(f"psql -X -d {TARGET} -c \"\\copy {table.name} ({', '.join(columns)}) from '{path}' (format csv, header)\"")
        ours = lambda: self.job(csv_reader(path), self.postgres.writer(table.name, columns))
        check = self.same_rows(self.postgres, table, columns)
        self.compare(f"CSV to PostgreSQL, {described(table)}", table.rows, [
            Contestant("psql \\copy", self.into(self.postgres, table, lambda: copy), check),
            Contestant("transship", self.into(self.postgres, table, ours), check),
        ], {"psql \\copy": 1.1})
        self.remove("mixed.csv")

    def pg_to_csv(self, table):
        columns, out = without_bytes(table), self.path("copied.csv")
        copy = shell(f"psql -X -d {SOURCE} -c \"\\copy {table.name} ({', '.join(columns)}) to '{out}' (format csv)\"")
        self.to_csv("PostgreSQL to CSV", self.postgres, table, "psql \\copy", copy, "format csv", 1.1)

    def my_to_csv(self, table):
        batch = shell(f"{self.mariadb.batch} {SOURCE} -e 'select {', '.join(without_bytes(table))} from {table.name}' "
                      f"> {self.path('copied.csv')}")
        self.to_csv("MariaDB to CSV", self.mariadb, table, "mariadb --batch --quick", batch, "null $$NULL$$", 1.0)

    def to_csv(self, title, server, table, name, command, form, goal):
        columns = without_bytes(table)
        def ours():
            self.remove("out")
            return self.job(server.reader(table.name, columns), self.csv_writer(table.name))
        self.compare(f"{title}, {described(table)}", table.rows, [
            Contestant(name, lambda: command, self.same_file_rows(table, columns, self.path("copied.csv"), form, server)),
            Contestant("transship", ours, self.same_file_rows(table, columns, self.path("out/*"), "format csv", server)),
        ], {name: goal})
        self.remove("out", "copied.csv")

    def my_to_pg(self, table):
        client, columns = self.mariadb.batch, table.columns
        if table.name == "mixed":
            # The client prints carriage returns as they are, and NULL like the text: SQL has to write what COPY is to read.
            client, columns = f"{client} --raw", [for_copy(name) for name in columns]
        pipe = shell(f"{client} {SOURCE} -e 'select {', '.join(columns)} from {table.name}' | "
                     f"psql -X -d {TARGET} -c 'copy {table.name} from stdin'")
        self.between("MariaDB to PostgreSQL", self.mariadb, self.postgres, table, "mariadb --batch to psql COPY", pipe)

    def pg_to_my(self, table):
        written = {"c_bool": "c_bool::int", "c_bytes": "encode(c_bytes, $$hex$$)"}
        columns = ", ".join(written.get(name, name) for name in table.columns)
        pipe = shell(f"psql -X -d {SOURCE} -c 'copy (select {columns} from {table.name}) to stdout' | "
                     + self.mariadb.loading(table.name, table.columns))
        self.between("PostgreSQL to MariaDB", self.postgres, self.mariadb, table, "psql COPY to LOAD DATA LOCAL", pipe)

    def between(self, title, source, target, table, name, pipe):
        """The servers' own clients on the whole table, and sling on as much as it can do in a minute."""
        def ours(table):
            command = lambda: self.job(source.reader(table.name), target.writer(table.name))
            return Contestant("transship", self.into(target, table, command), self.same_rows(target, table, source=source))
        reference = Contestant(name, self.into(target, table, lambda: pipe), self.same_rows(target, table, source=source))
        self.compare(f"{title}, {table.name}", table.rows, [reference, ours(table)])
        if not self.sling:
            print("\nsling is left out: pip install sling-linux-amd64, and name its program by --sling")
            return
        piece = self.lineitem(250_000) if table.name == "lineitem" else table
        place = lambda server, database: f"{database if server is self.mariadb else 'public'}.{piece.name}"
        def sling():
            target.ask(TARGET, f"drop table if exists {piece.name}")
            return ["env", f"HOME={self.folder}", self.sling, "run", "--mode", "full-refresh",
                    "--src-conn", source.url_for_sling(SOURCE), "--src-stream", place(source, SOURCE),
                    "--tgt-conn", target.url_for_sling(TARGET), "--tgt-object", place(target, TARGET)]
        # It makes tables of its own types, whose values look different: they are counted.
        counted = lambda: "counted" if target.count(piece.name) == piece.rows else f"other: {target.count(piece.name)} rows"
        self.compare(f"{title}, {piece.name}", piece.rows, [Contestant("sling", sling, counted), ours(piece)])

    def my_to_my(self, table):
        to = self.mariadb, table
        pipes = {"mariadb-dump --quick to mariadb": f"{self.mariadb.dump} --quick --no-create-info {SOURCE} {table.name} | "
                                                    f"{self.mariadb.client} {TARGET}"}
        if table.name == "lineitem":
            pipes["mariadb --batch to LOAD DATA LOCAL"] = (f"{self.mariadb.batch} {SOURCE} -e 'select * from {table.name}' | "
                                                           + self.mariadb.loading(table.name, table.columns))
        ours = lambda: self.job(self.mariadb.reader(table.name), self.mariadb.writer(table.name))
        self.compare(f"MariaDB to MariaDB, {table.name}", table.rows, [
            Contestant(name, self.into(*to, lambda pipe=pipe: shell(pipe)), self.same_rows(*to)) for name, pipe in pipes.items()
        ] + [Contestant("transship", self.into(*to, ours), self.same_rows(*to))])

    # --- what costs memory, and what costs another attempt

    def large_records(self):
        """100 records of 20 MB, through one channel and through two: what matters is the memory."""
        table, size, path = Table("large", ["id", "body"], 100, None), 20_000_000, self.path("large.csv")
        types = {self.postgres: "id integer primary key, body text", self.mariadb: "id integer primary key, body longtext"}
        for server in self.servers:
            if not server.holds(table.name, table.rows):
                server.make_table(SOURCE, table.name, types[server])
                for key in range(1, table.rows + 1):
                    server.ask(SOURCE, f"insert into large select {key}, left(repeat(md5('{key}'), {size // 32 + 1}), {size})")
        self.postgres.ask(SOURCE, f"\\copy large to '{path}' (format csv)")
        readers = {"PostgreSQL": self.postgres.reader("large", splitPk="id"), "MariaDB": self.mariadb.reader("large", splitPk="id"),
                   "CSV": {"name": "txtfilereader", "parameter": {"path": path}}}
        targets = {"PostgreSQL": self.postgres, "MariaDB": self.mariadb, "CSV": None}
        print(f"\n{table.rows} records of {size // 1_000_000} MB\n")
        print("| from | to | channels | wall s | client CPU s | MB | rows |\n|---|---|---|---|---|---|---|")
        for pair in PAIRS:
            source, name = (NAMES[end] for end in pair.split("_to_"))
            target = targets[name]
            for channels in (1, 2):
                self.remove("out")
                if target:
                    target.make_table(TARGET, "large", types[target])
                writer = target.writer("large") if target else self.csv_writer("large")
                run = self.measure(self.job(readers[source], writer, channels))
                if not target:
                    self.postgres.make_table(TARGET, "large", types[self.postgres])
                    self.postgres.fill(TARGET, "large", table.columns, f"program 'cat {self.path('out')}/*'", "format csv")
                verdict = self.same_rows(target or self.postgres, table)()
                print(f"| {source} | {name} | {channels} | {run.wall:.1f} | {run.client:.1f} | {run.memory:.0f} | {verdict} |", flush=True)
        self.remove("out", "large.csv")

    def bad_records(self):
        """What one bad record in 10,000 costs: one with a number that is none, which transship finds, and one that the table forbids."""
        table, every = self.lineitem(1_000_000), 10_000
        quantities = {"none": None, "not a number": "many", "refused by the server": "-1"}
        paths = {name: self.path(f"sf{self.scale}/{name.replace(' ', '_')}.csv") for name in quantities}
        for name, quantity in quantities.items():
            # The header is the first line.
            change = f'NR % {every} == 1 && NR > 1 {{ $5 = "{quantity}" }} ' if quantity else ""
            output_of(shell(f"awk 'BEGIN {{ FS = OFS = \",\" }} {change}{{ print }}' {table.csv} > {paths[name]}"))
        for title, server in (("PostgreSQL", self.postgres), ("MariaDB", self.mariadb)):
            runs, verdicts = {name: [] for name in quantities}, {}
            for _ in range(self.runs):
                for name in quantities:
                    server.make_table(TARGET, table.name, f"{LINEITEM}, check (l_quantity > 0)")
                    runs[name].append(self.measure(self.job(csv_reader(paths[name]), server.writer(table.name, table.columns))))
                    expected = table.rows - (table.rows // every if quantities[name] else 0)
                    found = server.count(table.name)
                    verdicts[name] = "counted" if found == expected else f"other: {found}, not {expected}"
            self.show_bad_records(f"One bad record in {every:,}, CSV to {title}, {table.name}, {table.rows:,} records", runs, verdicts)
        for path in paths.values():
            os.remove(path)

    def show_bad_records(self, title, runs, verdicts):
        print(f"\n{title}\n")
        print("| bad records | wall s | client CPU s | server CPU s | wall to none | all CPU to none | other cores | rows |")
        print("|---|---|---|---|---|---|---|---|")
        for name, bad in runs.items():
            of, clean = medians(bad), runs["none"]
            print(f"| {name} | {of.wall:.2f} | {of.client:.2f} | {of.postgres + of.mariadb:.2f} "
                  f"| {spread([one.wall / other.wall for one, other in zip(bad, clean)])} "
                  f"| {spread([one.work / other.work for one, other in zip(bad, clean)])} | {of.other:.2f} | {verdicts[name]} |",
                  flush=True)
        self.keep(title, runs, verdicts)

    def csv_writer(self, name):
        return {"name": "txtfilewriter", "parameter": {"path": self.path("out"), "fileName": name, "fileFormat": "csv",
                                                       "writeMode": "truncate", "nullFormat": ""}}


def csv_reader(path):
    """Reads what PostgreSQL writes: NULL is nothing at all, an empty text stands between quotes, and blanks are part of the text."""
    return {"name": "txtfilereader", "parameter": {"path": path, "skipHeader": True, "nullFormat": "", "nullWhenQuoted": False,
                                                   "csvReaderConfig": {"trimWhitespace": False}}}


def without_bytes(table):
    """CSV has no form of bytes that all tools share."""
    return [name for name in table.columns if name != "c_bytes"]


def described(table):
    return table.name + (" without its bytes" if "c_bytes" in table.columns else "")


def for_copy(name):
    """An expression that makes of a column of the mixed table what COPY reads. Codes stand for characters that a shell would change."""
    if name in ("c_text", "c_json"):
        for character, escape in (("5c", "5c5c"), ("09", "5c74"), ("0a", "5c6e"), ("0d", "5c72")):
            name = f"replace({name}, 0x{character}, 0x{escape})"
    elif name == "c_bytes":
        name = "concat(0x5c5c78, hex(c_bytes))"
    return f"ifnull({name}, 0x5c4e)"


PAIRS = ("pg_to_pg", "csv_to_pg", "pg_to_csv", "my_to_csv", "my_to_pg", "pg_to_my", "my_to_my")
NAMES = {"pg": "PostgreSQL", "my": "MariaDB", "csv": "CSV"}
OTHERS = ("large_records", "bad_records")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--folder", default=os.path.join(systems.ROOT, "target", "bench"))
    parser.add_argument("--program", default=systems.PROGRAM, help="transship, with its plugins beside it")
    parser.add_argument("--sling", default=shutil.which("sling"), help="sling's program")
    parser.add_argument("--tables", default="lineitem,mixed", help="which tables the pairs move")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PAIRS + OTHERS)}; all by default")
    asked = parser.parse_args()
    systems.PROGRAM, asked.folder = os.path.abspath(asked.program), os.path.abspath(asked.folder)
    if not os.path.exists(systems.PROGRAM):
        sys.exit("cargo build --release comes first")
    for name in asked.names:
        if name not in PAIRS + OTHERS:
            sys.exit(f"there is no benchmark {name}; there are {', '.join(PAIRS + OTHERS)}")
    os.makedirs(asked.folder, exist_ok=True)
    with servers() as addresses:
        bench = Bench(asked, addresses)
        print(f"{bench.postgres.settings()}\n{bench.mariadb.settings()}\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        for name in asked.names or PAIRS + OTHERS:
            for table in asked.tables.split(",") if name in PAIRS else ():
                getattr(bench, name)({"lineitem": bench.lineitem, "mixed": bench.mixed}[table]())
            if name in OTHERS:
                getattr(bench, name)()


if __name__ == "__main__":
    main()
