//! What is accepted, what it then means, and how it is shown.

use std::path::Path;

use secrecy::ExposeSecret;
use toml::Value;

use super::*;
use crate::coins::COINLESS;
use crate::keys::{Keys, Setting};

/// A valid value that differs from the default, as the text of a variable.
fn other_value(key: &str, default: &Value) -> String {
    match (key, default) {
        ("service.name" | "s3.region" | "s3.access_key_id" | "s3.secret_access_key", _) => "other".to_owned(),
        ("server.listen", _) => "0.0.0.0:80".to_owned(),
        ("server.public_url" | "cors.origins" | "s3.endpoint", _) => "https://a.example".to_owned(),
        ("server.trusted_proxies", _) => "10.0.0.0/8".to_owned(),
        ("server.peer_address", _) => "10.0.0.7:4010".to_owned(),
        ("storage.data" | "storage.files" | "storage.kept_directory" | "shop.languages", _) => {
            "/var/lib/bourse".to_owned()
        }
        ("storage.database", _) => "sqlite:other.db".to_owned(),
        ("storage.database_read", _) => "postgres://user@replica/name".to_owned(),
        ("auth.jwt_secret", _) => SECRET.to_owned(),
        ("trial.access_key", _) => "AQAAAAAAAAABtiEj2Io72qRCRFo0UFOqn_k".to_owned(),
        ("log.format", _) => "json".to_owned(),
        ("log.level", _) => "debug".to_owned(),
        ("metadata.ipfs_gateways" | "metadata.arweave_gateways", _) => "https://a.example/".to_owned(),
        ("metadata.allowed_hosts" | "webhooks.allowed_hosts", _) => "meta.intern".to_owned(),
        (source, Value::String(_)) if source.starts_with("sources.") => "https://a.example".to_owned(),
        (_, Value::Boolean(is)) => (!is).to_string(),
        (_, Value::Integer(number)) => (number + 1).to_string(),
        _ => panic!("no other value for {key}"),
    }
}

/// All settings as a text, and the secrets among them, which `Debug` hides.
fn everything(settings: &Settings) -> String {
    let services = settings.sources.services();
    let secrets = services.iter().flat_map(|service| [service.url, service.key]);
    let keys = [&settings.auth.jwt_secret, &settings.s3.access_key_id, &settings.s3.secret_access_key];
    let secrets = secrets.chain(keys).map(ExposeSecret::expose_secret);
    format!("{settings:?} {:?} {:?}", secrets.collect::<Vec<_>>(), settings.replica_url())
}

#[test]
fn collections_are_kept_beside_a_database_of_our_own_and_elsewhere_where_somebody_says_so() {
    let kept = |text: &str| load(file(text)).unwrap().settings.storage.kept_directory();
    let postgres = "storage.database = 'postgres://user@host/name'";
    assert_eq!(kept("storage.data = '/srv'"), Some("/srv/resident".into()));
    assert_eq!(
        kept("storage.data = '/srv'\nstorage.database = 'sqlite:/a.db'"),
        Some("/srv/resident".into())
    );
    assert_eq!(kept(postgres), None);
    assert_eq!(kept(&format!("{postgres}\nstorage.kept_directory = '/kept'")), Some("/kept".into()));
    assert_eq!(kept("storage.keep_collections = false\nstorage.kept_directory = '/kept'"), None);
}

#[test]
fn the_default_file_is_valid() {
    let loaded = load(Layers::default()).unwrap();
    let settings = &loaded.settings;
    assert_eq!(settings.service.name, "bourse");
    assert_eq!(settings.server.listen.to_string(), "127.0.0.1:4010");
    assert_eq!(settings.storage.sqlite_file().unwrap(), Path::new("bourse-data/bourse.db"));
    assert_eq!(settings.storage.resident_bytes_max, 2 << 30);
    assert!(settings.auth.jwt_secret.expose_secret().is_empty());
    assert_eq!((settings.limits.page_size_default, settings.limits.page_size_max), (30, 200));
    assert_eq!(settings.cors.origins, ["*"]);
    assert_eq!(settings.log.format, LogFormat::Text);
    assert_eq!(settings.networks.iter().count(), BUILT_IN.len());
    assert!(loaded.effective.iter().all(|effective| effective.source == Source::Default));
}

#[test]
fn effective_values_keep_the_order_of_the_default_file() {
    let layers = file("[networks.zed]\nid = 5000000\n[networks.abc]\nid = 5000001\n");
    let keys: Vec<String> = load(layers).unwrap().effective.into_iter().map(|e| e.key).collect();
    assert_eq!(keys[..4], ["service.name", "server.listen", "server.public_url", "server.trusted_proxies"]);
    assert_eq!(keys[keys.len() - 4..], ["log.format", "log.level", "networks.abc.id", "networks.zed.id"]);
    let in_file: Vec<&str> = DEFAULT_FILE.lines().filter(|line| !line.starts_with(['#', '['])).collect();
    let names = in_file.iter().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    assert!(keys.iter().map(|key| keys::last(key)).take(keys.len() - 2).eq(names));
}

#[test]
fn the_example_networks_of_the_default_file_are_valid() {
    let start = DEFAULT_FILE.find("# [networks.").unwrap();
    let example: Vec<&str> = DEFAULT_FILE[start..].lines().map(|line| line[1..].trim_start()).collect();
    let networks = settings(file(&example.join("\n"))).networks;
    assert_eq!(networks.resolve("my-chain"), Some(1_234_567));
    assert_eq!(networks.get(137).unwrap().rpc_urls.len(), 1);
}

#[test]
fn every_key_can_be_set_by_a_variable_and_by_a_file() {
    let keys = Keys::parse(DEFAULT_FILE).unwrap();
    let usual = everything(&settings(Layers::default()));
    assert!(keys.fixed.len() > 20);
    for Setting { key, sample: default, .. } in &keys.fixed {
        let name = format!("BOURSE_{}", key.replace('.', "__").to_uppercase());
        let value = other_value(key, default);
        // Only PostgreSQL has replicas.
        let database = ("--database", "storage.database".to_owned(), "postgres://user@host/name".to_owned());
        let flags = if key == "storage.database_read" { vec![database] } else { Vec::new() };
        let load = |layers: Layers| load(Layers { flags: flags.clone(), ..layers }).unwrap();
        let loaded = load(variable(&name, &value));
        let (shown, source) = effective(&loaded, key);
        assert_eq!(source, Source::Variable(name));
        assert_ne!(shown, default.to_string(), "{key}");
        assert_ne!(everything(&loaded.settings), usual, "{key} has no effect");

        let literal = match default {
            Value::Integer(_) | Value::Boolean(_) => value,
            Value::Array(_) => format!("[{value:?}]"),
            _ => format!("{value:?}"),
        };
        let from_file = load(file(&format!("{key} = {literal}")));
        assert_eq!(everything(&from_file.settings), everything(&loaded.settings));
        assert_eq!(effective(&from_file, key), (shown, Source::File("bourse.toml".to_owned())));
    }
}

#[test]
fn later_layers_win() {
    let mut layers = file("[service]\nname = \"of_file\"\n[log]\nlevel = \"warn\"\nformat = \"json\"\n");
    layers.variables = vec![
        ("BOURSE_SERVICE__NAME".to_owned(), "of_variable".to_owned()),
        ("bourse_Log__Level".to_owned(), "debug".to_owned()),
    ];
    layers.flags = vec![("--name", "service.name".to_owned(), "of_flag".to_owned())];
    let loaded = load(layers).unwrap();
    assert_eq!(loaded.settings.service.name, "of_flag");
    assert_eq!(effective(&loaded, "service.name").1.to_string(), "flag --name");
    assert_eq!(loaded.settings.log.level, "debug");
    assert_eq!(effective(&loaded, "log.level").1.to_string(), "variable bourse_Log__Level");
    assert_eq!(effective(&loaded, "log.format").1.to_string(), "file bourse.toml");
    assert_eq!(effective(&loaded, "server.listen").1.to_string(), "default");
}

#[test]
fn lists_are_read_as_toml_or_comma_separated() {
    let origins = |text| settings(variable("BOURSE_CORS__ORIGINS", text)).cors.origins;
    assert_eq!(origins("https://a.example, https://b.example"), ["https://a.example", "https://b.example"]);
    assert_eq!(
        origins(r#" ["https://a.example", 'https://b.example']"#),
        ["https://a.example", "https://b.example"]
    );
    assert!(origins("").is_empty());
}

#[test]
fn foreign_and_reserved_variables_are_skipped() {
    let names = [
        "PATH",
        "BOURSELISTEN",
        "BOURSE_CONFIG",
        "bourse_config",
        "BOURSE_TEST_POSTGRES",
        "BOURSE_TEST_A__B",
    ];
    for name in names {
        assert!(load(variable(name, "x")).is_ok(), "{name}");
    }
}

#[test]
fn texts_in_form_are_accepted() {
    let longest = "a".repeat(32);
    let cases: [(&str, &[&str]); 5] = [
        ("server.listen", &["[::1]:4010", "0.0.0.0:0"]),
        ("service.name", &["a", "a_1", "services", &longest]),
        ("server.public_url", &["", "http://a.example", "https://a.example:8443/path/"]),
        (
            "storage.database",
            &["", "sqlite:a.db", "sqlite:///a.db", "postgres://u:p@h/d", "postgresql://h/d"],
        ),
        ("cors.origins", &["*", "http://localhost:3000"]),
    ];
    for (key, values) in cases {
        for value in values {
            assert!(load(flag("--flag", key, value)).is_ok(), "{key} {value:?}");
        }
    }
}

#[test]
fn sqlite_files_are_found() {
    let sqlite = |text: &str| settings(flag("--database", "storage.database", text)).storage.sqlite_file();
    assert_eq!(sqlite("sqlite:a.db").unwrap(), Path::new("a.db"));
    assert_eq!(sqlite("sqlite:///var/a.db").unwrap(), Path::new("/var/a.db"));
    assert_eq!(sqlite("postgres://h/d"), None);
}

#[test]
fn the_public_url_falls_back_to_the_address_and_loses_its_slash() {
    assert_eq!(settings(Layers::default()).public_url(), "http://127.0.0.1:4010");
    assert_eq!(settings(flag("--listen", "server.listen", "[::1]:80")).public_url(), "http://[::1]:80");
    assert_eq!(
        settings(flag("--url", "server.public_url", "https://a.example/x//")).public_url(),
        "https://a.example/x"
    );
}

#[test]
fn networks_are_added_in_any_case_and_by_variables() {
    let mut layers =
        file("[networks.My-Chain]\nid = 1234567\nrpc_url = \"\"\n[networks.polygon]\nid = 137\n");
    layers.variables = vec![("BOURSE_NETWORKS__MY_CHAIN__ID".to_owned(), "7654321".to_owned())];
    let loaded = load(layers).unwrap();
    let networks = &loaded.settings.networks;
    assert_eq!(networks.resolve("MY-CHAIN"), Some(7_654_321));
    assert_eq!(networks.label(7_654_321), "my-chain");
    assert!(networks.get(7_654_321).unwrap().rpc_urls.is_empty(), "an empty address is none");
    assert_eq!(networks.iter().count(), BUILT_IN.len() + 1);
    assert!(matches!(effective(&loaded, "networks.my-chain.id").1, Source::Variable(_)));
}

#[test]
fn a_network_that_is_known_by_name_needs_nothing_but_a_node() {
    let mut layers = file("[networks.polygon]\npoll_ms = 500\n");
    let node = ("BOURSE_NETWORKS__AMOY__RPC_URL".to_owned(), "https://node.example".to_owned());
    let hyphen = ("BOURSE_NETWORKS__BASE_SEPOLIA__POLL_MS".to_owned(), "250".to_owned());
    layers.variables = vec![node, hyphen];
    let settings = load(layers).unwrap().settings;
    let amoy = settings.networks.get(80002).unwrap();
    assert!(amoy.configured && amoy.rpc_urls.len() == 1 && amoy.name == "amoy");
    let polls = [137, 84532].map(|id| settings.networks.get(id).unwrap().following.poll.as_millis());
    assert_eq!(polls, [500, 250]);
    assert_eq!(settings.networks.iter().count(), BUILT_IN.len());
}

#[test]
fn a_node_alone_is_enough_for_each_network_that_is_known_by_name() {
    for (name, id) in BUILT_IN {
        let variable = format!("BOURSE_NETWORKS__{}__RPC_URL", name.replace('-', "_").to_uppercase());
        let variables = vec![(variable.clone(), "https://node.example".to_owned())];
        let settings = load(Layers { variables, ..Layers::default() }).unwrap().settings;
        let configured: Vec<_> = settings.networks.iter().filter(|network| network.configured).collect();
        let [network] = configured[..] else { panic!("{variable}: {configured:?}") };
        assert_eq!((network.name.as_str(), network.id, network.rpc_urls.len()), (name, id, 1), "{variable}");
        assert_eq!(settings.networks.resolve(name), Some(id));
        // Prices in its own coin are understood, but where others use its number for another network.
        let coins = settings.networks.native_coins();
        assert_eq!(coins.iter().any(|coin| coin.chain_id.0 == id), !COINLESS.contains(&name), "{name}");
    }
}

#[test]
fn secrets_are_in_no_output() {
    let text = format!(
        "auth.jwt_secret = \"{SECRET}\"\nstorage.database = \"postgres://bourse:hunter2@db/bourse\"\n\
         networks.polygon = {{ id = 137, rpc_url = \"https://hunter2@h/hunter2?key=hunter2\", \
         ws_url = \"wss://hunter2@h/hunter2 ws://k:1/hunter2\" }}\n"
    );
    let loaded = load(file(&text)).unwrap();
    let printed = format!("{loaded:?}");
    assert!(!printed.contains("hunter2"), "{printed}");
    let value = |key| effective(&loaded, key).0;
    assert_eq!(value("auth.jwt_secret"), "\"********\"");
    assert_eq!(value("storage.database"), "\"postgres://bourse:********@db/bourse\"");
    assert_eq!(value("networks.polygon.rpc_url"), "\"https://********@h/********\"");
    assert_eq!(value("networks.polygon.ws_url"), "\"wss://********@h/******** ws://k:1/********\"");
    let Database::Postgres(url) = &loaded.settings.storage.database else { panic!("not PostgreSQL") };
    assert_eq!(url.expose_secret(), "postgres://bourse:hunter2@db/bourse");
    let url = &loaded.settings.networks.get(137).unwrap().rpc_urls[0];
    assert_eq!(url.expose_secret(), "https://hunter2@h/hunter2?key=hunter2");
    assert_eq!(loaded.settings.networks.get(137).unwrap().ws_urls.len(), 2);
}
