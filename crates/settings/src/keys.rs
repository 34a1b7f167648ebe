//! The keys of settings, with their types and how their values may be shown.
//!
//! No list of them is written here. The default file has the keys, and its values are samples of their types; the
//! fields of a network, whose section has a name of the operator's choice, are those of its struct. Which values are
//! secret is said by the types of the structs.

use schemars::generate::SchemaSettings;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use crate::Settings;
use crate::redact::Exposure;

/// What the schema of a number says that 0 switches off although something else is its default.
const OFF_AT_ZERO: &str = "x-off-at-zero";

/// A key and what its values must be.
pub(super) struct Setting {
    /// Dotted; of a network only the name of the field.
    pub(super) key: String,
    /// A value of the right type: the default.
    pub(super) sample: Value,
    /// The smallest number that is allowed, where it is one.
    pub(super) minimum: i64,
    pub(super) exposure: Exposure,
}

/// The settings that exist.
pub(super) struct Keys {
    /// Those of the default file, in its order.
    pub(super) fixed: Vec<Setting>,
    network_fields: Vec<Setting>,
}

impl Keys {
    /// Reads the default file.
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let table: Table = toml::from_str(text)?;
        let schema = schema_of_settings();
        let mut positions = Vec::new();
        // `Table` sorts its keys; the spans remember the order of the file.
        collect_positions(DeTable::parse(text)?.get_ref(), "", &mut positions);
        positions.sort_unstable();
        let fixed = positions.into_iter().filter_map(|(_, key)| {
            let sample = lookup(&table, &key)?.clone();
            let field = key.split('.').fold(&schema, |section, name| &section["properties"][name]);
            Some(Setting { exposure: Exposure::of(field), minimum: minimum(&sample, field), sample, key })
        });
        let fixed = fixed.collect();
        let network = &schema["properties"]["networks"]["additionalProperties"]["properties"];
        let network_fields = network.as_object().into_iter().flatten().map(|(name, field)| {
            let sample = sample(field);
            let (minimum, exposure) = (minimum(&sample, field), Exposure::of(field));
            Setting { key: name.clone(), sample, minimum, exposure }
        });
        Ok(Self { fixed, network_fields: network_fields.collect() })
    }

    /// The setting of this key, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<&Setting> {
        self.fixed.iter().find(|setting| setting.key == key).or_else(|| {
            let (name, field) = key.strip_prefix("networks.")?.split_once('.')?;
            let field = self.network_fields.iter().find(|setting| setting.key == field)?;
            (!name.is_empty()).then_some(field)
        })
    }

    /// Whether the key is that of a section, not of a setting.
    pub(super) fn is_section(&self, key: &str) -> bool {
        let inside = |known: &str| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        key == "networks"
            || network_section(key).is_some()
            || self.fixed.iter().any(|setting| inside(&setting.key))
    }

    /// The setting that was probably meant.
    pub(super) fn nearest(&self, key: &str) -> Option<String> {
        let key = key.to_lowercase();
        let mut candidates: Vec<String> = self.fixed.iter().map(|setting| setting.key.clone()).collect();
        if let Some(section) = key.rsplit_once('.').map(|(section, _)| section)
            && network_section(section).is_some()
        {
            candidates.extend(self.network_fields.iter().map(|field| format!("{section}.{}", field.key)));
        }
        let distances = candidates.iter().map(|known| (strsim::levenshtein(&key, known), known));
        let (edits, near) = distances.min_by_key(|(edits, _)| *edits)?;
        // One slip in four characters is still a slip; more is another word.
        if edits <= (key.chars().count() / 4).max(1) {
            return Some(near.clone());
        }
        // The right key in the wrong section, or in none, when only one section has it.
        let mut same_name = candidates.iter().filter(|known| last(known) == last(&key));
        let found = same_name.next()?;
        same_name.next().is_none().then(|| found.clone())
    }
}

/// The name in `networks.NAME`.
pub(super) fn network_section(key: &str) -> Option<&str> {
    key.strip_prefix("networks.").filter(|name| !name.is_empty() && !name.contains('.'))
}

/// Appends a segment to a dotted key. A segment that is not a bare TOML key is quoted, so that the one
/// segment `"server.listen"` is never taken for the two of `server.listen`.
pub(super) fn join(prefix: &str, segment: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let bare = !segment.is_empty() && segment.chars().all(is_bare);
    let segment = if bare { segment.to_owned() } else { format!("{segment:?}") };
    if prefix.is_empty() { segment } else { format!("{prefix}.{segment}") }
}

/// The last segment of a dotted key.
pub(super) fn last(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, last)| last)
}

fn collect_positions(table: &DeTable<'_>, prefix: &str, found: &mut Vec<(usize, String)>) {
    for (name, value) in table {
        let key = join(prefix, name.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect_positions(inner, &key, found),
            _ => found.push((name.span().start, key)),
        }
    }
}

fn lookup<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    let mut segments = key.split('.');
    let first = table.get(segments.next()?)?;
    segments.try_fold(first, |value, segment| value.get(segment))
}

/// What the structs say of each setting, as a schema without references.
fn schema_of_settings() -> serde_json::Value {
    let inlined = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    inlined.into_generator().into_root_schema_for::<Settings>().to_value()
}

/// The smallest number allowed. 0 switches off what is off unless somebody sets it, and what its field says it does.
fn minimum(sample: &Value, field: &serde_json::Value) -> i64 {
    let may_be_zero = sample.as_integer() == Some(0) || field[OFF_AT_ZERO] == true;
    i64::from(!may_be_zero)
}

/// A value of the type that a field has: the smallest number allowed, an empty list, or an empty text.
fn sample(field: &serde_json::Value) -> Value {
    let is = |name: &str| {
        // A field that may be left out also has the type `null`.
        field["type"] == name
            || field["type"].as_array().is_some_and(|types| types.iter().any(|it| it == name))
    };
    match () {
        () if is("integer") => Value::Integer(field["minimum"].as_i64().unwrap_or(0)),
        () if is("boolean") => Value::Boolean(false),
        () if is("array") => Value::Array(Vec::new()),
        () => Value::String(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_of_the_file() {
        let keys = Keys::parse("[z]\nb = 1\na = \"x\"\n[a]\nc = []\n").unwrap();
        let names: Vec<&str> = keys.fixed.iter().map(|setting| setting.key.as_str()).collect();
        assert_eq!(names, ["z.b", "z.a", "a.c"]);
        assert_eq!(keys.get("z.a").unwrap().sample, Value::String("x".to_owned()));
        assert!(keys.get("z").is_none());
        assert!(keys.is_section("z") && !keys.is_section("z.a") && !keys.is_section("y"));
    }

    #[test]
    fn nearest_finds_slips_and_misplaced_keys_only() {
        let keys = Keys::parse("[server]\nlisten = \"\"\n[a]\nname = 1\n[b]\nname = 1\n").unwrap();
        let near = |key| keys.nearest(key);
        assert_eq!(near("server.lisen").as_deref(), Some("server.listen"));
        assert_eq!(near("Server_Listen").as_deref(), Some("server.listen"));
        assert_eq!(near("listen").as_deref(), Some("server.listen"));
        assert_eq!(near("networks.x.rpcurl").as_deref(), Some("networks.x.rpc_url"));
        assert_eq!(near("name"), None, "two sections have it");
        assert_eq!(near("completely.different"), None);
    }

    #[test]
    fn fields_of_networks_have_types_and_smallest_numbers() {
        let keys = Keys::parse(crate::DEFAULT_FILE).unwrap();
        let sample = |field: &str| keys.get(&format!("networks.x.{field}")).unwrap().sample.clone();
        for positive in [
            "id",
            "poll_ms",
            "reorg_window_blocks",
            "rpc_timeout_ms",
            "rates_interval_ms",
            "royalties_interval_ms",
            "simulation_timeout_ms",
        ] {
            assert_eq!(sample(positive), Value::Integer(1), "{positive}");
        }
        assert_eq!(sample("rpc_requests_per_second"), Value::Integer(1));
        assert_eq!(sample("discover_from"), Value::Integer(0));
        for text in ["rpc_url", "ws_url", "multicall", "own_v1", "own_v2", "batch_helper"] {
            assert_eq!(sample(text), Value::String(String::new()), "{text}");
        }
        for list in ["rates", "contracts", "sales"] {
            assert_eq!(sample(list), Value::Array(Vec::new()), "{list}");
        }
        assert_eq!(sample("simulate"), Value::Boolean(false));
        assert_eq!(keys.network_fields.len(), 19);
    }

    #[test]
    fn a_quoted_segment_stays_one_segment() {
        assert_eq!(join("", "server.listen"), "\"server.listen\"");
        assert_eq!(join("networks", "my-chain"), "networks.my-chain");
    }
}
