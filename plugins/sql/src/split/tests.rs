//! Tests of splits: whatever the keys are, the ranges hold every row exactly once, and about as many each.

mod sqlite;

use proptest::prelude::*;

use super::*;
use crate::{MySql, Postgres, Sqlite};
use sqlite::{Keys, Rows};

/// The ways to find bounds.
#[derive(Debug, Clone, Copy)]
enum Way {
    Ranks,
    Sample,
    Steps,
    Estimates,
}

const WAYS: [Way; 4] = [Way::Ranks, Way::Sample, Way::Steps, Way::Estimates];

impl Way {
    fn ranges(self, table: &Table<'_>, parts: usize, ask: &mut Ask<'_>) -> Vec<Range> {
        match self {
            Way::Ranks => {
                let rows = count(table, ask).unwrap();
                by_ranks(table, rows, parts, ask)
            }
            Way::Sample => {
                let sample = Table { name: "(SELECT * FROM t WHERE row % 3 = 0) AS s", ..*table };
                let rows = count(&sample, ask).unwrap();
                by_ranks(&sample, rows, parts, ask)
            }
            Way::Steps => {
                let rows = count(table, ask).unwrap();
                by_steps(table, rows, parts, ask)
            }
            Way::Estimates => by_estimates(table, parts, ask, &mut counted),
        }
        .unwrap()
    }
}

/// As good as an estimate can be.
fn counted(condition: &str, ask: &mut Ask<'_>) -> Result<u64> {
    let rows = ask(&format!("SELECT count(*) FROM t WHERE {condition}"))?;
    Ok(rows[0][0].as_ref().unwrap().parse().unwrap())
}

fn any_key() -> impl Strategy<Value = Keys> {
    let rows = 0..150usize;
    let integer = prop_oneof![
        3 => (-20..20i64).prop_map(|number| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => Just(i64::MIN.to_string()),
        1 => Just(i64::MAX.to_string()),
    ];
    let real = prop_oneof![
        (-20..20i32).prop_map(|number| format!("{:?}", number as f64 / 8.0)),
        any::<f64>().prop_filter("no literal", |real| real.is_finite()).prop_map(|real| format!("{real:e}")),
    ];
    let text = prop_oneof!["[a-cA-C]{0,3}", "[ -~\\PC]{0,6}", "[äÄéz'\\\\\"]{0,4}"].prop_map(|text| Sqlite.text(&text));
    let bytes = "x'([0-9a-f]{2}){0,3}'";
    let null = Just("NULL".to_string());
    let column = |declared: &'static str, value: BoxedStrategy<String>| {
        let value = prop_oneof![6 => value, 1 => null.clone()];
        let values = proptest::collection::vec(value, rows.clone());
        values.prop_map(move |values| Keys::new(&[declared], values.into_iter().map(|value| vec![value]).collect()))
    };
    let mixed = prop_oneof![integer.clone(), real.clone(), text.clone(), bytes].boxed();
    let pair = (prop_oneof![(0..4).prop_map(|number: i32| number.to_string()), null.clone()], text.clone());
    let pair = pair.prop_map(|(one, other)| vec![one, other]);
    let pairs = proptest::collection::vec(pair, rows.clone());
    prop_oneof![
        column("INTEGER", integer.boxed()),
        column("REAL", real.boxed()),
        column("TEXT", text.clone().boxed()),
        column("TEXT COLLATE NOCASE", text.boxed()),
        column("BLOB", bytes.boxed()),
        column("", mixed),
        pairs.prop_map(|rows| Keys::new(&["INTEGER", "TEXT COLLATE NOCASE"], rows)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    /// Traps 48, 50, 51.
    #[test]
    fn the_ranges_together_are_the_table_and_no_row_is_in_two(
        keys in any_key(), parts in 1..=64usize, way in proptest::sample::select(&WAYS), with_condition in any::<bool>(),
    ) {
        let mut rows = Rows::new(&keys);
        let condition = with_condition.then_some("row % 5 <> 0 or row = 10");
        let key = keys.key(&Sqlite);
        let table = Table { dialect: &Sqlite, name: "t", condition, key: &key };
        let ranges = way.ranges(&table, parts, &mut |sql| Ok(rows.ask(sql)));
        prop_assert!(ranges.len() <= parts + 1, "{} ranges instead of {parts}", ranges.len());
        // Written out, as for databases that cannot compare rows, the comparisons are the same.
        let mut found = [Vec::new(), Vec::new()];
        for range in &ranges {
            let sql = select::from_table(&["row"], "t", condition, range.condition(&Sqlite).as_deref());
            found[0].extend(rows.numbers(&sql));
            let sql = select::from_table(&["row"], "t", condition, range.condition(&sqlite::WithoutRows).as_deref());
            found[1].extend(rows.numbers(&sql));
        }
        let expected = rows.numbers(&select::from_table(&["row"], "t", condition, None));
        for mut found in found {
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
        }
    }

    /// Trap 49.
    #[test]
    fn a_row_that_comes_later_is_in_one_range_too(all in any_key(), share in 0..=10usize, parts in 1..=64usize) {
        let (keys, later) = all.split(share);
        let mut rows = Rows::new(&keys);
        let key = keys.key(&Sqlite);
        let table = Table { dialect: &Sqlite, name: "t", condition: None, key: &key };
        let ranges = Way::Ranks.ranges(&table, parts, &mut |sql| Ok(rows.ask(sql)));
        rows.insert(&later);
        let of = |range: &Range| select::from_table(&["row"], "t", None, range.condition(&Sqlite).as_deref());
        let mut found: Vec<_> = ranges.iter().flat_map(|range| rows.numbers(&of(range))).collect();
        found.sort_unstable();
        prop_assert_eq!(found, rows.numbers("SELECT row FROM t"));
    }

    #[test]
    fn ranges_of_different_keys_have_about_as_many_rows(
        count in 64..400usize, parts in 2..=16usize, way in proptest::sample::select(&[Way::Ranks, Way::Steps]),
    ) {
        let keys: Vec<_> = (0..count).map(|row| vec![(row * row * 37).to_string()]).collect();
        let keys = Keys::new(&["INTEGER"], keys);
        let mut rows = Rows::new(&keys);
        let key = keys.key(&Sqlite);
        let table = Table { dialect: &Sqlite, name: "t", condition: None, key: &key };
        let ranges = way.ranges(&table, parts, &mut |sql| Ok(rows.ask(sql)));
        let most = count.div_ceil(parts);
        prop_assert!(ranges.len() == count.div_ceil(most) + 1, "{} ranges", ranges.len());
        for range in ranges {
            let sql = select::from_table(&["row"], "t", None, range.condition(&Sqlite).as_deref());
            prop_assert!(rows.numbers(&sql).len() <= most, "{range:?} has more than {most}");
        }
    }
}

/// The largest range of a key of whole numbers that is cut in such a way, and how many questions it took.
fn largest(numbers: impl Iterator<Item = i64>, parts: usize, way: Way) -> (usize, usize) {
    let keys = Keys::new(&["INTEGER"], numbers.map(|number| vec![number.to_string()]).collect());
    let mut rows = Rows::new(&keys);
    rows.ask("CREATE INDEX keys ON t (\"the \"\"key\"\" 0\")");
    let key = keys.key(&Sqlite);
    let table = Table { dialect: &Sqlite, name: "t", condition: None, key: &key };
    let mut asked = 0;
    let ranges = way.ranges(&table, parts, &mut |sql| {
        asked += 1;
        Ok(rows.ask(sql))
    });
    let sizes = ranges
        .into_iter()
        .map(|range| rows.numbers(&select::from_table(&["row"], "t", None, range.condition(&Sqlite).as_deref())).len());
    (sizes.max().unwrap(), asked)
}

/// Keys, of which nobody knows how many there are between two.
struct Keyed(Vec<i128>, usize);

impl Index for Keyed {
    type Error = std::convert::Infallible;

    fn first_from(&mut self, number: Option<i128>) -> Result<Option<i128>, Self::Error> {
        self.1 += 1;
        Ok(self.0.iter().copied().find(|key| number.is_none_or(|number| *key >= number)))
    }

    fn last_to(&mut self, number: Option<i128>) -> Result<Option<i128>, Self::Error> {
        self.1 += 1;
        Ok(self.0.iter().rev().copied().find(|key| number.is_none_or(|number| *key <= number)))
    }
}

#[test]
fn gaps_do_not_unbalance_runs() {
    let mut index = Keyed((1..=2_000).chain((1..=2_000).map(|number| number + (1 << 60))).collect(), 0);
    let cuts = Runs::find(10, &mut index).unwrap().cuts(10);
    let below = |cut: &i128| index.0.iter().filter(|key| *key < cut).count();
    for (part, rows) in cuts.iter().map(below).enumerate() {
        assert!(rows.abs_diff((part + 1) * 400) <= 20, "{rows} of 4000 rows below cut {part} of {cuts:?}");
    }
    assert!(index.1 <= 130, "{} look-ups", index.1);
    let mut far = Keyed(vec![i64::MIN.into(), 0, i64::MAX.into()], 0);
    assert_eq!(Runs::find(3, &mut far).unwrap().cuts(3), [0, i64::MAX.into()]);
}

/// Ids that count up and ids that are spread over everything in one table.
#[test]
fn estimates_balance_what_is_dense_here_and_sparse_there() {
    let numbers = || (1..=9_900i64).chain((1..=100).map(|number| number << 55));
    let (rows, asked) = largest(numbers(), 10, Way::Estimates);
    assert!(rows <= 1_100, "{rows} of 10000 rows in one of 10 ranges");
    assert!(asked <= 1_500, "{asked} questions");
}

#[test]
fn a_key_of_many_rows_does_not_make_the_other_ranges_larger() {
    let numbers = || std::iter::repeat_n(5, 900).chain(1..=300);
    for way in [Way::Estimates, Way::Ranks, Way::Steps] {
        let (rows, _) = largest(numbers(), 10, way);
        assert!(rows <= 901 + 1_200 / 10, "{rows} rows in one range by {way:?}");
    }
}

#[test]
fn tables_without_keys_stay_whole() {
    for rows in [vec![], vec![vec!["NULL".to_string()]; 3]] {
        let keys = Keys::new(&["INTEGER"], rows);
        let mut rows = Rows::new(&keys);
        let key = keys.key(&Sqlite);
        let table = Table { dialect: &Sqlite, name: "t", condition: None, key: &key };
        for way in WAYS {
            assert_eq!(way.ranges(&table, 8, &mut |sql| Ok(rows.ask(sql))), [Range::Whole], "{way:?}");
        }
    }
}

/// Traps 52, 53.
#[test]
fn tables_are_cut_only_where_there_are_more_channels_than_tables() {
    assert_eq!((parts(1, 1, 5), parts(2, 1, 5), parts(3, 1, 1)), (1, 10, 3));
    assert_eq!((parts(4, 4, 5), parts(4, 8, 5), parts(5, 4, 5)), (1, 1, 2));
    assert_eq!(parts(10_000, 1, 1_000), MOST_RANGES);
}

fn pair_of_keys(dialect: &dyn Dialect) -> Key {
    let part = |name: &str, kind, nullable| KeyPart { name: name.into(), sql: dialect.quote(name), kind, nullable };
    Key { parts: vec![part("a", KeyKind::Number, false), part("b", KeyKind::Text, true)] }
}

#[test]
fn conditions_are_those_of_the_dialect() {
    let range = |key| Range::Keys { key, from: Some(vec!["1".into(), "x'".into()]), below: None };
    assert_eq!(
        range(pair_of_keys(&Postgres)).condition(&Postgres).unwrap(),
        "(\"a\", \"b\") >= ('1', 'x''') AND \"b\" IS NOT NULL"
    );
    assert_eq!(
        range(pair_of_keys(&MySql)).condition(&MySql).unwrap(),
        "`a` >= 1 AND (`a` > 1 OR `b` >= 'x''') AND `b` IS NOT NULL"
    );
    let nulls = Range::Nulls { key: pair_of_keys(&MySql) };
    assert_eq!(nulls.condition(&MySql).unwrap(), "`b` IS NULL");
    assert_eq!(Range::Whole.condition(&MySql), None);
}

#[test]
fn ranges_have_names_that_people_understand() {
    let key = Key::column(&MySql, "id", KeyKind::Number, true);
    let ranges = between(&key, vec![vec!["10".into()], vec!["2000".into()]]);
    let labels: Vec<_> = ranges.iter().map(|range| range.label(3)).collect();
    assert_eq!(labels, [", id below 10", ", id from 10 below 200", ", id from 200", ", id is NULL"]);
    let pair = Range::Nulls { key: pair_of_keys(&MySql) };
    assert_eq!(pair.label(9), ", (a, b) is NULL");
}

#[test]
fn ranges_survive_a_journey_as_json() {
    let key = Key::column(&Postgres, "id", KeyKind::Number, true);
    for range in between(&key, vec![vec!["10".into()]]).into_iter().chain([Range::Whole]) {
        let json = serde_json::to_string(&range).unwrap();
        assert_eq!(serde_json::from_str::<Range>(&json).unwrap(), range, "{json}");
    }
}
