//! Values as they may be shown.

use std::borrow::Cow;

use bourse_wire::Address;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::Value;

/// What is shown in place of a secret.
const HIDDEN: &str = "********";

/// How much of a value may be shown. The type of the setting says it; `SecretString` has no schema of its own, so a
/// field of that type does not compile until it says which of the two below it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exposure {
    /// All but passwords in URLs.
    Text,
    /// Of addresses of services only their hosts.
    Hosts,
    /// Whether it is set.
    Presence,
}

/// The schema of a secret that is not shown at all.
pub(super) enum Hidden {}

/// The schema of addresses with keys in them, possibly several with spaces between.
pub(super) enum Endpoints {}

const HIDDEN_FORMAT: &str = "password";
const ENDPOINTS_FORMAT: &str = "uri";

impl JsonSchema for Hidden {
    fn schema_name() -> Cow<'static, str> {
        "Hidden".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": HIDDEN_FORMAT })
    }
}

impl JsonSchema for Endpoints {
    fn schema_name() -> Cow<'static, str> {
        "Endpoints".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": ENDPOINTS_FORMAT })
    }
}

impl Exposure {
    /// Reads the schema of a field, or of what a list of it holds.
    pub(super) fn of(field: &serde_json::Value) -> Self {
        let format = field["format"].as_str().or_else(|| field["items"]["format"].as_str());
        match format {
            Some(HIDDEN_FORMAT) => Self::Presence,
            Some(ENDPOINTS_FORMAT) => Self::Hosts,
            _ => Self::Text,
        }
    }

    /// The value as a TOML literal, without secrets. It may be of a wrong type.
    pub(super) fn literal(self, value: &Value) -> String {
        match self {
            Self::Presence if value.as_str().is_some_and(str::is_empty) => "\"\"".to_owned(),
            Self::Presence => format!("\"{HIDDEN}\""),
            Self::Hosts => literal(&map_texts(value, endpoints)),
            Self::Text => literal(&map_texts(value, password)),
        }
    }
}

/// The writer of `toml` spreads a text with line breaks over lines; a list of settings has one line for each.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(char::is_control) => {
            let escaped = text.chars().map(|c| match c {
                '"' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
                c => c.to_string(),
            });
            format!("\"{}\"", escaped.collect::<String>())
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn map_texts(value: &Value, change: fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => Value::Array(items.iter().map(|item| map_texts(item, change)).collect()),
        Value::Table(table) => {
            let fields = table.iter().map(|(name, value)| (name.clone(), map_texts(value, change)));
            Value::Table(fields.collect())
        }
        other => other.clone(),
    }
}

/// A URL with the passwords hidden that it has before the host and among its options.
///
/// A raw `@`, `/` or `?` in a password makes the URL ambiguous, so all from the first colon to the last `@` is
/// hidden: too much may go, never too little.
fn password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:{HIDDEN}@{host}"),
            None => rest.to_owned(),
        },
        None => rest.to_owned(),
    };
    let Some((address, options)) = rest.split_once('?') else { return format!("{scheme}://{rest}") };
    let options = options.split('&').map(|option| match option.split_once('=') {
        Some((name, _)) if name.to_lowercase().contains("password") => format!("{name}={HIDDEN}"),
        _ => option.to_owned(),
    });
    format!("{scheme}://{address}?{}", options.collect::<Vec<_>>().join("&"))
}

/// Words with spaces between, of which any may be the address of a node, or was meant to be; contracts are no secret.
fn endpoints(words: &str) -> String {
    let is_url = |word: &str| word.parse::<Address>().is_err();
    let redacted =
        words.split_whitespace().map(|word| if is_url(word) { endpoint(word) } else { word.to_owned() });
    redacted.collect::<Vec<_>>().join(" ")
}

/// The address of a node with only its host left: providers put their keys before it, in the path and in the
/// query.
pub(super) fn endpoint(url: &str) -> String {
    if url.is_empty() {
        return String::new();
    }
    let Some((scheme, rest)) = url.split_once("://") else { return HIDDEN.to_owned() };
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => (format!("{HIDDEN}@"), rest),
        None => (String::new(), rest),
    };
    let (host, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let tail = if matches!(tail, "" | "/") { tail.to_owned() } else { format!("/{HIDDEN}") };
    format!("{scheme}://{user}{host}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFAULT_FILE;
    use crate::keys::Keys;

    fn shown(key: &str, value: &Value) -> String {
        let keys = Keys::parse(DEFAULT_FILE).unwrap();
        keys.get(key).unwrap().exposure.literal(value)
    }

    fn text(key: &str, value: &str) -> String {
        shown(key, &Value::String(value.to_owned()))
    }

    #[test]
    fn hides_secrets_of_any_type_and_shows_that_none_is_set() {
        assert_eq!(text("auth.jwt_secret", "hunter2"), "\"********\"");
        assert_eq!(text("auth.jwt_secret", ""), "\"\"");
        assert_eq!(shown("auth.jwt_secret", &Value::Integer(42)), "\"********\"");
        assert_eq!(text("sources.opensea_key", "hunter2"), "\"********\"");
        assert_eq!(text("sources.opensea_key", ""), "\"\"");
    }

    #[test]
    fn nothing_that_sounds_secret_is_shown_whole() {
        let keys = Keys::parse(DEFAULT_FILE).unwrap();
        for setting in &keys.fixed {
            let key = setting.key.as_str();
            let is_source = key.starts_with("sources.");
            let expected = match key {
                "auth.jwt_secret" | "s3.access_key_id" | "s3.secret_access_key" => Exposure::Presence,
                _ if is_source && key.ends_with("_key") => Exposure::Presence,
                _ if is_source && key.ends_with("_url") => Exposure::Hosts,
                _ => Exposure::Text,
            };
            assert_eq!(setting.exposure, expected, "{key}");
        }
    }

    #[test]
    fn hides_passwords_in_urls() {
        let cases = [
            ("postgres://u:hunter2@h:5432/db", "postgres://u:********@h:5432/db"),
            ("postgres://u@h:5432/db", "postgres://u@h:5432/db"),
            ("postgresql://u:hun/ter?2@h/db", "postgresql://u:********@h/db"),
            ("postgresql://u:hunter@2@h/db", "postgresql://u:********@h/db"),
            ("postgres://h/db?user=u&password=hunter2&a=b", "postgres://h/db?user=u&password=********&a=b"),
            ("postgres://h/db?password=hunter@2", "postgres://h/db?password=********"),
            ("sqlite:/var/lib/a.db", "sqlite:/var/lib/a.db"),
        ];
        for (given, expected) in cases {
            assert_eq!(text("storage.database", given), format!("\"{expected}\""));
        }
        let list = Value::Array(vec![Value::String("postgres://u:hunter2@h/db".to_owned())]);
        assert_eq!(shown("storage.database", &list), "[\"postgres://u:********@h/db\"]");
    }

    #[test]
    fn leaves_only_the_host_of_a_node() {
        let cases = [
            ("https://node.example", "https://node.example"),
            ("https://node.example:8545/", "https://node.example:8545/"),
            ("https://node.example/v2/hunter2", "https://node.example/********"),
            ("https://node.example?key=hunter2", "https://node.example/********"),
            ("https://u:hunter2@node.example/", "https://********@node.example/"),
            ("https://u:hun/ter2@node.example", "https://********@node.example"),
            ("hunter2", "********"),
            ("hunter2 https://node.example", "******** https://node.example"),
            ("https://a.example/hunter2  https://b.example", "https://a.example/******** https://b.example"),
            ("", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(text("networks.x.rpc_url", given), format!("\"{expected}\""));
            assert_eq!(text("sources.blur_url", given), format!("\"{expected}\""));
        }
    }

    #[test]
    fn hides_the_keys_of_whoever_tells_rates() {
        let currency = "0x1111111111111111111111111111111111111111";
        let rate = format!("{currency} https://prices.example/hunter2 data.0.price");
        let list = Value::Array(vec![Value::String(rate)]);
        let expected = format!("[\"{currency} https://prices.example/******** ********\"]");
        assert_eq!(shown("networks.x.rates", &list), expected);
    }

    #[test]
    fn other_values_are_toml_literals_on_one_line() {
        assert_eq!(shown("limits.contacts_max", &Value::Integer(5)), "5");
        assert_eq!(text("log.level", "a'b"), "\"a'b\"");
        let broken = "a\"b\\\nc";
        assert_eq!(text("log.level", broken), r#""a\"b\\\u000Ac""#);
        assert_eq!(text("log.level", broken).parse::<Value>().unwrap().as_str(), Some(broken));
        let list = Value::Array(vec![Value::String("a".to_owned()), Value::String("b".to_owned())]);
        assert_eq!(shown("cors.origins", &list), r#"["a", "b"]"#);
    }
}
