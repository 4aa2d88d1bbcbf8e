"""PostgreSQL and MariaDB on this machine, as the benchmarks use them: statements, tables, sums over rows, parts of jobs, pieces of
command lines. Not here: what is measured, and how servers are started (`scripts/servers`)."""
import contextlib, os, subprocess, sys
from urllib.parse import quote, unquote, urlsplit

import systems

SOURCE, TARGET = "bench_source", "bench_target"


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} failed:\n{done.stderr}")
    return done.stdout.strip()


def shell(line):
    """A command of several, which fails if one of them does."""
    return ["bash", "-o", "pipefail", "-c", line]


class Server:
    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port = parts.hostname, parts.port
        self.user, self.password = unquote(parts.username or ""), unquote(parts.password or "")

    def part(self, plugin, database, table, columns, **more):
        """The reader or the writer of a job."""
        connection = {"jdbcUrl": f"jdbc:{self.scheme}://{self.host}:{self.port}/{database}", "table": [table]}
        parameter = {"username": self.user, "password": self.password, "connection": [connection], "column": list(columns), **more}
        return {"name": plugin, "parameter": parameter}

    def reader(self, table, columns=("*",), **more):
        return self.part(self.scheme + "reader", SOURCE, table, columns, **more)

    def writer(self, table, columns=("*",)):
        return self.part(self.scheme + "writer", TARGET, table, columns)

    def url_for_sling(self, database):
        return f"{self.scheme}://{quote(self.user, '')}:{quote(self.password, '')}@{self.host}:{self.port}/{database}{self.without_tls}"

    def count(self, table, database=TARGET):
        return int(self.ask(database, f"select count(*) from {table}"))

    def holds(self, table, rows):
        """Whether the source has that table with as many rows."""
        return table in self.ask(SOURCE, self.list_tables).split() and self.count(table, SOURCE) == rows


class Postgres(Server):
    scheme, dialect, without_tls = "postgresql", "postgres", "?sslmode=disable"
    list_tables = "select tablename from pg_tables where schemaname = 'public'"

    def __init__(self, url):
        super().__init__(url)
        os.environ.update(PGHOST=self.host, PGPORT=str(self.port), PGUSER=self.user, PGPASSWORD=self.password,
                          PGOPTIONS="-c client_min_messages=warning")
        self.process = int(self.ask("postgres", "select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)"))
        missing = {SOURCE, TARGET} - set(self.ask("postgres", "select datname from pg_database").split())
        for database in missing:
            self.ask("postgres", f"create database {database}")

    def ask(self, database, *statements):
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]
        return output_of(command + [word for statement in statements for word in ("-c", statement)])

    def make_table(self, database, name, columns):
        """Without a vacuum that comes when it likes: it would fall into one run and not into the other."""
        self.ask(database, f"drop table if exists {name}", f"create table {name} ({columns}) with (autovacuum_enabled = off)")

    def fill(self, database, table, columns, path, form):
        self.ask(database, f"\\copy {table} ({', '.join(columns)}) from {path} ({form})", f"vacuum analyze {table}")

    def settle(self):
        self.ask(TARGET, "checkpoint")

    def digest(self, database, table, columns):
        """The number of rows and a sum of hashes over whole rows, in which NULL and the empty text differ."""
        row = f"row({', '.join(columns)})::text"
        return self.ask(database, f"select count(*), sum(('x' || left(md5({row}), 12))::bit(48)::bigint) from {table}").replace("|", " ")

    def settings(self):
        names = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_level", "shared_buffers", "max_wal_size")
        return "PostgreSQL: " + ", ".join(f"{name} {self.ask('postgres', f'show {name}')}" for name in names)


class MariaDb(Server):
    scheme, dialect, without_tls = "mysql", "mysql", "?tls=false"
    list_tables = "show tables"

    def __init__(self, url, folder):
        super().__init__(url)
        options = os.path.join(folder, "mariadb.cnf")
        lines = ("[client]", f"host={self.host}", f"port={self.port}", f"user={self.user}", f'password="{self.password}"',
                 "default-character-set=utf8mb4")
        with open(os.open(options, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")
        self.client, self.dump = f"mariadb --defaults-file={options}", f"mariadb-dump --defaults-file={options}"
        self.batch = f"{self.client} --batch --quick --skip-column-names"
        with open(self.ask("mysql", "select @@pid_file")) as file:
            self.process = int(file.read())
        self.ask("mysql", *(f"create database if not exists {name} character set utf8mb4" for name in (SOURCE, TARGET)))

    def ask(self, database, *statements):
        command = self.client.split() + ["--local-infile=1", "--batch", "--raw", "--skip-column-names", database]
        return output_of(command + ["-e", "; ".join(statements)])

    def make_table(self, database, name, columns):
        self.ask(database, f"drop table if exists {name}", f"create table {name} ({columns})")

    def fill(self, database, table, columns, path, form):
        """NULL is the word without quotes; bytes are hexadecimal."""
        form = "fields terminated by ',' optionally enclosed by '\"' escaped by '' " + form
        self.ask(database, f"load data local infile {path} into table {table} character set utf8mb4 {form} {self.taking(columns)}",
                 f"analyze table {table}")

    def loading(self, table, columns):
        """A command that loads what COPY gives."""
        statement = f"load data local infile '/dev/stdin' into table {table} character set utf8mb4 {self.taking(columns)}"
        return f'{self.client} --local-infile=1 {TARGET} -e "{statement}"'

    def taking(self, columns):
        given = ["@bytes" if name == "c_bytes" else name for name in columns]
        return f"({', '.join(given)})" + (" set c_bytes = unhex(@bytes)" if "c_bytes" in columns else "")

    def settle(self):
        pass

    def digest(self, database, table, columns):
        row = ", ".join(f"quote(hex({name}))" if name == "c_bytes" else f"quote({name})" for name in columns)
        hashes = f"cast(conv(left(md5(concat_ws(',', {row})), 12), 16, 10) as unsigned)"
        return self.ask(database, f"select count(*), sum({hashes}) from {table}").replace("\t", " ")

    def settings(self):
        names = ("version", "innodb_flush_method", "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_buffer_pool_size",
                 "innodb_log_file_size", "log_bin")
        return "MariaDB: " + ", ".join(f"{name} {self.ask('mysql', f'select @@{name}')}" for name in names)


@contextlib.contextmanager
def servers():
    """The addresses of both: those of the environment, or new ones for as long as this lasts."""
    names = ("TRANSSHIP_TEST_POSTGRES", "TRANSSHIP_TEST_MYSQL")
    if all(name in os.environ for name in names):
        yield [os.environ[name] for name in names]
        return
    serving = subprocess.Popen([os.path.join(systems.ROOT, "scripts", "servers"), "serve"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        addresses = dict(serving.stdout.readline().strip().partition("=")[::2] for _ in names)
        if not all(name in addresses for name in names):
            sys.exit("the servers did not start")
        yield [addresses[name] for name in names]
    finally:
        serving.stdin.close()
        serving.wait()
