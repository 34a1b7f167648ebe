//! Values and their types. A type is given by a sample: the default of the setting.

use toml::Value;

/// Reads a text as a value of the type of the sample.
pub(super) fn parse_text(sample: &Value, text: &str) -> Option<Value> {
    let value = match sample {
        Value::String(_) => Value::String(text.to_owned()),
        Value::Array(_) if !text.trim_start().starts_with('[') => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(|item| parse_text(&item_sample(sample), item)).collect::<Option<_>>()?)
        }
        _ => text.trim().parse().ok()?,
    };
    matches_type(sample, &value).then_some(value)
}

/// Whether a value has the type of the sample.
pub(super) fn matches_type(sample: &Value, value: &Value) -> bool {
    match value {
        Value::Array(items) if sample.is_array() => {
            items.iter().all(|item| item.same_type(&item_sample(sample)))
        }
        value => sample.same_type(value),
    }
}

/// What a list holds: the type of its first item, texts when the default is empty.
fn item_sample(list: &Value) -> Value {
    list.get(0).cloned().unwrap_or_else(|| Value::String(String::new()))
}

/// The type of the sample in words.
pub(super) fn describe(sample: &Value) -> String {
    match sample {
        Value::Array(_) => format!("a list, each item {}", describe(&item_sample(sample))),
        Value::Integer(_) => "an integer".to_owned(),
        other => format!("a {}", other.type_str()),
    }
}
