//! The layers a setting can come from, and how they are laid over one another.

use std::collections::BTreeMap;
use std::fmt;

use toml::{Table, Value};

use crate::error::{Assignment, Problem, SettingsError};
use crate::keys::{self, Keys, Setting};
use crate::merged::{Entry, Merged};
use crate::values::{describe, matches_type, parse_text};

/// Everything laid over the default file, weakest first.
///
/// It has no `Debug`: variables hold secrets.
#[derive(Clone, Default)]
pub struct Layers {
    /// The configuration file: how to call it in messages, and its text.
    pub file: Option<(String, String)>,
    /// Environment variables, all of them: those that are not about Bourse are skipped.
    pub variables: Vec<(String, String)>,
    /// Flags: as typed (`--listen`), the dotted key, the value.
    pub flags: Vec<(&'static str, String, String)>,
}

/// The layer a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The default file.
    Default,
    /// The configuration file of this label.
    File(String),
    /// The environment variable of this name.
    Variable(String),
    /// The flag, as typed.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(label) => write!(f, "file {label}"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// Lays the layers over the defaults. Names and types are checked even where a later layer wins.
pub(super) fn merge(defaults: &str, layers: Layers) -> Result<Merged, SettingsError> {
    let keys = Keys::parse(defaults).map_err(|error| SettingsError {
        problems: vec![syntax_problem(Source::File("bourse.default.toml".to_owned()), defaults, &error)],
    })?;
    let mut merge = Merge { keys, entries: BTreeMap::new(), problems: Vec::new() };
    let mut layer = Layer::new();
    if let Some((label, text)) = layers.file {
        merge.add_file(&mut layer, &label, &text);
    }
    merge.finish_layer(layer);
    let mut layer = Layer::new();
    for (name, value) in layers.variables {
        merge.add_variable(&mut layer, name, value);
    }
    merge.finish_layer(layer);
    let mut layer = Layer::new();
    for (flag, key, value) in layers.flags {
        let at = Assignment { key, source: Source::Flag(flag.to_owned()) };
        merge.add(&mut layer, at, RawValue::Text(value));
    }
    merge.finish_layer(layer);
    SettingsError::unless_empty(merge.problems)?;
    Ok(Merged::new(merge.keys, merge.entries))
}

/// The settings of one layer, kept apart until it is complete so that repetitions show.
type Layer = BTreeMap<String, Entry>;

/// A value as its layer gives it.
enum RawValue {
    /// From a file, with a type.
    Typed(Value),
    /// From a variable or a flag: the type is that of the setting.
    Text(String),
}

struct Merge {
    keys: Keys,
    entries: BTreeMap<String, Entry>,
    problems: Vec<Problem>,
}

impl Merge {
    fn finish_layer(&mut self, layer: Layer) {
        self.entries.extend(layer);
    }

    fn add_file(&mut self, layer: &mut Layer, label: &str, text: &str) {
        let source = Source::File(label.to_owned());
        match toml::from_str::<Table>(text) {
            Ok(table) => self.add_table(layer, table, "", &source),
            Err(error) => self.problems.push(syntax_problem(source, text, &error)),
        }
    }

    fn add_table(&mut self, layer: &mut Layer, table: Table, prefix: &str, source: &Source) {
        for (name, value) in table {
            // Names of networks are compared without regard to case everywhere.
            let name = if prefix == "networks" { name.to_lowercase() } else { name };
            let key = keys::join(prefix, &name);
            match value {
                Value::Table(inner) if !inner.is_empty() && self.keys.get(&key).is_none() => {
                    self.add_table(layer, inner, &key, source);
                }
                value => self.add(layer, Assignment { key, source: source.clone() }, RawValue::Typed(value)),
            }
        }
    }

    fn add_variable(&mut self, layer: &mut Layer, name: String, value: String) {
        let Some(key) = variable_key(&name) else { return };
        let at = Assignment { key: key.dotted, source: Source::Variable(name) };
        if key.has_section {
            self.add(layer, at, RawValue::Text(value));
        } else {
            self.add_unknown(at);
        }
    }

    fn add(&mut self, layer: &mut Layer, at: Assignment, raw: RawValue) {
        let Some(setting) = self.keys.get(&at.key) else {
            return self.add_non_setting(at, raw);
        };
        let checked = match raw {
            RawValue::Typed(value) if matches_type(&setting.sample, &value) => Ok(value),
            RawValue::Typed(value) => Err(value),
            RawValue::Text(text) => parse_text(&setting.sample, &text).ok_or(Value::String(text)),
        };
        let value = match checked {
            Ok(value) => value,
            Err(value) => return self.problems.push(wrong_type(at, setting, &value)),
        };
        if let Some(other) = layer.get(&at.key).map(|entry| entry.source.clone()) {
            return self.problems.push(Problem::Repeated { at, other });
        }
        layer.insert(at.key, Entry { value, source: at.source });
    }

    /// A key that is not a setting: unknown, or a section treated as one.
    fn add_non_setting(&mut self, at: Assignment, raw: RawValue) {
        if !self.keys.is_section(&at.key) {
            return self.add_unknown(at);
        }
        match raw {
            RawValue::Typed(Value::Table(_)) if keys::network_section(&at.key).is_some() => {
                self.problems.push(Problem::Invalid { at, reason: "needs an `id`".to_owned() });
            }
            // A heading with nothing below it changes nothing.
            RawValue::Typed(Value::Table(_)) => {}
            raw => {
                // Only its type is told: what was meant for some key of the section may be a secret.
                let value = match raw {
                    RawValue::Typed(value) => describe(&value),
                    RawValue::Text(_) => "a value".to_owned(),
                };
                self.problems.push(Problem::WrongType { at, expected: "a section".to_owned(), value });
            }
        }
    }

    fn add_unknown(&mut self, at: Assignment) {
        let suggestion = self.keys.nearest(&at.key).map(|near| match at.source {
            Source::Variable(_) => variable_name(&near),
            Source::Default | Source::File(_) | Source::Flag(_) => format!("`{near}`"),
        });
        self.problems.push(Problem::Unknown { at, suggestion });
    }
}

/// The key that a variable names.
struct VariableKey {
    dotted: String,
    /// Without one, as in `BOURSE_SERVER`, the variable cannot be a setting.
    has_section: bool,
}

/// Reads the name of a variable; `None` when it is none of ours, or reserved.
fn variable_key(name: &str) -> Option<VariableKey> {
    let name = name.to_lowercase();
    let rest = name.strip_prefix("bourse_")?;
    // `BOURSE_CONFIG` names the configuration file, `BOURSE_DEMO_KEY` is a key that must not come near the settings,
    // `BOURSE_TEST_*` belongs to the test suite.
    if matches!(rest, "config" | "demo_key") || rest.starts_with("test_") {
        return None;
    }
    let mut segments: Vec<String> = rest.split("__").map(str::to_owned).collect();
    let has_section = segments.len() > 1;
    // Shells do not take hyphens in the names of variables.
    if segments[0] == "networks" && has_section {
        segments[1] = segments[1].replace('_', "-");
    }
    let dotted = segments.iter().fold(String::new(), |key, segment| keys::join(&key, segment));
    Some(VariableKey { dotted, has_section })
}

/// The variable that sets a key.
fn variable_name(key: &str) -> String {
    format!("BOURSE_{}", key.replace('.', "__").replace('-', "_").to_uppercase())
}

fn wrong_type(at: Assignment, setting: &Setting, value: &Value) -> Problem {
    Problem::WrongType { at, expected: describe(&setting.sample), value: setting.exposure.literal(value) }
}

fn syntax_problem(origin: Source, text: &str, error: &toml::de::Error) -> Problem {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Problem::Syntax {
        origin,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: error.message().replace('\n', ", "),
    }
}
