//! Encrypted connections to real servers: whether there is one, and whom both sides take for whom they should.

use transship_tests::servers::certificates;
use transship_tests::{Database, Finished, Job, Scratch, System, json, plugin};

/// What the properties of a system's URLs are called.
struct Words {
    system: System,
    never: &'static str,
    always: &'static str,
    authority: &'static str,
    name: &'static str,
    roots: &'static str,
    certificate: &'static str,
    key: &'static str,
    /// A query that tells whether its connection is encrypted, and the answers.
    asks: &'static str,
    yes: &'static str,
    no: &'static str,
}

const SYSTEMS: [Words; 2] = [
    Words {
        system: System::MySql,
        never: "sslMode=DISABLED",
        always: "sslMode=REQUIRED",
        authority: "sslMode=VERIFY_CA",
        name: "sslMode=VERIFY_IDENTITY",
        roots: "sslCa",
        certificate: "sslCert",
        key: "sslKey",
        asks: "select if(variable_value like 'TLS%', 'yes', 'no') from information_schema.session_status \
               where variable_name = 'Ssl_version'",
        yes: "yes\n",
        no: "no\n",
    },
    Words {
        system: System::Postgres,
        never: "sslmode=disable",
        always: "sslmode=require",
        authority: "sslmode=verify-ca",
        name: "sslmode=verify-full",
        roots: "sslrootcert",
        certificate: "sslcert",
        key: "sslkey",
        asks: "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
        yes: "true\n",
        no: "false\n",
    },
];

/// Runs a job that asks whether its connection is encrypted.
fn asked(words: &Words, database: &Database, host: &str, properties: &str, user: &str) -> Finished {
    let name = if words.system == System::MySql { "mysqlreader" } else { "postgresqlreader" };
    let address = database.address().replace("127.0.0.1", host);
    let parameter = json!({
        "username": user,
        "password": database.password(),
        "connection": [{ "jdbcUrl": [format!("{}?{properties}", database.url_at(&address))], "querySql": [words.asks] }],
    });
    let job = Job::new(plugin(name, parameter), plugin("streamwriter", json!({ "print": true })));
    let scratch = Scratch::new();
    scratch.job("job.json", &job);
    scratch.transship(["run", "job.json"]).run()
}

fn file(property: &str, name: &str) -> String {
    format!("{property}={}", certificates().join(name).display())
}

#[test]
fn a_connection_is_encrypted_where_the_server_can_unless_the_url_says_never() {
    for words in &SYSTEMS {
        let database = Database::encrypted(words.system);
        for (properties, expected) in [("", words.yes), (words.always, words.yes), (words.never, words.no)] {
            let run = asked(words, &database, "127.0.0.1", properties, database.username()).succeeds();
            assert_eq!(run.stdout, expected, "{:?} {properties}", words.system);
        }
    }
}

#[test]
fn a_url_that_insists_is_not_content_with_a_server_that_cannot() {
    for words in &SYSTEMS {
        let database = Database::new(words.system);
        asked(words, &database, "127.0.0.1", words.always, database.username()).fails_with(1).says(["TLS"]);
    }
}

#[test]
fn certificates_are_checked_as_far_as_the_url_says() {
    for words in &SYSTEMS {
        let database = Database::encrypted(words.system);
        let (right, wrong) = (file(words.roots, "ca.pem"), file(words.roots, "other.pem"));
        let run = |host: &str, mode: &str, roots: &str| {
            asked(words, &database, host, &format!("{mode}&{roots}"), database.username())
        };
        // The certificate is for localhost.
        for (host, mode) in [("127.0.0.1", words.authority), ("localhost", words.authority), ("localhost", words.name)]
        {
            assert_eq!(run(host, mode, &right).succeeds().stdout, words.yes, "{:?} {host} {mode}", words.system);
        }
        run("127.0.0.1", words.name, &right).fails_with(1).says(["certificate not valid for name"]);
        for mode in [words.authority, words.name] {
            run("localhost", mode, &wrong).fails_with(1).says(["UnknownIssuer"]).does_not_say(["attempt 1"]);
        }
    }
}

#[test]
fn a_server_that_wants_to_know_who_comes_is_shown_a_certificate() {
    for words in &SYSTEMS {
        let database = Database::encrypted(words.system);
        make_certified(words.system, &database);
        let run = |key: &str| {
            let files = [file(words.certificate, "client.pem"), file(words.key, key), file(words.roots, "ca.pem")];
            asked(words, &database, "localhost", &format!("{}&{}", words.name, files.join("&")), "certified")
        };
        assert_eq!(run("client.key").succeeds().stdout, words.yes);
        assert_eq!(run("client.pk8").succeeds().stdout, words.yes);
        asked(words, &database, "localhost", words.always, "certified").fails_with(1).says(["certified"]);
        run("locked.key").fails_with(2).says(["locked.key: a pass phrase locks it"]);
        run("server.key").fails_with(2).says([words.key, "do not belong together"]);
        run("ca.pem").fails_with(2).says(["ca.pem: "]);
        run("nowhere.key").fails_with(2).says(["nowhere.key: No such file"]);
    }
}

/// A user who may log in with a certificate alone.
fn make_certified(system: System, database: &Database) {
    let password = database.password();
    database.run(&match system {
        System::MySql => format!(
            "CREATE OR REPLACE USER certified IDENTIFIED BY '{password}' REQUIRE X509; GRANT ALL ON *.* TO certified"
        ),
        System::Postgres => format!("CREATE ROLE certified LOGIN PASSWORD '{password}'"),
    });
}

#[test]
fn what_a_url_says_of_certificates_must_make_sense() {
    let words = &SYSTEMS[0];
    let database = Database::encrypted(words.system);
    let refused = |properties: &str, says: &str| {
        asked(words, &database, "localhost", properties, database.username()).fails_with(2).says([says]);
    };
    refused("sslMode=VERIFY_CA", "sslCa=/path/ca.pem");
    refused("sslMode=VERIFY_CA&sslCa=/nowhere", "has sslCa=/nowhere: No such file");
    refused(&format!("sslMode=VERIFY_CA&{}", file("sslCa", "client.key")), "there is no certificate in it");
    refused(&file("sslCert", "client.pem"), "add sslKey=");
    refused("clientCertificateKeyStoreUrl=file:/etc/keys.jks", "files in PEM form");
    refused("sslMode=VERIFY_CA&trustStore=/etc/keys.jks", "name them by sslCa");
}
