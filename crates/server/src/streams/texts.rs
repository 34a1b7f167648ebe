//! Memory of what is written for one reader alone, until its connection has taken it.

use std::sync::Arc;

use bourse_wire::ProjectId;
use bytes::Bytes;

use crate::shares::{Share, Shares};

/// Texts for one reader each, which all together take so much memory and no more.
pub(super) struct Texts(Arc<Shares<ProjectId>>);

impl Texts {
    /// Room for so many bytes, half of it for one project.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self(Shares::new(bytes_max, bytes_max / 2))
    }

    /// A text, while there is room for it.
    pub(super) fn hold(&self, project: ProjectId, text: Vec<u8>) -> Option<Bytes> {
        if text.is_empty() {
            return Some(Bytes::new());
        }
        let share = self.0.take(project, text.capacity()).ok()?;
        Some(Bytes::from_owner(Held { text, _share: share }))
    }
}

/// A text with its share of the memory.
struct Held {
    text: Vec<u8>,
    _share: Share<ProjectId>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_room_until_nobody_has_it() {
        let texts = Texts::new(8);
        let (one, other) = (1.try_into().unwrap(), 2.try_into().unwrap());
        let held = texts.hold(one, vec![7; 4]).unwrap();
        assert_eq!(held, [7; 4].as_slice());
        assert!(texts.hold(one, vec![7; 1]).is_none() && texts.hold(one, Vec::new()).is_some());
        let beside = texts.hold(other, vec![7; 4]).unwrap();
        let part = held.slice(2..);
        drop(held);
        assert!(texts.hold(one, vec![7; 4]).is_none());
        drop((part, beside));
        assert!(texts.hold(one, vec![7; 4]).is_some());
    }
}
