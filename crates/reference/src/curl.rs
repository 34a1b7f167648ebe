//! Commands to copy into a shell.

use serde_json::Value;

use crate::document::{Api, Operation, members};
use crate::text;

/// A body this long still reads well on one line.
const INLINE_CHARS_MAX: usize = 48;

/// The variables that every example reads.
pub(crate) fn variables(server: Option<&str>) -> String {
    let server = server.map_or_else(|| "'the address of this server'".to_owned(), quoted);
    format!("export BOURSE={server}\nexport KEY='your access key'\nexport TOKEN='your secret token'")
}

/// The command that calls an operation.
pub(crate) fn command<'a>(api: &Api<'a>, operation: &Operation<'a>) -> String {
    let address = address(api, operation);
    let mut parts = match operation.method.as_str() {
        "GET" => vec![format!("curl {address}")],
        "HEAD" => vec![format!("curl -I {address}")],
        method => vec![format!("curl -X {method} {address}")],
    };
    let body = operation.request(api).into_iter().next();
    if let Some((kind, _)) = body.filter(|(kind, _)| *kind != "multipart/form-data") {
        // The type of a form carries the boundary that curl invents.
        parts.push(format!("-H {}", quoted(&format!("Content-Type: {kind}"))));
    }
    match operation.credential() {
        "access key" => parts.push(r#"-H "X-Access-Key: $KEY""#.to_owned()),
        "secret token" => parts.push(r#"-H "Authorization: Bearer $TOKEN""#.to_owned()),
        _ => {}
    }
    if let Some((kind, media)) = body {
        parts.extend(data(api, operation, kind, media));
    }
    parts.join(" \\\n  ")
}

/// The command that sends a JSON body to an address with headers beside it.
pub fn request(url: &str, headers: &[&str], body: &str) -> String {
    let mut parts = vec![format!("curl -X POST {}", quoted(url))];
    let headers = std::iter::once(&"Content-Type: application/json").chain(headers);
    parts.extend(headers.map(|header| format!("-H {}", quoted(header))));
    parts.push(format!("-d {}", quoted(body)));
    parts.join(" \\\n  ")
}

/// The path on the server, parameters as variables of the shell.
fn address<'a>(api: &Api<'a>, operation: &Operation<'a>) -> String {
    let mut path = String::new();
    let mut rest = operation.path;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
    {
        path.push_str(&double_quotable(before));
        path.push_str(&variable(name));
        rest = after;
    }
    path.push_str(&double_quotable(rest));
    let mut separator = '?';
    for parameter in operation.parameters.iter().map(|parameter| api.resolve(parameter)) {
        if parameter["in"] == "query" && parameter["required"] == true {
            let name = text::plain(&parameter["name"]);
            path = format!("{path}{separator}{}={}", double_quotable(&name), variable(&name));
            separator = '&';
        }
    }
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if is_plain { format!("$BOURSE{path}") } else { format!("\"$BOURSE{path}\"") }
}

fn data<'a>(api: &Api<'a>, operation: &Operation<'a>, kind: &str, media: &'a Value) -> Vec<String> {
    if kind == "multipart/form-data" {
        let field = |(name, schema): (&String, &Value)| match schema["format"].as_str() {
            Some("binary") => format!("-F {}", quoted(&format!("{name}=@file"))),
            _ => format!("-F \"{}={}\"", double_quotable(name), variable(name)),
        };
        return members(&api.resolve(&media["schema"])["properties"]).map(field).collect();
    }
    if kind != "application/json" {
        return vec!["--data-binary @file".to_owned()];
    }
    let example = operation.value.get("x-example").or_else(|| media.get("example"));
    let line = example.map_or_else(|| "{}".to_owned(), Value::to_string);
    let body = match example {
        Some(example) if line.chars().count() > INLINE_CHARS_MAX => format!("{example:#}"),
        _ => line,
    };
    vec![format!("-d {}", quoted(&body))]
}

/// A word in single quotes, as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Text that stays itself between double quotes.
fn double_quotable(text: &str) -> String {
    text.chars().flat_map(|c| "\\\"$`".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

fn variable(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("${{{name}}}")
}
