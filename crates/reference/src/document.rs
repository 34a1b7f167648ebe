//! Reading an `OpenAPI` document: its operations in groups, its records, and what a reference points at.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::text;

const RECORD_PREFIX: &str = "#/components/schemas/";

/// References followed in a row before giving up, so that a record that refers to itself ends.
const REFERENCES_MAX: usize = 16;

const METHODS: [&str; 8] = ["get", "put", "post", "patch", "delete", "head", "options", "trace"];

/// A document, read once.
pub(crate) struct Api<'a> {
    document: &'a Value,
    operations: Vec<Operation<'a>>,
    /// Records that operations show in full and nothing else refers to.
    bodies: BTreeSet<&'a str>,
}

/// One operation.
pub(crate) struct Operation<'a> {
    /// In capitals.
    pub(crate) method: String,
    pub(crate) path: &'a str,
    /// The id of its section.
    pub(crate) anchor: String,
    /// Its own parameters and those of its path.
    pub(crate) parameters: Vec<&'a Value>,
    pub(crate) value: &'a Value,
}

/// The operations of one tag.
pub(crate) struct Group<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) operations: Vec<&'a Operation<'a>>,
}

impl<'a> Api<'a> {
    pub(crate) fn read(document: &'a Value) -> Self {
        let mut anchors = BTreeSet::new();
        let mut operations = Vec::new();
        for (path, item) in members(&document["paths"]) {
            for method in METHODS {
                let Some(value) = item.get(method) else { continue };
                let parameters =
                    items(&item["parameters"]).iter().chain(items(&value["parameters"])).collect();
                let name =
                    value["operationId"].as_str().map_or_else(|| format!("{method}{path}"), str::to_owned);
                let mut anchor = format!("op-{}", anchor(&name));
                while !anchors.insert(anchor.clone()) {
                    anchor.push_str("-again");
                }
                operations.push(Operation { method: method.to_uppercase(), path, anchor, parameters, value });
            }
        }
        let bodies = bodies_shown_once(document, &operations);
        Self { document, operations, bodies }
    }

    pub(crate) fn info(&self, name: &str) -> Option<&'a str> {
        self.document["info"][name].as_str()
    }

    /// What the interface is: its summary, or else the first paragraph of its description.
    pub(crate) fn lead(&self) -> Option<&'a str> {
        self.info("summary").or_else(|| self.first_paragraph().map(|(first, _)| first))
    }

    /// The description without the paragraph that became the lead.
    pub(crate) fn conventions(&self) -> &'a str {
        let whole = self.info("description").unwrap_or_default();
        if self.info("summary").is_some() {
            return whole.trim();
        }
        self.first_paragraph().map_or(whole, |(_, rest)| rest).trim()
    }

    fn first_paragraph(&self) -> Option<(&'a str, &'a str)> {
        let whole = self.info("description")?.trim();
        // A description that starts with a heading or a list has no paragraph to lead with.
        let starts_with_prose = !whole.starts_with(['#', '-', '*', '`']);
        starts_with_prose.then(|| whole.split_once("\n\n").unwrap_or((whole, "")))
    }

    /// The address of the server, if the document has an absolute one.
    pub(crate) fn server(&self) -> Option<&'a str> {
        self.document["servers"][0]["url"].as_str().filter(|url| url.contains("://"))
    }

    pub(crate) fn errors(&self) -> &'a [Value] {
        items(&self.document["x-errors"])
    }

    /// The operations by first tag: tags in the order in which the document lists them, then as they come.
    pub(crate) fn groups(&self) -> Vec<Group<'_>> {
        let listed = items(&self.document["tags"]).iter().filter_map(|tag| tag["name"].as_str());
        let mut names: Vec<&str> = Vec::new();
        for name in listed.chain(self.operations.iter().map(Operation::tag)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let group = |name| Group {
            name,
            description: items(&self.document["tags"])
                .iter()
                .find(|tag| tag["name"].as_str() == Some(name))
                .and_then(text::description),
            operations: self.operations.iter().filter(|operation| operation.tag() == name).collect(),
        };
        names.into_iter().map(group).filter(|group| !group.operations.is_empty()).collect()
    }

    /// The operation that is called at a path.
    pub(crate) fn operation_at(&self, path: &str) -> Option<&Operation<'a>> {
        self.operations.iter().find(|operation| operation.path == path)
    }

    /// The records by name, without those that operations show in full.
    pub(crate) fn records(&self) -> BTreeMap<&'a str, &'a Value> {
        members(&self.document["components"]["schemas"])
            .map(|(name, record)| (name.as_str(), record))
            .filter(|(name, _)| !self.bodies.contains(name))
            .collect()
    }

    /// Whether a record has a section of its own to link to.
    pub(crate) fn has_record(&self, name: &str) -> bool {
        self.document["components"]["schemas"].get(name).is_some() && !self.bodies.contains(name)
    }

    /// What a value is, references followed.
    pub(crate) fn resolve(&self, value: &'a Value) -> &'a Value {
        resolve(self.document, value)
    }
}

impl<'a> Operation<'a> {
    fn tag(&self) -> &'a str {
        self.value["tags"][0].as_str().unwrap_or("Other")
    }

    /// The operation's name if its path carries one, or else the path.
    pub(crate) fn title(&self) -> &'a str {
        let name = self.path.strip_prefix("/rpc/").and_then(|rest| rest.split('/').next_back());
        name.unwrap_or(self.path)
    }

    /// Whether the title is a name and not the path.
    pub(crate) fn is_named(&self) -> bool {
        self.title() != self.path
    }

    pub(crate) fn credential(&self) -> &'a str {
        self.value["x-credential"].as_str().unwrap_or("none")
    }

    /// The request body by media type.
    pub(crate) fn request(&self, api: &Api<'a>) -> Vec<(&'a str, &'a Value)> {
        content(api.resolve(&self.value["requestBody"]))
    }

    /// Every response: its status and what it is.
    pub(crate) fn responses(&self, api: &Api<'a>) -> Vec<(&'a str, &'a Value)> {
        members(&self.value["responses"])
            .map(|(status, value)| (status.as_str(), api.resolve(value)))
            .collect()
    }
}

impl Group<'_> {
    pub(crate) fn anchor(&self) -> String {
        format!("service-{}", anchor(self.name))
    }
}

/// The schemas of a body by media type.
pub(crate) fn content(body: &Value) -> Vec<(&str, &Value)> {
    members(&body["content"]).map(|(kind, media)| (kind.as_str(), media)).collect()
}

/// Whether a response is an answer and not an error.
pub(crate) fn is_success(status: &str) -> bool {
    status.starts_with('2')
}

/// The name of the record that a reference points at, if it is one.
pub(crate) fn record_name(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(RECORD_PREFIX)
}

/// The id of a record's section.
pub(crate) fn record_anchor(name: &str) -> String {
    format!("record-{}", anchor(name))
}

/// The members of an object, none if it is something else.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// The items of an array, none if it is something else.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A name as it can stand in an address. Names of components have only these characters, and stay distinct.
fn anchor(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect()
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let mut value = value;
    for _ in 0..REFERENCES_MAX {
        let target = value["$ref"].as_str().and_then(|target| document.pointer(target.strip_prefix('#')?));
        let Some(target) = target else { break };
        value = target;
    }
    value
}

/// Records that are the whole body of an operation and are not part of anything else: the operation shows
/// their members, and a second copy among the records would only bury the records that are shared.
fn bodies_shown_once<'a>(document: &'a Value, operations: &[Operation<'a>]) -> BTreeSet<&'a str> {
    let (mut whole, mut parts) = (BTreeSet::new(), BTreeSet::new());
    members(&document["components"]["schemas"]).for_each(|(_, record)| references(record, &mut parts));
    for operation in operations {
        operation.parameters.iter().for_each(|parameter| references(parameter, &mut parts));
        let mut shown = content(resolve(document, &operation.value["requestBody"]));
        for (status, response) in members(&operation.value["responses"]) {
            let response = resolve(document, response);
            if is_success(status) {
                shown.extend(content(response));
            } else {
                references(response, &mut parts);
            }
        }
        for (_, media) in shown {
            match record_name(&media["schema"]) {
                Some(name) => _ = whole.insert(name),
                None => references(&media["schema"], &mut parts),
            }
        }
    }
    whole.difference(&parts).copied().collect()
}

fn references<'a>(value: &'a Value, names: &mut BTreeSet<&'a str>) {
    names.extend(record_name(value));
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Object(members) => members.values().for_each(|member| references(member, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
