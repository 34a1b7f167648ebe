//! Paging.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page as asked for. Pages count from 1; 0 or absent is the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PageInput {
    /// Page number, from 1.
    pub page: Option<u64>,
    /// Items per page.
    pub page_size: Option<u64>,
    /// The `after` of an earlier answer; it wins over `page`, so that sending an answer's page back unchanged
    /// moves on.
    pub after: Option<String>,
}

/// A page as answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// Page number, from 1.
    pub page: u64,
    /// Items per page that was applied.
    pub page_size: u64,
    /// Whether further pages exist.
    pub more: bool,
    /// Names the next page; present when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl PageInput {
    /// The page to read: its number and size, both within bounds.
    pub fn resolve(&self, size_default: u64, size_max: u64) -> Result<Page, crate::Error> {
        let page =
            match &self.after {
                Some(after) => after.parse().ok().filter(|page| *page > 0).ok_or_else(|| {
                    crate::Error::invalid("page.after", "not the `after` of an earlier answer")
                })?,
                None => self.page.unwrap_or(1).max(1),
            };
        let page_size = self.page_size.filter(|size| *size > 0).unwrap_or(size_default).min(size_max);
        if page.checked_mul(page_size).is_none_or(|end| end > i64::MAX as u64) {
            return Err(crate::Error::invalid("page.page", "beyond the last possible page"));
        }
        Ok(Page { page, page_size, more: false, after: None })
    }
}

impl Page {
    /// How many items come before this page.
    pub fn offset(&self) -> u64 {
        (self.page - 1) * self.page_size
    }

    /// Cuts items read one beyond the page down to it, and notes whether that one was there.
    pub fn cut<T>(mut self, items: &mut Vec<T>) -> Self {
        self.more = items.len() as u64 > self.page_size;
        items.truncate(usize::try_from(self.page_size).unwrap_or(usize::MAX));
        self.after = self.more.then(|| (self.page + 1).to_string());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_an_answer_back_moves_on() {
        let first = PageInput::default().resolve(2, 10).unwrap();
        let mut items = vec![1, 2, 3];
        let answer = first.cut(&mut items);
        assert_eq!((items.len(), answer.more), (2, true));
        let echoed = PageInput { page: Some(answer.page), page_size: Some(2), after: answer.after };
        let second = echoed.resolve(2, 10).unwrap();
        assert_eq!((second.page, second.offset()), (2, 2));
        assert!(!second.cut(&mut vec![1]).more);
    }

    #[test]
    fn sizes_are_bounded_and_zero_is_the_default() {
        let sized =
            |size| PageInput { page_size: Some(size), ..PageInput::default() }.resolve(30, 100).unwrap();
        assert_eq!((sized(0).page_size, sized(7).page_size, sized(1000).page_size), (30, 7, 100));
        assert!(PageInput { page: Some(u64::MAX), ..PageInput::default() }.resolve(30, 100).is_err());
        assert!(PageInput { after: Some("0".into()), ..PageInput::default() }.resolve(30, 100).is_err());
    }
}
