//! Code to paste, with the key in it.

use maud::{Markup, html};

use crate::page::copyable;

const PLACEHOLDER: &str = "YOUR_ACCESS_KEY";

/// The same call in three languages.
pub(super) fn all(url: &str, key: Option<&str>) -> Markup {
    let key = key.unwrap_or(PLACEHOLDER);
    let snippets = [
        ("curl", "curl", curl(url, key)),
        ("typescript", "TypeScript", typescript(url, key)),
        ("rust", "Rust", rust(url, key)),
    ];
    html! {
        @for (id, name, code) in &snippets {
            details.snippet open[*id == "curl"] {
                summary { (name) }
                (copyable(&format!("{id}-{}", key.len()), code))
            }
        }
    }
}

fn curl(url: &str, key: &str) -> String {
    format!(
        "curl -s {url}/rpc/Marketplace/ListCurrencies \\\n  -H 'Content-Type: application/json' \\\n  -H 'X-Access-Key: {key}' \\\n  -d '{{}}'"
    )
}

fn typescript(url: &str, key: &str) -> String {
    format!(
        "const answer = await fetch(\"{url}/rpc/Marketplace/ListCurrencies\", {{\n  method: \"POST\",\n  headers: {{ \"Content-Type\": \"application/json\", \"X-Access-Key\": \"{key}\" }},\n  body: JSON.stringify({{}}),\n}});\nif (!answer.ok) throw new Error((await answer.json()).msg);\nconsole.log(await answer.json());"
    )
}

fn rust(url: &str, key: &str) -> String {
    format!(
        "// reqwest with its feature `json`, serde_json, tokio\nlet answer: serde_json::Value = reqwest::Client::new()\n    .post(\"{url}/rpc/Marketplace/ListCurrencies\")\n    .header(\"X-Access-Key\", \"{key}\")\n    .json(&serde_json::json!({{}}))\n    .send()\n    .await?\n    .error_for_status()?\n    .json()\n    .await?;\nprintln!(\"{{answer:#}}\");"
    )
}
