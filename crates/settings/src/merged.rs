//! All layers laid together: one value for each setting, and where it came from.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::Settings;
use crate::error::{Assignment, Problem, SettingsError};
use crate::keys::{self, Keys, Setting};
use crate::layers::Source;
use crate::networks::BUILT_IN;

/// One setting in effect, as `bourse config` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// The dotted key.
    pub key: String,
    /// The value as a TOML literal, without secrets.
    pub value: String,
    /// The layer that gave it.
    pub source: Source,
}

/// A value and where it came from.
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) source: Source,
}

/// The settings in effect, right in name and type but not yet checked further.
pub(super) struct Merged {
    keys: Keys,
    /// Only what differs in source from the default file.
    given: BTreeMap<String, Entry>,
}

impl Merged {
    pub(super) fn new(keys: Keys, given: BTreeMap<String, Entry>) -> Self {
        Self { keys, given }
    }

    /// The key with the source of its value in effect.
    pub(super) fn assignment(&self, key: &str) -> Assignment {
        let source = self.given.get(key).map_or(Source::Default, |entry| entry.source.clone());
        Assignment { key: key.to_owned(), source }
    }

    /// Every setting in the order of the default file, then the networks by name.
    pub(super) fn effective(&self) -> Vec<EffectiveSetting> {
        let fixed = self.keys.fixed.iter().map(|setting| match self.given.get(&setting.key) {
            Some(entry) => (&setting.key, setting, &entry.value),
            None => (&setting.key, setting, &setting.sample),
        });
        let networks = self.given.iter().filter(|(key, _)| key.starts_with("networks."));
        let networks = networks.filter_map(|(key, entry)| Some((key, self.keys.get(key)?, &entry.value)));
        fixed
            .chain(networks)
            .map(|(key, setting, value)| EffectiveSetting {
                key: key.clone(),
                value: setting.exposure.literal(value),
                source: self.assignment(key).source,
            })
            .collect()
    }

    /// Turns the values into typed settings.
    pub(super) fn decode(&self) -> Result<Settings, SettingsError> {
        let mut problems = self.networks_without_id();
        problems.extend(self.given.iter().filter_map(|(key, entry)| self.check_alone(key, entry)));
        SettingsError::unless_empty(problems)?;
        let mut table = self.default_table();
        for (key, entry) in &self.given {
            insert(&mut table, key, entry.value.clone());
        }
        for section in self.sections_without_id() {
            if let Some(id) = built_in(section) {
                insert(&mut table, &format!("{section}.id"), Value::Integer(id));
            }
        }
        // Each value was accepted alone, so a refusal here is about the default file itself.
        Settings::deserialize_from(table).map_err(|reason| SettingsError {
            problems: vec![Problem::Invalid { at: self.assignment("bourse.default.toml"), reason }],
        })
    }

    /// Checks one value over the defaults alone, which tells what the type of its field refuses and leaves no
    /// doubt about whose fault it is.
    fn check_alone(&self, key: &str, entry: &Entry) -> Option<Problem> {
        if let (Some(Setting { minimum, .. }), Some(value)) = (self.keys.get(key), entry.value.as_integer())
            && value < *minimum
        {
            return Some(Problem::TooSmall { at: self.assignment(key), minimum: *minimum, value });
        }
        let mut table = self.default_table();
        if let Some((section, _)) = key.rsplit_once('.').filter(|(s, _)| keys::network_section(s).is_some()) {
            insert(&mut table, &format!("{section}.id"), Value::Integer(1));
        }
        insert(&mut table, key, entry.value.clone());
        let reason = Settings::deserialize_from(table).err()?;
        Some(Problem::Invalid { at: self.assignment(key), reason })
    }

    /// The sections of networks that say nothing of an id.
    fn sections_without_id(&self) -> impl Iterator<Item = &str> {
        let sections = self.given.keys().filter_map(|key| Some(key.rsplit_once('.')?.0));
        let networks: BTreeSet<&str> = sections.filter(|s| keys::network_section(s).is_some()).collect();
        networks.into_iter().filter(|s| !self.given.contains_key(&format!("{s}.id")))
    }

    fn networks_without_id(&self) -> Vec<Problem> {
        let unknown = self.sections_without_id().filter(|section| built_in(section).is_none());
        // Another key of the section is what made it: its source is the one to correct.
        unknown
            .filter_map(|section| {
                let (_, entry) =
                    self.given.iter().find(|(key, _)| key.starts_with(&format!("{section}.")))?;
                let at = Assignment { key: section.to_owned(), source: entry.source.clone() };
                Some(Problem::Invalid { at, reason: "needs an `id`".to_owned() })
            })
            .collect()
    }

    fn default_table(&self) -> Table {
        let mut table = Table::new();
        for setting in &self.keys.fixed {
            insert(&mut table, &setting.key, setting.sample.clone());
        }
        table
    }
}

/// The id of a network whose name is built in.
fn built_in(section: &str) -> Option<i64> {
    let named = keys::network_section(section)?;
    let (_, id) = BUILT_IN.iter().find(|(name, _)| *name == named)?;
    i64::try_from(*id).ok()
}

impl Settings {
    /// Decodes a table; the error is a reason that does not repeat the value of a secret, since the fields that
    /// hold one take any text or give a fixed reason.
    fn deserialize_from(table: Table) -> Result<Self, String> {
        table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }
}

/// Sets a dotted key. Known keys are bare, so a dot is always a separator.
fn insert(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
