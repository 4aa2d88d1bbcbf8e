//! Tests of the servers: whether tests that use them can trust them.

use serde_json::json;

use super::*;

#[test]
fn a_database_belongs_to_one_test_and_ends_with_it() {
    for system in [System::Postgres, System::MySql] {
        let name = {
            let (one, other) = (Database::new(system), Database::new(system));
            assert_ne!(one.name(), other.name());
            one.run("CREATE TABLE t (a INT, b VARCHAR(20)); INSERT INTO t VALUES (1, 'ü'), (2, NULL)");
            assert_eq!(one.rows("SELECT a, b FROM t ORDER BY a"), ["1\tü", "2\tNULL"]);
            let count = "SELECT count(*) FROM information_schema.tables WHERE table_name = 't' AND table_schema ";
            let schema = if system == System::Postgres { "= 'public'".into() } else { format!("= '{}'", other.name()) };
            assert_eq!(other.value(&format!("{count}{schema}")), "0");
            one.name().to_string()
        };
        let catalog = match system {
            System::Postgres => "SELECT count(*) FROM pg_database WHERE datname",
            System::MySql => "SELECT count(*) FROM information_schema.schemata WHERE schema_name",
        };
        assert_eq!(Database::new(system).value(&format!("{catalog} = '{name}'")), "0");
    }
}

#[test]
fn a_statement_that_fails_stops_the_test() {
    for system in [System::Postgres, System::MySql] {
        let database = Database::new(system);
        let problem = database.server.try_run(Some(database.name()), "SELECT 1; SELECT * FROM nowhere").unwrap_err();
        assert!(problem.contains("nowhere"), "{problem}");
    }
}

#[test]
fn parameters_name_the_database_unless_they_have_their_own() {
    let database = Database::mysql();
    let parameter = database.parameter(json!({"table": "t"}));
    assert_eq!(parameter["jdbcUrl"], database.url());
    assert_eq!(parameter["username"], database.username());
    assert_eq!(database.parameter(json!({"connection": []})).get("jdbcUrl"), None);
}

#[test]
fn passwords_are_decoded() {
    let server = Server::at(System::Postgres, "postgresql://a%40b:p%23%25w@127.0.0.1:5433/postgres");
    let parts = (server.username.as_str(), server.password.as_str(), server.address.as_str());
    assert_eq!(parts, ("a@b", "p#%w", "127.0.0.1:5433"));
}
