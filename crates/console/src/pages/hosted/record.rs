//! Metadata that people edit: as a form, or as JSON.

use bourse_wire::{Error, JsonObject};
use maud::{Markup, html};
use serde_json::Value;

use super::attributes::{self, Row};
use super::json;
use crate::form::Form;

/// What kind of metadata it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Collection,
    Token,
}

/// A member that is one text.
pub(super) struct Line {
    pub(super) member: &'static str,
    label: &'static str,
    hint: &'static str,
}

const fn line(member: &'static str, label: &'static str, hint: &'static str) -> Line {
    Line { member, label, hint }
}

const IMAGE: &str = "A link. Leave it empty to let an uploaded file be the image.";

const COLLECTION: [Line; 4] = [
    line("name", "Name", ""),
    line("description", "Description", ""),
    line("image", "Image", IMAGE),
    line("externalLink", "Its own page", "A link."),
];

const TOKEN: [Line; 6] = [
    line("name", "Name", ""),
    line("description", "Description", ""),
    line("image", "Image", IMAGE),
    line("externalUrl", "Its own page", "A link."),
    line("animationUrl", "Animation", "A link to a film, a sound, a model or a page."),
    line("backgroundColor", "Background colour", "Six hexadecimal digits."),
];

impl Subject {
    /// The members that have a field of their own in the form.
    pub(super) fn lines(self) -> &'static [Line] {
        match self {
            Self::Collection => &COLLECTION,
            Self::Token => &TOKEN,
        }
    }

    /// Every member that can be edited.
    pub(super) fn members(self) -> Vec<&'static str> {
        let others: &[&str] = match self {
            Self::Collection => &["properties", "attributes"],
            Self::Token => &["video", "audio", "imageData", "decimals", "properties", "attributes"],
        };
        self.lines().iter().map(|line| line.member).chain(others.iter().copied()).collect()
    }
}

/// What an editor shows: what is stored, or what was typed last.
pub(super) struct Draft {
    subject: Subject,
    texts: Vec<String>,
    rows: Vec<Row>,
    /// Rows beyond the usual empty ones.
    spare: usize,
    json: String,
    /// Whether the JSON is what was typed last, and wrong.
    is_json_typed: bool,
}

impl Draft {
    /// What is stored. Members that cannot be edited, and second spellings, are left out.
    pub(super) fn of(subject: Subject, stored: &Value) -> Self {
        let known = subject.members().into_iter();
        let shown: JsonObject = known
            .filter_map(|member| Some((member.to_owned(), stored.get(member)?.clone())))
            .filter(|(_, value)| !value.is_null() && value != "")
            .collect();
        let text = |line: &Line| stored[line.member].as_str().unwrap_or_default().to_owned();
        let attributes = stored["attributes"].as_array().map_or(&[][..], Vec::as_slice);
        Self {
            subject,
            texts: subject.lines().iter().map(text).collect(),
            rows: attributes.iter().filter_map(Value::as_object).map(Row::of).collect(),
            spare: 0,
            json: format!("{:#}", Value::Object(shown)),
            is_json_typed: false,
        }
    }

    /// The same with what a form has instead.
    pub(super) fn typed(mut self, form: &Form) -> Self {
        if is_json(form) {
            form.text("json").clone_into(&mut self.json);
            self.is_json_typed = true;
        } else {
            self.texts = self.subject.lines().iter().map(|line| form.text(line.member).to_owned()).collect();
            self.rows = attributes::rows_in(form);
            self.spare = if wants_rows(form) { 4 } else { 0 };
        }
        self
    }

    /// The members of the form.
    pub(super) fn fields(&self) -> Markup {
        html! {
            @for (line, text) in self.subject.lines().iter().zip(&self.texts) {
                label {
                    (line.label)
                    @if line.member == "description" {
                        textarea.prose name=(line.member) rows="4" { (text) }
                    } @else {
                        input name=(line.member) value=(text) required[line.member == "name" && self.subject == Subject::Collection];
                    }
                    @if !line.hint.is_empty() { span.hint { (line.hint) } }
                }
            }
            div {
                h3 { "Attributes" }
                (attributes::controls(&self.rows, self.spare))
            }
        }
    }

    /// The editor of the whole as JSON.
    pub(super) fn json_field(&self) -> Markup {
        html! {
            label {
                "All of it as JSON. A member that you take out is emptied."
                textarea name="json" rows="16" spellcheck="false" { (self.json) }
            }
        }
    }

    pub(super) fn is_json_typed(&self) -> bool {
        self.is_json_typed
    }
}

impl Line {
    /// A text as it arrives when it was shown in the form and sent.
    fn as_sent(&self, text: &str) -> String {
        if self.member == "description" {
            text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
        } else {
            as_line(text)
        }
    }
}

/// A text as it arrives from a field that has one line.
pub(super) fn as_line(text: &str) -> String {
    text.replace(['\n', '\r'], "").trim().to_owned()
}

/// Whether what was sent is the JSON and not the form.
pub(super) fn is_json(form: &Form) -> bool {
    form.text("as") == "json"
}

/// Whether nothing is to be saved yet, but more rows are wanted.
pub(super) fn wants_rows(form: &Form) -> bool {
    form.text("do") == "rows"
}

/// What a form wants metadata to be, in the words of the operations.
pub(super) fn wanted(subject: Subject, form: &Form, stored: &Value) -> Result<JsonObject, Error> {
    if is_json(form) {
        return json::read(subject, form.text("json"), stored);
    }
    let mut record = JsonObject::new();
    for line in subject.lines() {
        let typed = line.as_sent(form.text(line.member));
        // What nobody touched is not saved: browsers change line breaks, and we the spaces around a text.
        if typed != line.as_sent(stored[line.member].as_str().unwrap_or_default()) {
            record.insert(line.member.to_owned(), Value::String(typed));
        }
    }
    let attributes = attributes::attributes(&attributes::rows_in(form))?;
    record.insert("attributes".to_owned(), attributes.into_iter().map(Value::Object).collect());
    Ok(record)
}
