//! What is refused, in the words that the operator reads.

use secrecy::ExposeSecret as _;

use super::*;
use crate::keys::{Keys, Setting};

/// What the operator reads when the layers are refused.
fn refusal(layers: Layers) -> String {
    load(layers).expect_err("accepted").to_string()
}

#[track_caller]
fn assert_refused(layers: Layers, expected: &str) {
    assert_eq!(refusal(layers), expected);
}

#[test]
fn unknown_keys_are_refused_with_their_source_and_a_suggestion() {
    assert_refused(
        file("[server]\nlisen = \"127.0.0.1:1\"\n"),
        "`server.lisen` (file bourse.toml) is not a setting; did you mean `server.listen`?",
    );
    assert_refused(
        file("\"server.listen\" = \"127.0.0.1:1\"\n"),
        "`\"server.listen\"` (file bourse.toml) is not a setting; did you mean `server.listen`?",
    );
    assert_refused(file("[colours]\n"), "`colours` (file bourse.toml) is not a setting");
    assert_refused(
        variable("BOURSE_SERVICE__NAM", "x"),
        "`service.nam` (variable BOURSE_SERVICE__NAM) is not a setting; did you mean BOURSE_SERVICE__NAME?",
    );
    assert_refused(
        variable("BOURSE_SERVER_LISTEN", "x"),
        "`server_listen` (variable BOURSE_SERVER_LISTEN) is not a setting; did you mean BOURSE_SERVER__LISTEN?",
    );
    assert_refused(variable("BOURSE_SERVER", "x"), "`server` (variable BOURSE_SERVER) is not a setting");
    assert_refused(variable("BOURSE_TEST", "x"), "`test` (variable BOURSE_TEST) is not a setting");
    assert_refused(
        variable("BOURSE_SERVER.LISTEN", "x"),
        concat!(
            "`\"server.listen\"` (variable BOURSE_SERVER.LISTEN) is not a setting; ",
            "did you mean BOURSE_SERVER__LISTEN?"
        ),
    );
    assert_refused(
        flag("--pages", "limits.page_max_size", "1"),
        "`limits.page_max_size` (flag --pages) is not a setting",
    );
    assert_refused(
        variable("BOURSE_NETWORKS__MY_CHAIN__RPCURL", "x"),
        "`networks.my-chain.rpcurl` (variable BOURSE_NETWORKS__MY_CHAIN__RPCURL) is not a setting; \
         did you mean BOURSE_NETWORKS__MY_CHAIN__RPC_URL?",
    );
}

#[test]
fn wrong_types_are_refused_with_their_value() {
    assert_refused(
        file("limits.contacts_max = \"many\""),
        "`limits.contacts_max` (file bourse.toml) must be an integer, not \"many\"",
    );
    assert_refused(
        variable("BOURSE_LIMITS__CONTACTS_MAX", "1.5"),
        "`limits.contacts_max` (variable BOURSE_LIMITS__CONTACTS_MAX) must be an integer, not \"1.5\"",
    );
    assert_refused(
        flag("--listen", "limits.contacts_max", ""),
        "`limits.contacts_max` (flag --listen) must be an integer, not \"\"",
    );
    assert_refused(file("service.name = 5"), "`service.name` (file bourse.toml) must be a string, not 5");
    assert_refused(
        file("service.name.x = 5"),
        "`service.name` (file bourse.toml) must be a string, not { x = 5 }",
    );
    assert_refused(
        file("cors.origins = [\"*\", 1]"),
        "`cors.origins` (file bourse.toml) must be a list, each item a string, not [\"*\", 1]",
    );
    assert_refused(file("server = 5"), "`server` (file bourse.toml) must be a section, not an integer");
    assert_refused(
        variable("BOURSE_NETWORKS__POLYGON", "137"),
        "`networks.polygon` (variable BOURSE_NETWORKS__POLYGON) must be a section, not a value",
    );
    assert_refused(
        file("auth.jwt_secret = 123456789"),
        "`auth.jwt_secret` (file bourse.toml) must be a string, not \"********\"",
    );
}

#[test]
fn zero_and_negative_numbers_are_refused_where_a_positive_one_is_required() {
    let keys = Keys::parse(DEFAULT_FILE).unwrap();
    for Setting { key, sample: default, .. } in &keys.fixed {
        let Some(default) = default.as_integer() else { continue };
        let is_off = ["limits.rate_per_minute", "analytics.raw_events_days", "server.drain_ms"]
            .contains(&key.as_str())
            || key.starts_with("quotas.");
        assert_eq!(default == 0, is_off, "{key}");
        let is_off_at_zero = ["storage.self_check_interval_ms", "limits.project_files_bytes_max"];
        let may_be_zero = is_off || is_off_at_zero.contains(&key.as_str());
        assert_eq!(load(file(&format!("{key} = 0"))).is_ok(), may_be_zero, "{key}");
        let minimum = i64::from(!may_be_zero);
        assert_refused(
            file(&format!("{key} = -1")),
            &format!("`{key}` (file bourse.toml) must be at least {minimum}, not -1"),
        );
    }
    assert_refused(file("networks.x.id = 0"), "`networks.x.id` (file bourse.toml) must be at least 1, not 0");
}

#[test]
fn numbers_too_large_are_refused() {
    assert!(
        refusal(file("limits.page_size_max = 5000000000"))
            .starts_with("`limits.page_size_max` (file bourse.toml): ")
    );
    assert!(refusal(file("limits.json_depth_max = 129")).contains("must be at most 128, not 129"));
    assert!(refusal(file("limits.concurrent_requests_max = 1000001")).contains("must be at most 1000000"));
    assert!(load(file("limits.json_depth_max = 128")).is_ok());
    assert!(refusal(file("storage.connections_max = 1")).contains("must be at least 2"));
}

#[test]
fn a_default_page_larger_than_the_largest_is_a_conflict() {
    assert_refused(
        variable("BOURSE_LIMITS__PAGE_SIZE_MAX", "29"),
        "`limits.page_size_default` (default) and `limits.page_size_max` (variable BOURSE_LIMITS__PAGE_SIZE_MAX) \
         conflict: 30 is more than 29",
    );
    assert!(load(variable("BOURSE_LIMITS__PAGE_SIZE_MAX", "30")).is_ok());
}

#[test]
fn texts_out_of_form_are_refused() {
    let long_name = "a".repeat(33);
    let cases: [(&str, &[&str]); 11] = [
        ("server.listen", &["localhost:4010", ":4010", "127.0.0.1", "127.0.0.1:70000", ""]),
        ("service.name", &["", "Bourse", "1a", "_a", "a-b", "é", "service", "unknown", &long_name]),
        (
            "server.public_url",
            &["a.example", "ftp://a.example", "https://", "https:///x", "https://a b", "http://a?b"],
        ),
        (
            "server.peer_address",
            &[
                "10.0.0.7",
                "10.0.0.7:0",
                ":4010",
                "a b:1",
                "http://a:1",
                "a/b:1",
                "[::1:4010",
                "[a]:1",
                "a:70000",
            ],
        ),
        (
            "storage.database",
            &["mysql://h/d", "bourse.db", "sqlite:", "sqlite://", "sqlite::memory:", "sqlite:a?b=c"],
        ),
        ("storage.database_read", &["mysql://h/d", "sqlite:a.db", "replica"]),
        ("storage.data", &[""]),
        ("sources.opensea_url", &["a.example", "ftp://a.example", "https://", "https://a.example?key=x"]),
        ("sources.blur_key", &["a\nb", "é"]),
        ("log.format", &["xml", "JSON", ""]),
        ("cors.origins", &["*,https://a.example", "a.example", "https://a.example/", "https://*.a.example"]),
    ];
    for (key, values) in cases {
        for value in values {
            let message = refusal(flag("--flag", key, value));
            assert!(message.starts_with(&format!("`{key}` (flag --flag): ")), "{key} {value:?}: {message}");
        }
    }
}

#[test]
fn a_short_secret_is_refused_and_not_shown() {
    let secret = "hunter2".repeat(4);
    assert_refused(
        variable("BOURSE_AUTH__JWT_SECRET", &secret),
        "`auth.jwt_secret` (variable BOURSE_AUTH__JWT_SECRET): must be empty or at least 32 bytes long",
    );
    let settings = settings(variable("BOURSE_AUTH__JWT_SECRET", SECRET));
    assert_eq!(settings.auth.jwt_secret.expose_secret(), SECRET);
}

#[test]
fn conflicting_networks_are_refused() {
    assert_refused(
        file("networks.one.id = 5000000\nnetworks.two.id = 5000000\n"),
        "`networks.one.id` (file bourse.toml) and `networks.two.id` (file bourse.toml) conflict: \
         both are network 5000000",
    );
    assert_refused(
        file("networks.matic.id = 137\n"),
        "`networks.polygon.id` (default) and `networks.matic.id` (file bourse.toml) conflict: both are network 137",
    );
    assert_refused(
        file("networks.Polygon.id = 138\n"),
        "`networks.polygon.id` (file bourse.toml): must be 137, since the name is built in, not 138",
    );
}

#[test]
fn sockets_that_are_none_or_stand_alone_are_refused() {
    let network = |urls: &str| refusal(file(&format!("[networks.x]\nid = 5000000\n{urls}")));
    let message = network("rpc_url = \"https://h\"\nws_url = \"wss://h https://hunter2@h\"");
    assert_eq!(
        message,
        "`networks.x.ws_url` (file bourse.toml): the URL of a node's socket begins with ws:// or wss:// and names a host"
    );
    let message = network("ws_url = \"wss://hunter2@h\"");
    assert!(message.ends_with("set `rpc_url` too, so that a node can be asked about them"), "{message}");
    assert!(!message.contains("hunter2"));
}

#[test]
fn incomplete_and_ill_named_networks_are_refused() {
    let needs_id = "`networks.x` (file bourse.toml): needs an `id`";
    assert_refused(file("[networks.x]\nrpc_url = \"https://h\"\n"), needs_id);
    assert_refused(file("[networks.x]\n"), needs_id);
    for name in ["my_chain", "137", "\"a b\"", "-a"] {
        let message = refusal(file(&format!("networks.{name}.id = 5000000")));
        assert!(
            message.starts_with(&format!("`networks.{name}` (file bourse.toml): must be named")),
            "{message}"
        );
    }
    assert!(refusal(file("networks.\"a.b\".id = 5")).contains("is not a setting"));
}

#[test]
fn a_layer_that_sets_a_key_twice_is_refused() {
    let mut layers = variable("BOURSE_LOG__LEVEL", "debug");
    layers.variables.push(("bourse_log__level".to_owned(), "info".to_owned()));
    assert_refused(
        layers,
        "`log.level` (variable bourse_log__level) is set twice, also by variable BOURSE_LOG__LEVEL",
    );
    assert!(refusal(file("networks.A.id = 5000000\nnetworks.a.id = 5000000\n")).contains("is set twice"));
}

#[test]
fn all_problems_are_listed() {
    let mut layers = file("a = 1\nservice.name = 2\n");
    layers.flags = vec![("--b", "b".to_owned(), String::new())];
    let error = load(layers).unwrap_err();
    assert_eq!(error.problems.len(), 3);
    assert_eq!(error.to_string().lines().count(), 3);
}

#[test]
fn broken_toml_is_refused_without_showing_it() {
    let message = refusal(file("[log]\nlevel = \"info\"\n[auth]\njwt_secret = hunter2 hunter2\n"));
    assert!(message.starts_with("file bourse.toml, line 4, column "), "{message}");
    assert!(!message.contains("hunter2"), "{message}");
    let message = refusal(file("auth.jwt_secret = \"hunter2"));
    assert!(
        message.starts_with("file bourse.toml, line 1, column ") && !message.contains("hunter2"),
        "{message}"
    );
}

#[test]
fn a_refused_key_of_a_source_is_not_shown() {
    let message = refusal(flag("--key", "sources.opensea_key", "hunter2\n"));
    assert_eq!(message, "`sources.opensea_key` (flag --key): must consist of printable ASCII");
    assert!(!refusal(flag("--url", "sources.opensea_url", "h.example/hunter2")).contains("hunter2"));
    let message = refusal(flag("--attempts", "sources.attempts_max", "11"));
    assert_eq!(message, "`sources.attempts_max` (flag --attempts): must be at most 10, not 11");
}

#[test]
fn only_postgresql_has_replicas() {
    let replica = flag("--read", "storage.database_read", "postgres://u:hunter2@replica/d");
    let message = refusal(replica.clone());
    assert!(message.ends_with("storage.database names a SQLite file"), "{message}");
    assert!(!message.contains("hunter2"));
    let database = ("--database", "storage.database".to_owned(), "postgres://u@h/d".to_owned());
    let flags = replica.flags.into_iter().chain([database]).collect();
    let settings = settings(Layers { flags, ..Layers::default() });
    assert_eq!(settings.replica_url(), Some("postgres://u:hunter2@replica/d"));
}

#[test]
fn a_refused_database_is_not_shown() {
    for text in ["mysql://u:hunter2@h/d", "host=h password=hunter2", "sqlite:a?key=hunter2"] {
        assert!(!refusal(flag("--database", "storage.database", text)).contains("hunter2"));
    }
}

#[test]
fn a_bucket_is_named_as_one_and_has_a_key() {
    for (place, reason) in [
        ("gs://bucket", "must be empty, a directory, or s3://BUCKET/PREFIX"),
        ("s3://", "must name a bucket after s3://, of 3 to 63 letters, digits, dots and hyphens"),
        ("s3://a b/c", "must name a bucket after s3://, of 3 to 63 letters, digits, dots and hyphens"),
        (
            "s3://bucket/a/../b",
            "must have only letters, digits, dots, hyphens and underscores between the slashes of its prefix",
        ),
    ] {
        assert!(refusal(variable("BOURSE_STORAGE__FILES", place)).contains(reason), "{place}");
    }
    let missing = refusal(variable("BOURSE_STORAGE__FILES", "s3://bucket/prefix"));
    for key in ["s3.access_key_id", "s3.secret_access_key"] {
        assert!(missing.contains(key), "{missing}");
    }
    assert!(missing.contains("and not empty, when storage.files names a bucket"), "{missing}");
}

#[test]
fn what_a_bucket_is_reached_with_can_be_sent_and_is_not_shown() {
    let with = |key: &'static str, value: &str| {
        let mut layers = variable(key, value);
        for (name, value) in [
            ("BOURSE_STORAGE__FILES", "s3://bucket/prefix"),
            ("BOURSE_S3__ACCESS_KEY_ID", "hunter1"),
            ("BOURSE_S3__SECRET_ACCESS_KEY", "hunter2"),
        ] {
            if name != key {
                layers.variables.extend(variable(name, value).variables);
            }
        }
        refusal(layers)
    };
    for (key, value, reason) in [
        ("BOURSE_S3__ACCESS_KEY_ID", "hunter\n3", "must be of letters, digits and signs"),
        ("BOURSE_S3__SECRET_ACCESS_KEY", "hünter3", "must be of letters, digits and signs"),
        ("BOURSE_S3__REGION", "", "must be of letters, digits and signs"),
        ("BOURSE_S3__ENDPOINT", "https://hunter4:hunter5@store.example", "must have no user"),
        ("BOURSE_S3__ENDPOINT", "ftp://store.example", "must be empty, or begin with http:// or https://"),
        ("BOURSE_S3__TIMEOUT_MS", "5001", "half of limits.request_timeout_ms, 5000"),
        ("BOURSE_S3__TIMEOUT_MS", "0", "must be at least 1"),
    ] {
        let refused = with(key, value);
        assert!(refused.contains(reason), "{refused}");
        assert!(!refused.contains("hunter5") && !refused.contains("hunter3"), "{refused}");
    }
}
