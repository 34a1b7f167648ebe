//! The links of pictures that pages have just named. A page of many tokens is followed by a request for each of their
//! pictures, and what these are was found for the page already.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bourse_wire::Timestamp;

/// How long a link is believed: as long as somebody may look through a page that names it.
const BELIEVED_NANOS: i128 = 600 * 1_000_000_000;
/// What is kept at most, in bytes (16 MiB). Then all of it goes: the next pages find it again.
const BYTES_MAX: usize = 16 << 20;

/// Links by the path of their picture.
#[derive(Default)]
pub(crate) struct Links(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    links: HashMap<String, (Timestamp, String)>,
    bytes: usize,
}

impl Links {
    /// Notes what a page has named.
    pub(crate) fn note(&self, path: &str, link: &str, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = path.len() + link.len();
        if kept.bytes + bytes > BYTES_MAX {
            *kept = Kept::default();
        }
        if bytes <= BYTES_MAX {
            let before = kept.links.insert(path.to_owned(), (now, link.to_owned()));
            let freed = before.map_or(0, |(_, before)| path.len() + before.len());
            kept.bytes = (kept.bytes + bytes).saturating_sub(freed);
        }
    }

    /// The link of a picture, if a page has named it a moment ago.
    pub(crate) fn find(&self, path: &str, now: Timestamp) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (noted_at, link) = kept.links.get(path)?;
        let age = now.unix_nanos() - noted_at.unix_nanos();
        (0..BELIEVED_NANOS).contains(&age).then(|| link.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_believed_for_a_while_and_take_so_much() {
        let at = |seconds: i128| Timestamp::from_unix_nanos(seconds * 1_000_000_000);
        let links = Links::default();
        links.note("/a", "https://a.example", at(0));
        assert_eq!(links.find("/a", at(599)).as_deref(), Some("https://a.example"));
        assert_eq!((links.find("/a", at(600)), links.find("/b", at(0))), (None, None));
        links.note("/a", "https://b.example", at(1));
        assert_eq!(links.find("/a", at(2)).as_deref(), Some("https://b.example"));
        assert_eq!(links.0.lock().unwrap().bytes, 19);
        let large = "x".repeat(BYTES_MAX - 10);
        links.note("/c", &large, at(2));
        assert_eq!((links.find("/a", at(2)), links.find("/c", at(2))), (None, Some(large)));
        links.note("/d", &"x".repeat(BYTES_MAX), at(2));
        assert_eq!(links.find("/d", at(2)), None);
    }
}
