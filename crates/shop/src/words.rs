//! What pages and the script say, by key, in each language. Texts are in files, one for each language, so that somebody who
//! writes no programs can add one: to this repository, or to a directory of an installation's own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use axum::http::{HeaderMap, header};

/// The languages that come along. The first is spoken where nobody asks for one that is here.
const BUILT_IN: [(&str, &str); 2] =
    [("en", include_str!("languages/en.toml")), ("de", include_str!("languages/de.toml"))];

/// Parts of a browser's list of languages that are looked at.
const ASKED_MAX: usize = 20;
/// What the files of languages are called after the language.
const EXTENSION: &str = "toml";
/// What stands for something that is put in.
const PLACE: &str = "{}";

/// The sections of a file, each with its texts.
type Sections = HashMap<String, HashMap<String, String>>;

/// Why a language of one's own cannot be spoken.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// The directory or a file in it cannot be read.
    #[error("shop.languages: {}: {source}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not called after a language.
    #[error("shop.languages: {}: call it after a language, by the two or three letters that browsers ask for, such as fr.toml", .0.display())]
    Unnamed(PathBuf),
    /// A file is not sections of texts.
    #[error("shop.languages: {}: {source}", .path.display())]
    Malformed {
        /// Which.
        path: PathBuf,
        /// Where, and why.
        source: Box<toml::de::Error>,
    },
    /// A file has a text that nothing says.
    #[error("shop.languages: {}: nothing says `{key}`; en.toml in crates/shop/src/languages has all that is said", .path.display())]
    Unknown {
        /// In which file.
        path: PathBuf,
        /// Its section and key.
        key: String,
    },
    /// A text has another number of places for what is put in than the English one.
    #[error("shop.languages: {}: `{key}` has {found} of {{}} where the English text has {wanted}", .path.display())]
    Places {
        /// In which file.
        path: PathBuf,
        /// Its section and key.
        key: String,
        /// Places that it has.
        found: usize,
        /// Places that it needs.
        wanted: usize,
    },
}

/// The texts of a language.
#[derive(Debug)]
pub(crate) struct Words {
    /// Its tag, such as `en`.
    pub(crate) tag: String,
    texts: HashMap<String, String>,
}

/// The languages of an installation: those that come along, and its own.
#[derive(Clone, Debug)]
pub struct Languages {
    /// Spoken where nobody asks for one that is here.
    first: Arc<Words>,
    others: Vec<Arc<Words>>,
}

impl Default for Languages {
    fn default() -> Self {
        let mut all = BUILT_IN.iter().map(|(tag, text)| Arc::new(Words::built_in(tag, text)));
        let silence = || Arc::new(Words { tag: "en".to_owned(), texts: HashMap::new() });
        Self { first: all.next().unwrap_or_else(silence), others: all.collect() }
    }
}

impl Languages {
    /// Those that come along, with the files of a directory laid over them; none where no directory is named.
    pub fn read(directory: &Path) -> Result<Self, LanguageError> {
        let mut languages = Self::default();
        if directory.as_os_str().is_empty() {
            return Ok(languages);
        }
        let unreadable = |source| LanguageError::Unreadable { path: directory.to_owned(), source };
        let mut paths = Vec::new();
        for entry in fs::read_dir(directory).map_err(unreadable)? {
            paths.push(entry.map_err(unreadable)?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
        // The first language before those that fall back on it, in whatever order the directory tells them.
        paths.sort_by_key(|path| {
            (tag_of(path).as_deref() != Some(languages.first.tag.as_str()), path.clone())
        });
        for path in &paths {
            languages.lay_over(path)?;
        }
        Ok(languages)
    }

    /// Puts the texts of a file in the place of those that are there.
    fn lay_over(&mut self, path: &Path) -> Result<(), LanguageError> {
        let tag = tag_of(path).ok_or_else(|| LanguageError::Unnamed(path.to_owned()))?;
        let unreadable = |source| LanguageError::Unreadable { path: path.to_owned(), source };
        let malformed = |source| LanguageError::Malformed { path: path.to_owned(), source: Box::new(source) };
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let sections: Sections = toml::from_str(&text).map_err(malformed)?;
        let own = flattened(sections);
        self.check(path, &own)?;
        let below = self.of_tag(&tag).unwrap_or_else(|| Arc::clone(&self.first));
        let mut texts = below.texts.clone();
        texts.extend(own);
        let words = Arc::new(Words { tag, texts });
        if words.tag == self.first.tag {
            self.first = words;
        } else {
            self.others.retain(|known| known.tag != words.tag);
            self.others.push(words);
        }
        Ok(())
    }

    /// Whether all that a file says is said somewhere, with as much put in.
    fn check(&self, path: &Path, own: &HashMap<String, String>) -> Result<(), LanguageError> {
        // Of several, the same is named every time.
        let mut keys: Vec<&String> = own.keys().collect();
        keys.sort_unstable();
        for key in keys {
            let Some(english) = self.first.texts.get(key) else {
                return Err(LanguageError::Unknown { path: path.to_owned(), key: key.clone() });
            };
            let places = |text: &str| text.matches(PLACE).count();
            let (found, wanted) = (own.get(key).map_or(0, |text| places(text)), places(english));
            if found != wanted {
                return Err(LanguageError::Places { path: path.to_owned(), key: key.clone(), found, wanted });
            }
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Words>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The language of a tag such as `de` or `de-AT`.
    pub(crate) fn of_tag(&self, tag: &str) -> Option<Arc<Words>> {
        let language = tag.trim().split('-').next().unwrap_or_default();
        self.all().find(|words| words.tag.eq_ignore_ascii_case(language)).cloned()
    }

    /// The first language that a browser asks for and that is here.
    pub(crate) fn of_browser(&self, headers: &HeaderMap) -> Arc<Words> {
        let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|asked| asked.to_str().ok());
        let tags = asked.unwrap_or_default().split(',').take(ASKED_MAX);
        let mut tags = tags.filter_map(|entry| entry.split(';').next());
        tags.find_map(|tag| self.of_tag(tag)).unwrap_or_else(|| Arc::clone(&self.first))
    }
}

/// The language that a file is called after.
fn tag_of(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    let is_tag = (2..=3).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_tag.then(|| name.to_owned())
}

fn flattened(sections: Sections) -> HashMap<String, String> {
    let texts = sections.into_iter().flat_map(|(section, texts)| {
        texts.into_iter().map(move |(key, text)| (format!("{section}.{key}"), text))
    });
    texts.collect()
}

impl Words {
    fn built_in(tag: &str, text: &str) -> Self {
        Self { tag: tag.to_owned(), texts: flattened(toml::from_str(text).unwrap_or_default()) }
    }

    /// What is said here; the key itself where nobody wrote anything.
    pub(crate) fn say<'k>(&'k self, key: &'k str) -> &'k str {
        self.texts.get(key).map_or(key, String::as_str)
    }

    /// The same with something put in the place of `{}`.
    pub(crate) fn say_of(&self, key: &str, what: &str) -> String {
        self.say(key).replace(PLACE, what)
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

    fn asked(text: &str) -> String {
        let headers = HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, text.parse().unwrap())]);
        Languages::default().of_browser(&headers).tag.clone()
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
        let languages = Languages::default();
        let first = keys(&languages.first);
        assert!(first.len() > 50, "{first:?}");
        for words in languages.all() {
            assert_eq!(keys(words), first, "{}", words.tag);
            languages.check(Path::new(&words.tag), &words.texts).unwrap();
        }
    }

    /// The languages of a directory with such files.
    fn of_files(files: &[(&str, &str)]) -> Result<Languages, String> {
        let place = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(place.path().join(name), text).unwrap();
        }
        Languages::read(place.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_of_ones_own_is_laid_over_what_comes_along() {
        let languages = of_files(&[
            ("fr.toml", "[token]\nbuy = \"Acheter\"\nunnamed = \"N° {}\""),
            ("de.toml", "[token]\nbuy = \"Nehmen\""),
            ("en.toml", "[token]\noffer = \"Bid\""),
            ("README.md", "not a language"),
        ]);
        let languages = languages.unwrap();
        let say = |tag: &str, key: &'static str| languages.of_tag(tag).unwrap().say(key).to_owned();
        assert_eq!((say("fr-CA", "token.buy"), say("fr", "token.list")), ("Acheter".into(), "Sell".into()));
        assert_eq!((say("de", "token.buy"), say("de", "token.list")), ("Nehmen".into(), "Verkaufen".into()));
        assert_eq!((say("en", "token.buy"), say("en", "token.offer")), ("Buy".into(), "Bid".into()));
        assert_eq!(
            say("fr", "token.offer"),
            "Bid",
            "one's own words of the first language are fallen back on"
        );
        assert_eq!(languages.of_tag("fr").unwrap().say_of("token.unnamed", "7"), "N° 7");
        assert!(languages.of_tag("it").is_none() && Languages::read(Path::new("")).is_ok());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        for (name, text, said) in [
            ("fr.toml", "[token]\nbye = \"Au revoir\"", "fr.toml: nothing says `token.bye`"),
            ("fr.toml", "[tokens]\nbuy = \"Acheter\"", "nothing says `tokens.buy`"),
            (
                "fr.toml",
                "[token]\nunnamed = \"Sans nom\"",
                "`token.unnamed` has 0 of {} where the English text has 1",
            ),
            ("fr.toml", "[token]\nbuy = \"{}\"", "`token.buy` has 1 of {} where the English text has 0"),
            ("fr.toml", "[token]\nbuy = 7", "fr.toml: TOML parse error at line 2"),
            ("fr.toml", "buy = \"Acheter\"", "fr.toml: TOML parse error at line 1"),
            ("french.toml", "", "french.toml: call it after a language"),
            ("pt-BR.toml", "", "pt-BR.toml: call it after a language"),
        ] {
            let refused = of_files(&[(name, text)]).unwrap_err();
            assert!(refused.starts_with("shop.languages: ") && refused.contains(said), "{refused}");
        }
        let missing = Languages::read(Path::new("/nowhere/languages")).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/languages: "), "{missing}");
        assert!(matches!(missing, LanguageError::Unreadable { .. }));
    }

    #[test]
    fn whatever_the_script_says_is_written_down() {
        let sources = [
            include_str!("script/base.js"),
            include_str!("script/dialog.js"),
            include_str!("script/calls.js"),
            include_str!("script/told.js"),
            include_str!("script/jobs.js"),
            include_str!("script/outcome.js"),
            include_str!("script/live.js"),
            include_str!("script/mint.js"),
            include_str!("script/wallet.js"),
            include_str!("script/trade.js"),
            include_str!("script/acts.js"),
        ];
        let mut said = BTreeSet::new();
        for source in sources {
            for call in ["say(\"", "sayWith(\"", "trouble(\"", "titled(\""] {
                let keys = source.split(call).skip(1).filter_map(|rest| rest.split('"').next());
                said.extend(keys.map(str::to_owned));
            }
        }
        let built = |key: &String| key.starts_with("step_") || key.starts_with("act_");
        said.retain(|key| !built(key));
        let known = Languages::default().first.of_script();
        let known: BTreeSet<String> = known.as_object().unwrap().keys().cloned().collect();
        assert_eq!(said, known.iter().filter(|key| !built(key)).cloned().collect::<BTreeSet<_>>());
        for act in ["buy", "accept", "cancel", "list", "offer", "basket", "checkout", "mint"] {
            assert!(known.contains(&format!("act_{act}")), "{act}");
        }
        for step in [
            "tokenApproval",
            "approveMoney",
            "grantApproval",
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
            // Quotation marks that begin and end no text.
            let source = source.replace("'\"'", "").replace("\\\"", "");
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
        let known: BTreeSet<String> = Languages::default()
            .first
            .texts
            .keys()
            .filter(|key| !key.starts_with("script."))
            .cloned()
            .collect();
        assert_eq!(said, known);
    }
}
