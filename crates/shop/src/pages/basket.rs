//! What somebody means to buy at once. It is in their browser alone, so that the script shows it.

use maud::html;
use serde_json::Value;

use crate::Answer;
use crate::asking::Visit;
use crate::page::Head;

pub(super) async fn show(visit: Visit) -> Answer {
    let title = visit.say("basket.title");
    let body = html! {
        h1 { (title) }
        div id="basket" { noscript { p.empty { (visit.say("basket.no_script")) } } }
    };
    let path = visit.path("/basket");
    let head = Head { title, description: "", path: &path, image: None, is_private: true };
    Ok(visit.page(&head, &Value::Null, &body))
}
