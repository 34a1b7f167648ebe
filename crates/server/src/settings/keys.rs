//! The known keys and their types, read from the default file.

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// The settings that exist.
pub(super) struct Known {
    /// Key and default of each setting, in the order of the file. A default is also the sample of its type.
    pub(super) defaults: Vec<(String, Value)>,
    /// The fields of a configured network, whose section has a name of the operator's choice.
    network_fields: [(&'static str, Value); 14],
}

impl Known {
    /// Reads the default file.
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let table: Table = toml::from_str(text)?;
        let mut positions = Vec::new();
        // `Table` sorts its keys; the spans remember the order of the file.
        collect_positions(DeTable::parse(text)?.get_ref(), "", &mut positions);
        positions.sort_unstable();
        let defaults =
            positions.into_iter().filter_map(|(_, key)| Some((lookup(&table, &key)?.clone(), key)));
        Ok(Self {
            defaults: defaults.map(|(value, key)| (key, value)).collect(),
            network_fields: [
                ("id", Value::Integer(1)),
                ("rpc_url", Value::String(String::new())),
                ("poll_ms", Value::Integer(1)),
                ("reorg_window_blocks", Value::Integer(1)),
                ("rpc_timeout_ms", Value::Integer(1)),
                ("rpc_requests_per_second", Value::Integer(1)),
                // Chains begin with block 0.
                ("discover_from", Value::Integer(0)),
                ("multicall", Value::String(String::new())),
                ("rates", Value::Array(Vec::new())),
                ("rates_interval_ms", Value::Integer(1)),
                ("own_v1", Value::String(String::new())),
                ("own_v2", Value::String(String::new())),
                ("batch_helper", Value::String(String::new())),
                ("contracts", Value::Array(Vec::new())),
            ],
        })
    }

    /// A value of the type that the setting must have; `None` when there is no such setting.
    pub(super) fn sample(&self, key: &str) -> Option<&Value> {
        let fixed = self.defaults.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        fixed.or_else(|| {
            let (name, field) = key.strip_prefix("networks.")?.split_once('.')?;
            let field = self.network_fields.iter().find(|(known, _)| *known == field)?;
            (!name.is_empty()).then_some(&field.1)
        })
    }

    /// Whether the key is that of a section, not of a setting.
    pub(super) fn is_section(&self, key: &str) -> bool {
        let inside = |known: &str| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
        key == "networks" || network_section(key).is_some() || self.defaults.iter().any(|(k, _)| inside(k))
    }

    /// The setting that was probably meant.
    pub(super) fn nearest(&self, key: &str) -> Option<String> {
        let key = key.to_lowercase();
        let mut candidates: Vec<String> = self.defaults.iter().map(|(known, _)| known.clone()).collect();
        if let Some(section) = key.rsplit_once('.').map(|(section, _)| section)
            && network_section(section).is_some()
        {
            candidates.extend(self.network_fields.iter().map(|(field, _)| format!("{section}.{field}")));
        }
        let distances = candidates.iter().map(|known| (distance(&key, known), known));
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

/// Number of single-character edits between two texts (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn keys_keep_the_order_of_the_file() {
        let known = Known::parse("[z]\nb = 1\na = \"x\"\n[a]\nc = []\n").unwrap();
        let keys: Vec<&str> = known.defaults.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z.b", "z.a", "a.c"]);
        assert_eq!(known.sample("z.a"), Some(&Value::String("x".to_owned())));
        assert_eq!(known.sample("z"), None);
        assert!(known.is_section("z") && !known.is_section("z.a") && !known.is_section("y"));
    }

    #[test]
    fn nearest_finds_slips_and_misplaced_keys_only() {
        let known = Known::parse("[server]\nlisten = \"\"\n[a]\nname = 1\n[b]\nname = 1\n").unwrap();
        let near = |key| known.nearest(key);
        assert_eq!(near("server.lisen").as_deref(), Some("server.listen"));
        assert_eq!(near("Server_Listen").as_deref(), Some("server.listen"));
        assert_eq!(near("listen").as_deref(), Some("server.listen"));
        assert_eq!(near("networks.x.rpcurl").as_deref(), Some("networks.x.rpc_url"));
        assert_eq!(near("name"), None, "two sections have it");
        assert_eq!(near("completely.different"), None);
    }

    #[test]
    fn a_quoted_segment_stays_one_segment() {
        assert_eq!(join("", "server.listen"), "\"server.listen\"");
        assert_eq!(join("networks", "my-chain"), "networks.my-chain");
    }
}
