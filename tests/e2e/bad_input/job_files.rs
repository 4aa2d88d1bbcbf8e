//! Job files that are wrong in one way each. What is told of them is in `tests/golden/broken_job_files.txt`.

/// A job file with this setting.
macro_rules! with_setting {
    ($setting:literal) => {
        concat!(
            "{\"job\": {\"setting\": ",
            $setting,
            ",\n  \"content\": [{\"reader\": {\"name\": \"r\"}, \"writer\": {\"name\": \"w\"}}]}}"
        )
    };
}

/// What is wrong, and the file.
pub(super) const BROKEN: [(&str, &str); 47] = [
    ("an empty file", ""),
    ("nothing but blanks", " \n\t\n "),
    ("an object that is not closed", "{\n  \"job\": {\n    \"content\": [\n"),
    ("a comma that is missing", "{\"job\": {\n  \"setting\": {}\n  \"content\": []\n}}"),
    ("a colon that is missing", "{\"job\" {}}"),
    ("two commas", "{\"job\": {},, \"core\": {}}"),
    ("a bracket that is closed by a brace", "{\"job\": {\"content\": [{}}}"),
    ("a string that is not closed", "{\"job\": \"content}\n"),
    ("a line break in a string", "{\"job\": \"con\ntent\"}"),
    ("an escape that does not exist", "{\"job\": \"C:\\data\\x\"}"),
    ("a word that is no JSON", "{\"job\": {\"content\": yes}}"),
    ("a number that is none", "{\"job\": 1.2.3}"),
    ("quotes of the wrong kind", "{'job': {}}"),
    ("letters of several bytes before the place", "{\"größe\": \"☃☃☃\", job: 1}"),
    ("tabs before the place", "{\n\t\t\"job\":\t{\"content\"\t[]}\n}"),
    (
        "a place far along its line",
        concat!(
            "{\"one\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", ",
            "\"two\": \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\", three, ",
            "\"four\": \"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"}",
        ),
    ),
    ("a second document", "{\"job\": {}} {\"job\": {}}"),
    ("a password on the line at fault", "{\"username\": \"ann\", \"password\": \"open-sesame\", \"job\" {}}"),
    ("a password on the line at fault, not closed", "{\"job\": {\"password\": \"open-sesame"),
    ("a password of several lines", "{\"job\": {\"password\":\n  \"open-sesame\" \"token\"}}"),
    ("a list", "[]"),
    ("a text", "\"job.json\""),
    ("null", "null"),
    ("no job", "{}"),
    ("a job that is null", "{\"job\": null}"),
    ("a job that is a list", "{\"job\": []}"),
    ("no content", "{\"job\": {\"setting\": {}}}"),
    ("an empty content", "{\"job\": {\"content\": []}}"),
    ("a content that is a text", "{\"job\": {\"content\": \"all\"}}"),
    ("an entry that is a text", "{\"job\": {\"content\": [\"all\"]}}"),
    ("no reader", "{\"job\": {\"content\": [{\"writer\": {\"name\": \"w\"}}]}}"),
    ("a reader that is a text", "{\"job\": {\"content\": [{\"reader\": \"r\", \"writer\": {\"name\": \"w\"}}]}}"),
    ("no writer", "{\"job\": {\"content\": [{\"reader\": {\"name\": \"r\"}}]}}"),
    (
        "a plugin without a name",
        "{\"job\": {\"content\": [{\"reader\": {\"parameter\": {}}, \"writer\": {\"name\": \"w\"}}]}}",
    ),
    (
        "a name that is blank",
        "{\"job\": {\"content\": [{\"reader\": {\"name\": \" \"}, \"writer\": {\"name\": \"w\"}}]}}",
    ),
    (
        "a name that is an object",
        "{\"job\": {\"content\": [{\"reader\": {\"name\": {}}, \"writer\": {\"name\": \"w\"}}]}}",
    ),
    (
        "parameters that are a list",
        "{\"job\": {\"content\": [{\"reader\": {\"name\": \"r\", \"parameter\": []}, \"writer\": {\"name\": \"w\"}}]}}",
    ),
    (
        "a transformer without a name",
        concat!(
            "{\"job\": {\"content\": [{\"reader\": {\"name\": \"r\"}, \"writer\": {\"name\": \"w\"},\n",
            "  \"transformer\": [{\"name\": \"t\"}, {\"parameter\": {}}]}]}}",
        ),
    ),
    (
        "a transformer that is a text",
        "{\"job\": {\"content\": [{\"reader\": {\"name\": \"r\"}, \"writer\": {\"name\": \"w\"}, \"transformer\": [\"t\"]}]}}",
    ),
    ("a setting that is a list", with_setting!("[]")),
    ("a speed that is a number", with_setting!("{\"speed\": 5}")),
    ("a channel that is a word", with_setting!("{\"speed\": {\"channel\": \"many\"}}")),
    ("a channel and a half", with_setting!("{\"speed\": {\"channel\": 1.5}}")),
    ("an errorLimit that is a number", with_setting!("{\"errorLimit\": 0}")),
    ("a record limit that is a word", with_setting!("{\"errorLimit\": {\"record\": \"none\"}}")),
    ("a share above one", with_setting!("{\"errorLimit\": {\"percentage\": 2}}")),
    (
        "a capacity that is a truth",
        concat!(
            "{\"core\": {\"transport\": {\"channel\": {\"capacity\": true}}},\n",
            " \"job\": {\"content\": [{\"reader\": {\"name\": \"r\"}, \"writer\": {\"name\": \"w\"}}]}}",
        ),
    ),
];
