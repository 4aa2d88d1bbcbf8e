//! Variables: `${name}` and `$name`.

use transship_tests::Scratch;

use super::{echo, errors, warnings};

/// What is printed for a value with these options; nothing is warned about.
#[track_caller]
fn printed(value: &str, options: &[&str]) -> String {
    let scratch = Scratch::new();
    let run = echo(&scratch, value, options).succeeds();
    run.does_not_say(["warning: "]);
    run.stdout.trim_end().to_string()
}

#[test]
fn variables_come_from_both_options_and_the_last_one_counts() {
    let value = r#""${a} $b ${c}""#;
    assert_eq!(printed(value, &["-D", "a=1", "-Db=2", "--define", "c=3"]), "1 2 3");
    assert_eq!(printed(value, &["-p", "-Da=1  -Db=2 -Dc=3"]), "1 2 3");
    assert_eq!(printed(value, &["-p-Da=1 -Db=2", "--params", "-Dc=3"]), "1 2 3");
    assert_eq!(printed(value, &["-Da=1", "-p", "-Db=2", "-Da=0", "-Dc=3"]), "0 2 3");
    assert_eq!(
        printed(value, &["-Da=1", "-p", "-Da=9 -Db=2 -Dc=8 -Dc=3"]),
        "1 2 3",
        "-D outweighs -p wherever it stands"
    );
}

#[test]
fn a_value_may_have_blanks_quotes_and_equals_signs() {
    assert_eq!(printed(r#""$w""#, &["-p", "-Da=1 -Dw='x y' -Db=2"]), "x y");
    assert_eq!(printed(r#""$w""#, &["-p", r#"-Dw="id > 3 and x""#]), "id > 3 and x");
    assert_eq!(printed(r#""$w""#, &["-D", "w=a = 'b'"]), "a = 'b'");
    assert_eq!(printed("'$w'", &["-D", r#"w="quoted""#]), "\"quoted\"");
}

#[test]
fn a_name_is_taken_as_long_as_it_is() {
    let both = ["-D", "dt=1", "-D", "dt_x=2"];
    assert_eq!(printed(r#""$dt $dt_x ${dt}_x $dt-x a${dt}b$dt_x.""#, &both), "1 2 1_x 1-x a1b2.");
}

#[test]
fn a_value_may_hold_variables_but_not_for_ever() {
    assert_eq!(printed(r#""$a""#, &["-D", "a=<${b}>", "-D", "b=$c", "-D", "c=end"]), "<end>");
    assert_eq!(printed(r#""$a""#, &["-D", "a=x$a"]), "x$a");
}

#[test]
fn a_value_may_be_a_piece_of_json() {
    assert_eq!(printed("$value", &["-D", "value=42"]), "42");
    assert_eq!(printed(r#""one" $more"#, &["-D", r#"more=}, {"type": "long", "value": 2"#]), "one\t2");
}

#[test]
fn one_that_is_not_set_stays_as_it_is_with_a_warning_that_says_where() {
    let scratch = Scratch::new();
    // The same twice is told once; comments and figures are none of these.
    let run = echo(&scratch, "\"${dt} $dt ${dt} $1 $ ${} \" // $comment\n", &[]).succeeds();
    assert_eq!(run.stdout, "${dt} $dt ${dt} $1 $ ${} \n");
    let warned: Vec<&str> = warnings(&run).into_iter().filter(|warning| warning.contains("variable")).collect();
    assert_eq!(
        warned,
        [
            "job.json:5:19: the variable ${dt} is not set and stays as it is written; -D dt=… sets it",
            "job.json:5:25: the variable $dt is not set and stays as it is written; -D dt=… sets it",
        ]
    );
}

#[test]
fn a_blank_value_counts_as_none() {
    let scratch = Scratch::new();
    let run = echo(&scratch, "\"dt=${dt}\"", &["-D", "dt= "]).succeeds();
    assert_eq!(run.stdout, "dt=${dt}\n");
    let warning = "the variable ${dt} is blank, which counts as not set, and stays as it is written; -D dt=… sets it";
    assert_eq!(warnings(&run), [format!("job.json:5:22: {warning}")]);
}

#[test]
fn outside_quotes_those_that_are_not_set_are_named_and_refuse_the_file() {
    let scratch = Scratch::new();
    let run = echo(&scratch, "$value }, { \"value\": ${other}", &["-D", "set=1"]).fails_with(2);
    run.says(["error: job.json:5:18: a variable that is not set stands here", "not set: ${other}, ${value}"]);
    assert_eq!(run.stdout, "");
}

#[test]
fn what_is_wrong_inside_a_value_is_told_at_the_variable() {
    let scratch = Scratch::new();
    let run = echo(&scratch, "$value", &["-D", "value=tru"]).fails_with(2);
    assert!(errors(&run)[0].starts_with("job.json:5:18 (in the value of ${value}): "), "{run}");
}

#[test]
fn what_looks_like_a_variable_in_a_secret_is_not_shown() {
    let scratch = Scratch::new();
    let run = echo(&scratch, r#""x", "password": "open$sesame""#, &[]).succeeds();
    run.says(["what looks like a variable in job.content[0].reader.parameter.column[0].password is not set"]);
    run.does_not_say(["sesame"]);
}

#[test]
fn a_definition_that_is_none_is_explained_before_anything_is_read() {
    let scratch = Scratch::new();
    let cases: [(&[&str], &str); 5] = [
        (&["-D", "dt"], "write name=value"),
        (&["-D", "=1"], "\"\" is no name of a variable"),
        (&["-D", "a-b=1"], "\"a-b\" is no name of a variable: letters, digits and _ are"),
        (
            &["-p", "-Dw=id > 3"],
            "\">\" belongs to no -Dname=value: put a value with blanks in it in quotes, -Dname='a b'",
        ),
        (&["-p", "-D=1"], "has no name: write -Dname=value"),
    ];
    for (options, message) in cases {
        let run = echo(&scratch, "1", options).ends_with(2);
        run.says([message]);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn variables_are_for_every_command_and_every_file() {
    let scratch = Scratch::new();
    scratch.write("a.json", super::printing("$value"));
    scratch.write("b.json", super::printing("\"<$value>\""));
    let run = scratch.transship(["run", "--in-order", "a.json", "b.json", "-Dvalue=5"]).run().succeeds();
    assert_eq!(run.stdout, "5\n<5>\n");
    scratch.transship(["check", "a.json", "-Dvalue=5"]).run().succeeds();
    scratch.transship(["plan", "a.json", "-Dvalue=5"]).run().succeeds();
    scratch.transship(["check", "a.json"]).run().fails_with(2);
}
