//! What pages and the script say, by key, in each language. Texts are in files, one for each language, so that somebody who
//! writes no programs can add one.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, header};

/// The languages that come along. The first is spoken where nobody asks for one that is here.
const BUILT_IN: [(&str, &str); 2] =
    [("en", include_str!("languages/en.toml")), ("de", include_str!("languages/de.toml"))];

/// Parts of a browser's list of languages that are looked at.
const ASKED_MAX: usize = 20;

/// The texts of a language.
#[derive(Debug)]
pub(crate) struct Words {
    /// Its tag, such as `en`.
    pub(crate) tag: &'static str,
    texts: HashMap<String, String>,
}

static LANGUAGES: LazyLock<Vec<Words>> =
    LazyLock::new(|| BUILT_IN.iter().map(|(tag, text)| Words::read(tag, text)).collect());

/// Spoken where there is no language at all, which no test lets happen.
static SILENCE: LazyLock<Words> = LazyLock::new(|| Words { tag: "en", texts: HashMap::new() });

impl Words {
    fn read(tag: &'static str, text: &str) -> Self {
        let sections: HashMap<String, HashMap<String, String>> = toml::from_str(text).unwrap_or_default();
        let texts = sections.into_iter().flat_map(|(section, texts)| {
            texts.into_iter().map(move |(key, text)| (format!("{section}.{key}"), text))
        });
        Self { tag, texts: texts.collect() }
    }

    fn first() -> &'static Self {
        LANGUAGES.first().unwrap_or(&SILENCE)
    }

    /// The language of a tag such as `de` or `de-AT`.
    pub(crate) fn of_tag(tag: &str) -> Option<&'static Self> {
        let language = tag.trim().split('-').next().unwrap_or_default();
        LANGUAGES.iter().find(|words| words.tag.eq_ignore_ascii_case(language))
    }

    /// The first language that a browser asks for and that is here.
    pub(crate) fn of_browser(headers: &HeaderMap) -> &'static Self {
        let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|asked| asked.to_str().ok());
        let tags = asked.unwrap_or_default().split(',').take(ASKED_MAX);
        let mut tags = tags.filter_map(|entry| entry.split(';').next());
        tags.find_map(Self::of_tag).unwrap_or_else(Self::first)
    }

    /// What is said here; the key itself where nobody wrote anything.
    pub(crate) fn say<'k>(&'k self, key: &'k str) -> &'k str {
        self.texts.get(key).map_or(key, String::as_str)
    }

    /// The same with something put in the place of `{}`.
    pub(crate) fn say_of(&self, key: &str, what: &str) -> String {
        self.say(key).replace("{}", what)
    }

    /// What the script says, by key.
    pub(crate) fn of_script(&self) -> serde_json::Value {
        let mut texts: Vec<(&str, &str)> = self
            .texts
            .iter()
            .filter_map(|(key, text)| Some((key.strip_prefix("script.")?, text.as_str())))
            .collect();
        texts.sort_unstable();
        texts
            .into_iter()
            .map(|(key, text)| (key.to_owned(), text.into()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn asked(text: &str) -> &'static str {
        let headers = HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, text.parse().unwrap())]);
        Words::of_browser(&headers).tag
    }

    #[test]
    fn a_browser_is_answered_in_a_language_that_it_asks_for() {
        for (text, tag) in [
            ("de-AT,de;q=0.9,en;q=0.8", "de"),
            ("fr, DE;q=0.5", "de"),
            ("fr", "en"),
            ("", "en"),
            (",;;,-", "en"),
        ] {
            assert_eq!(asked(text), tag, "{text}");
        }
    }

    #[test]
    fn every_language_says_everything() {
        let keys = |words: &Words| words.texts.keys().cloned().collect::<BTreeSet<_>>();
        let first = keys(Words::first());
        assert!(first.len() > 50, "{first:?}");
        for words in LANGUAGES.iter() {
            assert_eq!(keys(words), first, "{}", words.tag);
            for (key, text) in &words.texts {
                let places = |words: &Words| words.say(key).matches("{}").count();
                assert_eq!(places(words), places(Words::first()), "{key}: {text}");
            }
        }
    }

    #[test]
    fn whatever_the_script_says_is_written_down() {
        let sources = [
            include_str!("script/base.js"),
            include_str!("script/dialog.js"),
            include_str!("script/live.js"),
            include_str!("script/mint.js"),
            include_str!("script/wallet.js"),
            include_str!("script/trade.js"),
            include_str!("script/acts.js"),
        ];
        let mut said = BTreeSet::new();
        for source in sources {
            for call in ["say(\"", "trouble(\"", "titled(\""] {
                let keys = source.split(call).skip(1).filter_map(|rest| rest.split('"').next());
                said.extend(keys.map(str::to_owned));
            }
        }
        let built = |key: &String| key.starts_with("step_") || key.starts_with("act_");
        said.retain(|key| !built(key));
        let known = Words::first().of_script();
        let known: BTreeSet<String> = known.as_object().unwrap().keys().cloned().collect();
        assert_eq!(said, known.iter().filter(|key| !built(key)).cloned().collect::<BTreeSet<_>>());
        for act in ["buy", "accept", "cancel", "list", "offer", "basket", "checkout", "mint"] {
            assert!(known.contains(&format!("act_{act}")), "{act}");
        }
        for step in [
            "tokenApproval",
            "mint",
            "buy",
            "sell",
            "createListing",
            "createOffer",
            "cancel",
            "signEIP712",
            "signEIP191",
        ] {
            assert!(known.contains(&format!("step_{step}")), "{step}");
        }
    }

    #[test]
    fn whatever_is_said_is_written_down() {
        let sources = [
            include_str!("page.rs"),
            include_str!("refusal.rs"),
            include_str!("pages/home.rs"),
            include_str!("pages/collection.rs"),
            include_str!("pages/filters.rs"),
            include_str!("pages/token.rs"),
            include_str!("pages/account.rs"),
            include_str!("pages/basket.rs"),
            include_str!("pages/sale.rs"),
            include_str!("pages/parts.rs"),
            include_str!("pages/shops.rs"),
        ];
        let mut said = BTreeSet::new();
        for source in sources {
            // Keys are texts of two lower-case words with a dot between, and nothing else here is.
            for text in source.split('"').skip(1).step_by(2) {
                let is_word = |word: &str| {
                    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                };
                if let Some((section, key)) = text.split_once('.')
                    && is_word(section)
                    && is_word(key)
                {
                    said.insert(text.to_owned());
                }
            }
        }
        let known: BTreeSet<String> =
            Words::first().texts.keys().filter(|key| !key.starts_with("script.")).cloned().collect();
        assert_eq!(said, known);
    }
}
