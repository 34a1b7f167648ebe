//! What others say of tokens and contracts, as it is served.

use bourse_wire::{JsonObject, TokenId, TokenMetadata, from_slice, take_member};
use reqwest::Url;
use serde_json::Value;

use super::link::{Gateways, Link};

/// Levels of nesting that are read.
const DEPTH_MAX: usize = 32;
/// The longest name, description, and link or inline image, in bytes. Longer names and descriptions are cut, longer links
/// are left out.
const NAME_BYTES_MAX: usize = 2 * 1024;
const DESCRIPTION_BYTES_MAX: usize = 64 * 1024;
const LINK_BYTES_MAX: usize = 256 * 1024;
const COLOR_BYTES_MAX: usize = 64;
/// Attributes that are kept.
const ATTRIBUTES_MAX: usize = 1_000;

/// Why a text is no metadata.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// It is no JSON object.
    #[error("what the link leads to is not a JSON object")]
    NotJson,
    /// It is larger than a record may be.
    #[error("the metadata is larger than a record may be")]
    TooLarge,
}

/// Reads a token's metadata. Members of the wrong type are left out: what can be read is worth having.
pub fn token(token_id: TokenId, body: &[u8], gateways: &Gateways) -> Result<TokenMetadata, MetadataError> {
    let mut members = object(body)?;
    let mut link = |names: &[&str]| take_link(&mut members, names, gateways);
    let (image, animation_url) = (link(&["image", "image_url"]), link(&["animation_url"]));
    let (video, audio) = (link(&["video"]), link(&["audio"]));
    let external_url = link(&["external_url", "external_link"]);
    let token = TokenMetadata {
        token_id,
        name: take_text(&mut members, &["name", "title"], NAME_BYTES_MAX),
        description: take_text(&mut members, &["description"], DESCRIPTION_BYTES_MAX),
        image,
        video,
        audio,
        image_data: take_text(&mut members, &["image_data"], LINK_BYTES_MAX),
        external_url,
        background_color: take_text(&mut members, &["background_color"], COLOR_BYTES_MAX)
            .trim_start_matches('#')
            .to_owned(),
        animation_url,
        decimals: take_member(&mut members, "decimals").and_then(|value| small_number(&value)),
        attributes: take_attributes(&mut members),
        properties: match take_member(&mut members, "properties") {
            Some(Value::Object(properties)) if !properties.is_empty() => Some(properties),
            _ => None,
        },
        ..TokenMetadata::default()
    };
    token.to_json().map_err(|_| MetadataError::TooLarge)?;
    Ok(token)
}

/// What a contract's link says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContractText {
    /// Name.
    pub name: String,
    /// Symbol.
    pub symbol: String,
    /// Description.
    pub description: String,
    /// Link to the image.
    pub image: String,
    /// Link to an image for previews.
    pub banner: String,
    /// Link to the project's page.
    pub link: String,
}

/// Reads what a contract's link says of it.
pub fn contract(body: &[u8], gateways: &Gateways) -> Result<ContractText, MetadataError> {
    let mut members = object(body)?;
    Ok(ContractText {
        name: take_text(&mut members, &["name"], NAME_BYTES_MAX),
        symbol: take_text(&mut members, &["symbol"], 256),
        description: take_text(&mut members, &["description"], DESCRIPTION_BYTES_MAX),
        image: take_link(&mut members, &["image", "image_url", "logo"], gateways),
        banner: take_link(&mut members, &["banner_image", "banner_image_url", "featured_image"], gateways),
        link: take_link(&mut members, &["external_link", "external_url"], gateways),
    })
}

fn object(body: &[u8]) -> Result<JsonObject, MetadataError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(MetadataError::NotJson);
    }
    from_slice::<JsonObject>(body, DEPTH_MAX).map_err(|_| MetadataError::NotJson)
}

/// The first of these members that is a text, or a number in place of one.
fn take_text(members: &mut JsonObject, names: &[&str], bytes_max: usize) -> String {
    let text = names.iter().find_map(|name| match take_member(members, name)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    let mut text = text.unwrap_or_default();
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

/// The first of these members that is a link which a browser can follow and which does nothing but show something.
fn take_link(members: &mut JsonObject, names: &[&str], gateways: &Gateways) -> String {
    let found = names.iter().find_map(|name| match take_member(members, name)? {
        Value::String(text) => shown_link(text.trim(), gateways),
        _ => None,
    });
    found.unwrap_or_default()
}

fn shown_link(text: &str, gateways: &Gateways) -> Option<String> {
    if text.is_empty() || text.len() > LINK_BYTES_MAX {
        return None;
    }
    let is_image = text.get(..11).is_some_and(|head| head.eq_ignore_ascii_case("data:image/"));
    if is_image || text.starts_with("<svg") {
        return Some(text.to_owned());
    }
    match Link::read(text, None, 0).ok()? {
        Link::Web(_) => Some(text.to_owned()),
        link @ (Link::Ipfs(_) | Link::Arweave(_)) => link.urls(gateways).first().map(Url::to_string),
        Link::Inline(_) => None,
    }
}

fn small_number(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) => text.parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    u8::try_from(number).ok().map(u64::from)
}

/// Attributes as a list of objects. Some write them as one object, which becomes one attribute for each member.
fn take_attributes(members: &mut JsonObject) -> Option<Vec<JsonObject>> {
    let found = take_member(members, "attributes").or_else(|| take_member(members, "traits"))?;
    let list: Vec<JsonObject> = match found {
        Value::Array(items) => {
            let objects = items.into_iter().filter_map(|item| match item {
                Value::Object(attribute) if !attribute.is_empty() => Some(attribute),
                _ => None,
            });
            objects.take(ATTRIBUTES_MAX).collect()
        }
        Value::Object(all) => {
            let single = |(name, value)| JsonObject::from_iter([(name, value)]);
            all.into_iter().map(single).take(ATTRIBUTES_MAX).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    Some(list).filter(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CID: &str = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";

    fn gateways() -> Gateways {
        let url = |text: &str| Url::parse(text).unwrap();
        Gateways { ipfs: vec![url("https://i.example/ipfs/")], arweave: vec![url("https://a.example/")] }
    }

    fn read(body: &str) -> Result<TokenMetadata, MetadataError> {
        token(TokenId::from(7), body.as_bytes(), &gateways())
    }

    #[test]
    fn what_is_known_is_taken() {
        let body = format!(
            r##"{{"name":"Axe","description":"Sharp","image":"ipfs://{CID}/a b.png","animation_url":"https://x.example/a.mp4",
            "external_url":"https://x.example","background_color":"#ff00aa","decimals":2,"image_data":"<svg/>",
            "attributes":[{{"trait_type":"Edge","value":1120}},7,{{}},{{"Rarity":"Rare"}}],"properties":{{"armor":100.10}}}}"##
        );
        let token = read(&body).unwrap();
        assert_eq!(
            (token.name.as_str(), token.description.as_str(), token.decimals),
            ("Axe", "Sharp", Some(2))
        );
        assert_eq!(token.image, format!("https://i.example/ipfs/{CID}/a%20b.png"));
        assert_eq!(
            (token.animation_url.as_str(), token.external_url.as_str()),
            ("https://x.example/a.mp4", "https://x.example")
        );
        assert_eq!((token.background_color.as_str(), token.image_data.as_str()), ("ff00aa", "<svg/>"));
        let json = token.to_json().unwrap();
        assert!(json.contains(r#""properties":{"armor":100.10},"attributes":[{"trait_type":"Edge","value":1120},{"Rarity":"Rare"}]"#), "{json}");
        assert!(json.starts_with(r#"{"tokenId":"7""#));
    }

    #[test]
    fn members_of_the_wrong_type_are_left_out() {
        let token = read(r#"{"name":5,"description":[1],"image":{"a":1},"image_url":"https://x.example/i","attributes":{"Edge":1},"properties":[1],"decimals":256}"#).unwrap();
        assert_eq!((token.name.as_str(), token.description.as_str(), token.decimals), ("5", "", None));
        assert_eq!(token.image, "https://x.example/i");
        assert_eq!(serde_json::to_string(&token.attributes).unwrap(), r#"[{"Edge":1}]"#);
        assert_eq!(token.properties, None);
    }

    #[test]
    fn links_that_do_something_are_left_out() {
        for link in
            ["javascript:alert(1)", "data:text/html,<script>", "file:///etc/passwd", "vbscript:x", "//x", ""]
        {
            let token = read(&serde_json::json!({"external_url": link, "image": link}).to_string()).unwrap();
            assert_eq!((token.external_url.as_str(), token.image.as_str()), ("", ""), "{link}");
        }
        let image = "data:image/svg+xml;base64,PHN2Zy8+";
        assert_eq!(read(&format!(r#"{{"image":"{image}"}}"#)).unwrap().image, image);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for body in ["", " ", "null", "[]", "1", "<html></html>", "{", "{\"a\":}", "\u{1}"] {
            assert_eq!(read(body), Err(MetadataError::NotJson), "{body}");
        }
        let deep = format!("{{\"properties\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&deep), Err(MetadataError::NotJson));
        assert_eq!(token(TokenId::ZERO, b"{\"name\":\"\xff\"}", &gateways()), Err(MetadataError::NotJson));
        assert!(read("\u{feff}{}").is_ok());
    }

    #[test]
    fn what_is_long_is_cut_or_refused() {
        let token = read(&format!(r#"{{"name":"{}"}}"#, "é".repeat(10_000))).unwrap();
        assert_eq!(token.name.len(), NAME_BYTES_MAX);
        let many = format!(r#"{{"attributes":[{}{{}}]}}"#, r#"{"a":1},"#.repeat(50_000));
        assert_eq!(read(&many).unwrap().attributes.unwrap().len(), ATTRIBUTES_MAX);
        let large = format!(r#"{{"properties":{{"a":"{}"}}}}"#, "x".repeat(600_000));
        assert_eq!(read(&large), Err(MetadataError::TooLarge));
    }

    #[test]
    fn contracts_say_less() {
        let text = contract(br#"{"name":"Relics","symbol":"R","image":"https://x.example/l","external_link":"https://x.example"}"#, &gateways());
        let text = text.unwrap();
        assert_eq!((text.name.as_str(), text.symbol.as_str()), ("Relics", "R"));
        assert_eq!((text.image.as_str(), text.link.as_str()), ("https://x.example/l", "https://x.example"));
    }
}
