//! What a page says first: that something was done, or why not.

use bourse_wire::Error;
use maud::{Markup, html};

use super::form::Form;

/// Something that was done just before, told by the address of the page that the browser was sent on to. Only these
/// can be told that way: no link makes the console say what somebody else wants it to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Added,
    Changed,
    Created,
    Removed,
    Renamed,
    Sent,
    InviteRevoked,
    KeyDisabled,
    TokenRevoked,
    Unpublished,
    Uploaded,
    PasswordChanged,
    SecondFactorOff,
    Joined,
    Published,
    Queued,
    Unfollowed,
}

impl Done {
    const ALL: [(Self, &'static str, &'static str); 17] = [
        (Self::Added, "added", "Added."),
        (Self::Changed, "changed", "Your changes are saved."),
        (Self::Created, "created", "Created."),
        (Self::Removed, "removed", "Removed."),
        (Self::Renamed, "renamed", "Renamed."),
        (Self::Sent, "sent", "It was sent, and arrived."),
        (Self::InviteRevoked, "invite-revoked", "The invitation is revoked. Its link works no longer."),
        (Self::KeyDisabled, "key-disabled", "The key is disabled. Requests with it are refused from now on."),
        (
            Self::TokenRevoked,
            "token-revoked",
            "The token is revoked. Requests with it are refused from now on.",
        ),
        (Self::PasswordChanged, "password", "Your password is changed, and all other sessions have ended."),
        (
            Self::SecondFactorOff,
            "second-factor-off",
            "The second factor is off: your password alone lets you in.",
        ),
        (Self::Joined, "joined", "Welcome: you have joined."),
        (Self::Published, "published", "Published: everybody can read it at its public addresses."),
        (Self::Unpublished, "unpublished", "Private again: its public addresses answer no longer."),
        (Self::Uploaded, "uploaded", "The file is here."),
        (Self::Queued, "queued", "Asked for. It is fetched in the background; look again in a moment."),
        (
            Self::Unfollowed,
            "unfollowed",
            "No longer followed. Whatever is shown stays as it is, unless somebody else follows it.",
        ),
    ];

    fn entry(self) -> (&'static str, &'static str) {
        let found = Self::ALL.iter().find(|(done, _, _)| *done == self);
        found.map_or(("", ""), |(_, word, sentence)| (word, sentence))
    }

    /// The address with this told.
    pub(crate) fn at(self, path: &str) -> String {
        format!("{path}?done={}", self.entry().0)
    }

    pub(crate) fn in_query(query: &str) -> Option<Self> {
        let query = Form::of_query(query);
        let told = query.text("done");
        Self::ALL.iter().find(|(_, word, _)| *word == told).map(|(done, _, _)| *done)
    }

    pub(crate) fn markup(self) -> Markup {
        html! { p.notice.done role="status" { (self.entry().1) } }
    }
}

/// Why what was entered was not taken.
pub(crate) fn refused(error: &Error) -> Markup {
    html! { p.notice.refused role="alert" { (error) @if let Some(cause) = &error.cause { ": " (cause) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_are_told() {
        for (done, word, sentence) in Done::ALL {
            assert_eq!(Done::in_query(&format!("a=b&done={word}")), Some(done));
            assert_eq!(done.at("/x"), format!("/x?done={word}"));
            assert!(done.markup().into_string().contains(sentence));
        }
        assert_eq!(Done::in_query("done=<b>"), None);
    }
}
