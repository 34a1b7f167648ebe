//! JSON Schema as a reader wants it: a type in words, a table of members, a list of values.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::document::{Api, items, members, record_anchor, record_name};
use crate::text;

/// Parts of parts that are gathered into one table: a record that includes itself ends here.
const PARTS_DEPTH_MAX: usize = 8;

/// Values listed beside a member before the reader has to follow the link.
const VALUES_INLINE_MAX: usize = 12;

/// One row of a table.
pub(crate) struct Member<'a> {
    /// With the names of the members around it.
    pub(crate) name: String,
    pub(crate) schema: &'a Value,
    pub(crate) required: bool,
    pub(crate) description: Option<&'a str>,
}

/// Everything that a schema admits: its values, its alternatives or its members. `caption` names the table.
pub(crate) fn shape<'a>(api: &Api<'a>, schema: &'a Value, caption: &str) -> Markup {
    let resolved = api.resolve(schema);
    let (values, variants) = (values(resolved), alternatives(resolved));
    let rows = rows(api, resolved);
    let has_variants = variants.iter().any(|variant| !variant["properties"].is_null());
    html! {
        @if !values.is_empty() {
            (value_list(&values))
        } @else if rows.is_empty() && !has_variants {
            p.type { span.label { "Type" } " " (type_of(api, resolved)) (limits(api, resolved)) }
        }
        @if !rows.is_empty() { (table(api, &rows, caption)) }
        @if values.is_empty() && has_variants {
            p { "One of these:" }
            @for (index, variant) in variants.iter().enumerate() {
                (alternative(api, variant, &format!("{caption}, alternative {}", index + 1)))
            }
        }
    }
}

/// A table of members.
pub(crate) fn table<'a>(api: &Api<'a>, rows: &[Member<'a>], caption: &str) -> Markup {
    html! {
        // Phones show rows as blocks, which costs a table its meaning in some browsers: the roles keep it.
        table.members role="table" {
            caption { (caption) }
            thead role="rowgroup" {
                tr role="row" {
                    th scope="col" role="columnheader" { "Name" }
                    th scope="col" role="columnheader" { "Type" }
                    th scope="col" role="columnheader" { "Required" }
                    th scope="col" role="columnheader" { "Description" }
                }
            }
            tbody role="rowgroup" {
                @for row in rows {
                    tr role="row" {
                        th.name scope="row" role="rowheader" { code { (text::breakable(&row.name)) } }
                        td.type role="cell" { (type_of(api, row.schema)) }
                        td.need role="cell" {
                            @if row.required { span.required { "required" } } @else { "optional" }
                        }
                        td.about role="cell" { (about(api, row)) }
                    }
                }
            }
        }
    }
}

/// The members of an object, those of its parts and of objects written inside it included.
pub(crate) fn rows<'a>(api: &Api<'a>, schema: &'a Value) -> Vec<Member<'a>> {
    let mut rows = Vec::new();
    gather(api, schema, "", &mut rows, 0);
    rows
}

/// Whether a schema is an object of which no members are known.
pub(crate) fn is_bare_object<'a>(api: &Api<'a>, schema: &'a Value) -> bool {
    let schema = api.resolve(schema);
    let known = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf"];
    schema["type"] == "object" && known.iter().all(|name| schema[name].is_null())
}

/// A type in words, with links to records: `array of Asset`, `Page or null`.
pub(crate) fn type_of(api: &Api, schema: &Value) -> Markup {
    if let Some(target) = schema["$ref"].as_str() {
        return if let Some(name) = record_name(schema).filter(|name| api.has_record(name)) {
            html! { a href={ "#" (record_anchor(name)) } { (text::breakable(name)) } }
        } else {
            html! { (target.rsplit('/').next().unwrap_or(target)) }
        };
    }
    if let Some(value) = schema.get("const") {
        return html! { code { (value.to_string()) } };
    }
    let values = items(&schema["enum"]);
    if !values.is_empty() {
        return join(values.iter().map(|value| html! { code { (value.to_string()) } }), " or ");
    }
    let parts = items(&schema["allOf"]);
    if !parts.is_empty() {
        return join(parts.iter().map(|part| type_of(api, part)), " and ");
    }
    let choices = alternatives(schema);
    if !choices.is_empty() {
        return join(choices.iter().map(|choice| type_of(api, choice)), " or ");
    }
    match &schema["type"] {
        Value::String(name) => one_type(api, schema, name),
        Value::Array(names) => {
            join(names.iter().filter_map(Value::as_str).map(|name| one_type(api, schema, name)), " or ")
        }
        _ => html! { "any" },
    }
}

fn one_type(api: &Api, schema: &Value, name: &str) -> Markup {
    match (name, schema.get("items"), schema.get("prefixItems"), schema.get("additionalProperties")) {
        ("array", _, Some(places), _) => {
            let places = items(places).iter().map(|place| grouped(api, place));
            html! { "array of " (join(places, ", then ")) }
        }
        ("array", Some(item), None, _) => html! { "array of " (grouped(api, item)) },
        ("object", _, _, Some(value)) if value != false && schema["properties"].is_null() => {
            html! { "map of string to " (grouped(api, value)) }
        }
        ("string", ..) => {
            if let Some(format) = schema["format"].as_str() {
                html! { "string (" (format) ")" }
            } else {
                html! { "string" }
            }
        }
        (name, ..) => html! { (name) },
    }
}

/// A type after `of` or `to`, in parentheses where it would read as two.
fn grouped(api: &Api, schema: &Value) -> Markup {
    let choices = [&schema["anyOf"], &schema["oneOf"], &schema["enum"], &schema["type"]];
    if choices.iter().any(|choices| items(choices).len() > 1) {
        html! { "(" (type_of(api, schema)) ")" }
    } else {
        type_of(api, schema)
    }
}

fn gather<'a>(api: &Api<'a>, schema: &'a Value, prefix: &str, rows: &mut Vec<Member<'a>>, depth: usize) {
    let schema = api.resolve(schema);
    if depth < PARTS_DEPTH_MAX {
        for part in items(&schema["allOf"]) {
            gather(api, part, prefix, rows, depth + 1);
        }
    }
    for (name, property) in members(&schema["properties"]) {
        let required = items(&schema["required"]).iter().any(|required| required.as_str() == Some(name));
        let name = format!("{prefix}{name}");
        let inner =
            [(property, "."), (&property["items"], "[]."), (&property["additionalProperties"], ".*.")];
        let description = text::description(property).or_else(|| text::description(api.resolve(property)));
        rows.push(Member { name: name.clone(), schema: property, required, description });
        // A record has its own section; an object without a name has no other place than here.
        for (schema, separator) in inner {
            if schema.get("$ref").is_none() && !schema["properties"].is_null() {
                gather(api, schema, &format!("{name}{separator}"), rows, depth);
            }
        }
    }
}

fn about<'a>(api: &Api<'a>, row: &Member<'a>) -> Markup {
    html! {
        @if row.schema["deprecated"] == true { span.badge.state { "deprecated" } }
        (text::prose(row.description.unwrap_or_default()))
        (limits(api, row.schema))
    }
}

/// What the type does not say: bounds, the default, the values of a record that is a choice.
fn limits<'a>(api: &Api<'a>, schema: &'a Value) -> Markup {
    let unsigned = schema["format"].as_str().is_some_and(|format| format.starts_with("uint"));
    let words = [
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
        ("minLength", "shortest length"),
        ("maxLength", "greatest length"),
        ("minItems", "fewest items"),
        ("maxItems", "most items"),
        ("pattern", "pattern"),
        ("default", "default"),
    ];
    let mut limits: Vec<Markup> = words
        .iter()
        .filter_map(|(name, word)| Some((name, word, schema.get(name)?)))
        // Every unsigned integer says that it is at least 0, and every optional member that it is null.
        .filter(|(name, _, limit)| {
            !(limit.is_null() || unsigned && **name == "minimum" && limit.as_u64() == Some(0))
        })
        .map(|(_, word, limit)| html! { (word) " " code { (text::plain(limit)) } })
        .collect();
    if let Some(choice) = choice_of(api, schema) {
        let list = join(choice.iter().map(|value| html! { code { (value.to_string()) } }), ", ");
        limits.push(html! { "one of " (list) });
    }
    html! { @if !limits.is_empty() { p.limits { (join(limits.into_iter(), " · ")) } } }
}

/// The values of the record that a member is, may be or lists, if they are few.
fn choice_of<'a>(api: &Api<'a>, schema: &'a Value) -> Option<Vec<&'a Value>> {
    let record = alternatives(schema)
        .iter()
        .chain([schema, &schema["items"]])
        .find(|candidate| record_name(candidate).is_some())?;
    let values: Vec<&Value> = values(api.resolve(record)).into_iter().map(|(value, _)| value).collect();
    (1..=VALUES_INLINE_MAX).contains(&values.len()).then_some(values)
}

fn alternative<'a>(api: &Api<'a>, schema: &'a Value, caption: &str) -> Markup {
    html! {
        div.alternative {
            @if let Some(description) = text::description(schema) { (text::prose(description)) }
            @if schema["properties"].is_null() {
                p.type { (type_of(api, schema)) }
            } @else {
                (table(api, &rows(api, schema), caption))
            }
        }
    }
}

pub(crate) fn alternatives(schema: &Value) -> &[Value] {
    let any = items(&schema["anyOf"]);
    if any.is_empty() { items(&schema["oneOf"]) } else { any }
}

/// The values of a choice with what each means; nothing unless every alternative is a value.
pub(crate) fn values(schema: &Value) -> Vec<(&Value, Option<&str>)> {
    let own = items(&schema["enum"]).iter().map(|value| (value, None));
    let mut values: Vec<_> = own.chain(schema.get("const").map(|value| (value, None))).collect();
    for choice in alternatives(schema) {
        let about = text::description(choice);
        let before = values.len();
        values.extend(
            choice.get("const").into_iter().chain(items(&choice["enum"])).map(|value| (value, about)),
        );
        if values.len() == before {
            return Vec::new();
        }
    }
    values
}

fn value_list(values: &[(&Value, Option<&str>)]) -> Markup {
    html! {
        p.type { span.label { "Values" } }
        ul.values {
            @for (value, about) in values {
                li {
                    code { (value.to_string()) }
                    @if let Some(about) = about { " " span { (text::inline(about)) } }
                }
            }
        }
    }
}

fn join(pieces: impl Iterator<Item = Markup>, separator: &str) -> Markup {
    let pieces: Vec<String> = pieces.map(Markup::into_string).collect();
    // The pieces are markup already, and the separators are words of ours.
    PreEscaped(pieces.join(separator))
}
