#!/usr/bin/env python3
"""Prints a table of mixed types as CSV, on which tools that move data tend to lose something. The same seed gives the same table.

    engine/benches/mixed_table.py ROWS [--seed 1] [--first 1] [--header] [--null '\\N'] [--booleans true,false] [--bytes postgres]
    engine/benches/mixed_table.py --create postgres|mysql|sqlite [--table mixed]

Every column but the key is NULL now and then, and NULL is the marker without quotes: a text that equals the marker, an empty text,
and a text with blanks at its ends stand between quotes. The other quirks are the values': integers to both ends of 64 bits, decimals
of 24 digits, floats far apart, microseconds from 1906 to 2096, dates from 1900 to 2119, texts in UTF-8 with delimiters, quotes, tabs,
line ends, backslashes and the words that stand for NULL elsewhere, JSON whose blanks and order of keys are its own, and bytes.
"""
import argparse, base64, datetime, random, sys

COLUMNS = {
    "id": {"postgres": "bigint PRIMARY KEY", "mysql": "bigint PRIMARY KEY", "sqlite": "INTEGER PRIMARY KEY"},
    "c_big": {"postgres": "bigint", "mysql": "bigint", "sqlite": "BIGINT"},
    "c_dec": {"postgres": "numeric(38,6)", "mysql": "decimal(38,6)", "sqlite": "TEXT"},
    "c_dbl": {"postgres": "double precision", "mysql": "double", "sqlite": "DOUBLE"},
    "c_ts": {"postgres": "timestamp", "mysql": "datetime(6)", "sqlite": "DATETIME"},
    "c_date": {"postgres": "date", "mysql": "date", "sqlite": "DATE"},
    "c_bool": {"postgres": "boolean", "mysql": "tinyint(1)", "sqlite": "BOOLEAN"},
    "c_text": {"postgres": "text", "mysql": "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "sqlite": "TEXT"},
    "c_json": {"postgres": "json", "mysql": "json", "sqlite": "TEXT"},
    "c_bytes": {"postgres": "bytea", "mysql": "longblob", "sqlite": "BLOB"},
}

PIECES = (
    "plain", "two words", "Müller", "Łódź", "数据同步", "데이터", "😀", "👩‍👩‍👧", "é", ",", ", ", '"', '""', "'", "\t", "\n", "\r\n",
    "\r", "\\", "\\n", "\\\\", "\\t", "%s", "$1", ";", "|", "--", "/*", "\u00a0", "\u200b", "\ufeff", "a,b", "end.",
)
WHOLE = ("", " ", "\\N", "NULL", "null", " leading", "trailing ", "  both  ", "\ttabs\t", "\n", "\r\n", '"', '"quoted"', "\\", "#no comment",
         "0", "1e3", "true", "2020-02-30", "x" * 300)
BIG = (2**63 - 1, -2**63, 0, 1, -1, 2**53 + 1, -2**53 - 1, 2**31, -2**31 - 1)
DECIMALS = (0, 1, -1, 10**24 - 1, 1 - 10**24, 10**23, 123456789012345678901234, 10**6, -500000)
FLOATS = (0.0, 0.1, 1e300, -1e-300, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, -1.5, 1e16, 123456.789)
FIRST_MICROSECOND = datetime.datetime(1906, 1, 1)
MICROSECONDS = (datetime.datetime(2097, 1, 1) - FIRST_MICROSECOND) // datetime.timedelta(microseconds=1)
FIRST_DAY = datetime.date(1900, 1, 1)
DAYS = (datetime.date(2120, 1, 1) - FIRST_DAY).days


class Table:
    """The rows, one after another: a list of texts each, None for NULL."""

    def __init__(self, seed, booleans, write_bytes):
        # Only bits are drawn: what Python's other functions make of them may change from version to version.
        self.bits = random.Random(seed).getrandbits
        self.booleans, self.write_bytes = booleans, write_bytes

    def below(self, limit):
        return self.bits(32) * limit >> 32

    def one_of(self, choices):
        return choices[self.below(len(choices))]

    def rarely(self, one_in):
        return self.below(one_in) == 0

    def row(self, key):
        return [str(key)] + [None if self.rarely(18) else make() for make in (
            self.big, self.decimal, self.float, self.timestamp, self.date, self.boolean, self.text, self.json, self.bytes)]

    def big(self):
        return str(self.one_of(BIG) if self.rarely(10) else self.bits(64) - 2**63)

    def decimal(self):
        digits = self.one_of(DECIMALS) if self.rarely(10) else self.bits(80) % 10**24 * (1 - 2 * self.bits(1))
        sign = "-" if digits < 0 else ""
        return f"{sign}{abs(digits) // 10**6}.{abs(digits) % 10**6:06}"

    def float(self):
        number = self.one_of(FLOATS) if self.rarely(5) else (self.bits(53) - 2**52) * 10.0 ** (self.below(40) - 30)
        return repr(number).removesuffix(".0")

    def timestamp(self):
        # Some have no fraction of a second, and some few digits of it.
        micros = self.bits(60) % MICROSECONDS // (unit := self.one_of((1, 1, 1, 1000, 1000000))) * unit
        moment = FIRST_MICROSECOND + datetime.timedelta(microseconds=micros)
        return str(moment).rstrip("0") if moment.microsecond else str(moment)

    def date(self):
        return str(FIRST_DAY + datetime.timedelta(days=self.below(DAYS)))

    def boolean(self):
        return self.booleans[self.bits(1)]

    def text(self):
        if self.rarely(8):
            return self.one_of(WHOLE)
        return "".join([self.one_of(PIECES) for _ in range(1 + self.below(6))])

    def json(self):
        # Objects keep the order of their keys, their blanks, doubled keys, and numbers that no float holds.
        number = self.one_of(("1", "1.50", "-0", "1e2", "12345678901234567890123", "0.1000000000000000055"))
        text = self.one_of(("plain", "Łódź 😀", "\\u00e9", "\\n", '\\"', "\\\\", "/"))
        return self.one_of((
            f'{{"z": {number}, "a": [1,2,  3], "m": null}}',
            f'{{"b":"{text}","a":{number},"b":true}}',
            f'[{number}, "{text}" ,{{}}]',
            f'"{text}"',
            number,
            "null",
            "{ }",
        ))

    def bytes(self):
        length = 0 if self.rarely(11) else 1 + self.below(32)
        return self.write_bytes(self.bits(8 * length).to_bytes(length, "big") if length else b"")


def quoted(value, null):
    if value is None:
        return null
    plain = value and value != null and value == value.strip() and value[0] != "#" and not any(mark in value for mark in ',"\n\r')
    return value if plain else '"' + value.replace('"', '""') + '"'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", help="how many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="the key of the first row")
    parser.add_argument("--header", action="store_true", help="begin with the names of the columns")
    parser.add_argument("--null", default="\\N", help="what stands for NULL, never between quotes (default: \\N)")
    parser.add_argument("--booleans", default="true,false", help="true and false, for instance 1,0")
    parser.add_argument("--bytes", choices=("postgres", "hex", "base64"), default="postgres",
                        help="postgres: \\x and hexadecimal; hex: without \\x")
    parser.add_argument("--create", choices=("postgres", "mysql", "sqlite"), help="print the statement that makes the table, and no rows")
    parser.add_argument("--table", default="mixed", help="its name there")
    asked = parser.parse_args()
    if asked.create:
        columns = ", ".join(f"{name} {types[asked.create]}" for name, types in COLUMNS.items())
        print(f"CREATE TABLE {asked.table} ({columns});")
        return
    if asked.rows is None:
        parser.error("how many rows?")
    writing = {"postgres": lambda value: "\\x" + value.hex(), "hex": bytes.hex, "base64": lambda value: base64.b64encode(value).decode()}
    true, false = asked.booleans.split(",")
    table = Table(asked.seed, (false, true), writing[asked.bytes])
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="", buffering=1 << 20)
    if asked.header:
        out.write(",".join(COLUMNS) + "\n")
    for key in range(asked.first, asked.first + asked.rows):
        out.write(",".join([quoted(value, asked.null) for value in table.row(key)]) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
