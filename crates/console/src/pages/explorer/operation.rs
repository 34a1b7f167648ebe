//! One operation of the explorer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use bourse_reference::{Field, anchor_of, curl_request, fields, inline};
use bourse_server::{Credential, Media, Route, document};
use bourse_wire::{Error, JsonObject};
use maud::{Markup, html};
use serde_json::Value;

use super::body::{body_of, controls, filled_from, typed, written};
use super::{for_viewers, pretty};
use crate::access::Member;
use crate::form::Form;
use crate::page::{Section, copyable};
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice};

/// As much of an answer as a page shows, in bytes.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// An operation as it is filled in.
struct Sheet {
    route: Arc<Route>,
    fields: Vec<Field>,
    filled: Vec<String>,
    /// The body as JSON, where that is how it is written.
    json: Option<String>,
    media: Media,
}

/// What came back.
struct Reply {
    status: u16,
    took: Duration,
    bytes: usize,
    shown: pretty::Excerpt,
    command: String,
}

impl Sheet {
    /// The operation in the path, filled in with nothing.
    fn find(member: &Member) -> Result<Self, Refusal> {
        let route = member.console().operation(member.name("service"), member.name("operation"));
        let route = route.ok_or_else(|| Refusal::missing("operation"))?;
        let fields = fields(document(), &route.path());
        Ok(Self { filled: vec![String::new(); fields.len()], route, fields, json: None, media: Media::Json })
    }

    fn write(&mut self, body: JsonObject) {
        self.json = Some(format!("{:#}", Value::Object(body)));
    }

    /// Fills the fields in, if there is one for every member.
    fn fill(&mut self, body: &JsonObject) -> Result<(), Error> {
        let has_field = |name: &&String| self.fields.iter().any(|field| field.name == **name);
        if let Some(name) = body.keys().find(|name| !has_field(name)) {
            let reason = format!("there is no field for `{name:.64}`: take it out first, or send it as JSON");
            return Err(Error::invalid("body", reason));
        }
        self.filled = filled_from(&self.fields, body);
        self.json = None;
        Ok(())
    }

    /// What was typed stays typed, whether it can be sent or not.
    fn take(&mut self, form: &Form) {
        match form.text("as") {
            "json" => self.json = Some(form.text("body").to_owned()),
            _ => self.filled = typed(&self.fields, form),
        }
        let wants_table = self.route.is_tabular && form.text("answer") == "csv";
        self.media = if wants_table { Media::Csv } else { Media::Json };
    }

    fn body(&self) -> Result<JsonObject, Error> {
        self.json.as_deref().map_or_else(|| body_of(&self.fields, &self.filled), written)
    }

    fn name(&self) -> String {
        format!("{}/{}", self.route.service.name(), self.route.name)
    }

    /// The same call from a shell.
    fn command(&self, url: &str, body: &str) -> String {
        let mut headers = match self.route.credential {
            Credential::None => vec![],
            Credential::AccessKey | Credential::ServiceKey => vec!["X-Access-Key: YOUR_ACCESS_KEY"],
            Credential::SecretToken => vec!["Authorization: Bearer YOUR_SECRET_TOKEN"],
        };
        if self.media == Media::Csv {
            headers.push("Accept: text/csv");
        }
        curl_request(&format!("{url}{}", self.route.path()), &headers, body)
    }
}

pub(super) async fn show(member: Member, uri: Uri) -> Answer {
    let mut sheet = Sheet::find(&member)?;
    let query = Form::of_query(uri.query().unwrap_or_default());
    let example: JsonObject = serde_json::from_str(sheet.route.example)?;
    match query.text("as") {
        "json" => sheet.write(example),
        _ => sheet.fill(&example)?,
    }
    Ok(page(&member, &sheet, None, &html! {}))
}

pub(super) async fn send(member: Member, form: Form) -> Answer {
    let mut sheet = Sheet::find(&member)?;
    sheet.take(&form);
    match Submission::of(done(&member, &mut sheet, form.text("do")).await)? {
        Submission::Accepted(reply) => Ok(page(&member, &sheet, reply.as_ref(), &html! {})),
        Submission::Rejected(error) => {
            let page = page(&member, &sheet, None, &notice::refused(&error));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// Sends what was filled in, or only shows it in the other way.
async fn done(member: &Member, sheet: &mut Sheet, wanted: &str) -> Result<Option<Reply>, Refusal> {
    let body = sheet.body()?;
    match wanted {
        "json" => sheet.write(body),
        "fields" => sheet.fill(&body)?,
        _ => return ask(member, sheet, &Value::Object(body)).await.map(Some),
    }
    Ok(None)
}

/// Asks the operation, in this process. A refusal is an answer too.
async fn ask(member: &Member, sheet: &Sheet, body: &Value) -> Result<Reply, Refusal> {
    let sent = body.to_string();
    let command = sheet.command(&member.console().settings().public_url(), &sent);
    let started = Instant::now();
    let answer = member.ask_for(&sheet.name(), sent.into(), sheet.media).await;
    let took = started.elapsed();
    let (status, answer, media) = match answer {
        Ok(answer) => (200, answer, sheet.media),
        Err(Refusal::Refused(error)) => {
            let dialect = sheet.route.service.dialect();
            (dialect.word(error.code).status, serde_json::to_vec(&error.said(dialect))?, Media::Json)
        }
        Err(other) => return Err(other),
    };
    let text = String::from_utf8_lossy(&answer);
    let shown = match media {
        Media::Json => pretty::lay_out(&text, SHOWN_BYTES_MAX),
        Media::Csv => pretty::cut(&text, SHOWN_BYTES_MAX),
    };
    Ok(Reply { status, took, bytes: answer.len(), shown, command })
}

fn page(member: &Member, sheet: &Sheet, reply: Option<&Reply>, first: &Markup) -> Response {
    let (route, is_locked) = (&sheet.route, !member.is_owner() && !sheet.route.is_for_viewers());
    let anchor = anchor_of(document(), &route.path());
    let credential = match route.credential {
        Credential::None => "none",
        Credential::AccessKey | Credential::ServiceKey => "an access key",
        Credential::SecretToken => "a secret token",
    };
    let body = html! {
        p.trail { a href=(member.path("/explorer")) { "API explorer" } " › " (route.service.name()) }
        h1 { (route.name) }
        (first)
        p { (inline(route.summary)) }
        dl.facts {
            dt { "Address" } dd { code { "POST " (route.path()) } }
            dt { "Credential" } dd { (credential) }
            dt { "Costs" } dd { (route.cost) @if route.cost == 1 { " compute unit" } @else { " compute units" } }
            dt { "Reference" } dd { a href={ "/docs#" (anchor) } { "members and answer" } }
        }
        @if is_locked { (for_viewers()) }
        @if let Some(reply) = reply { (answer(reply)) }
        (editor(member, sheet, is_locked))
    };
    member.page(Section::Explorer, route.name, &body)
}

fn editor(member: &Member, sheet: &Sheet, is_locked: bool) -> Markup {
    let action = member.path(&format!("/explorer/{}", sheet.name()));
    html! {
        section.panel {
            h2 { "Request" }
            form.stacked.wide method="post" action=(action) {
                (member.visitor.form_token())
                @if let Some(json) = &sheet.json {
                    input type="hidden" name="as" value="json";
                    label {
                        "Body"
                        textarea name="body" rows=(json.lines().count().clamp(8, 30)) spellcheck="false" { (json) }
                    }
                } @else {
                    (controls(&sheet.fields, &sheet.filled))
                }
                @if sheet.route.is_tabular {
                    label {
                        "Answer as"
                        select name="answer" {
                            option value="json" { "JSON" }
                            option value="csv" selected[sheet.media == Media::Csv] { "a table (CSV)" }
                        }
                    }
                }
                div.buttons {
                    @if !is_locked { button { "Send" } }
                    @if sheet.json.is_some() {
                        button.plain name="do" value="fields" { "Fill in field by field" }
                    } @else {
                        button.plain name="do" value="json" { "Write it as JSON" }
                    }
                }
            }
        }
    }
}

fn answer(reply: &Reply) -> Markup {
    let is_good = reply.status == 200;
    html! {
        section.reply aria-labelledby="answer" {
            h2 id="answer" { "Answer" }
            p role="status" {
                span.badge.bad[!is_good] { (reply.status) @if is_good { " OK" } }
                " in " (milliseconds(reply.took)) ", " (format::number(reply.bytes)) " bytes"
                @if reply.shown.is_cut { ", of which the first " (format::number(SHOWN_BYTES_MAX)) " laid out are shown" }
            }
            (copyable("answer-text", &reply.shown.text))
            h3 { "The same from a shell" }
            (copyable("answer-curl", &reply.command))
        }
    }
}

fn milliseconds(took: Duration) -> String {
    let micros = took.as_micros();
    format!("{}.{:02} ms", format::number(micros / 1000), micros % 1000 / 10)
}
