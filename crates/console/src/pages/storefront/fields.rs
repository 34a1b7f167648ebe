//! Fields of a form, with what was typed in the place of what is known.

use std::str::FromStr;

use bourse_wire::Error;
use maud::{Markup, html};

use crate::form::Form;

/// What the fields of a form show.
#[derive(Default)]
pub(super) struct Fields<'f>(Option<&'f Form>);

impl<'f> Fields<'f> {
    /// What somebody typed that was not taken.
    pub(super) fn typed(form: &'f Form) -> Self {
        Self(Some(form))
    }

    fn value<'v>(&'v self, name: &str, known: &'v str) -> &'v str {
        self.0.map_or(known, |form| form.text(name))
    }

    /// One line.
    pub(super) fn line(&self, label: &str, name: &str, known: &str) -> Markup {
        html! { label { (label) input name=(name) value=(self.value(name, known)); } }
    }

    /// Several lines.
    pub(super) fn lines(&self, label: &str, name: &str, known: &str) -> Markup {
        html! { label { (label) textarea name=(name) rows="3" { (self.value(name, known)) } } }
    }

    /// A box to tick.
    pub(super) fn tick(&self, label: &str, name: &str, known: bool) -> Markup {
        let ticked = self.0.map_or(known, |form| form.is_set(name));
        html! { label.box { input type="checkbox" name=(name) value="yes" checked[ticked]; (label) } }
    }

    /// One of some words.
    pub(super) fn choice(&self, label: &str, name: &str, words: &[&str], known: &str) -> Markup {
        let chosen = self.value(name, known);
        html! {
            label {
                (label)
                select name=(name) { @for word in words { option value=(word) selected[*word == chosen] { (word) } } }
            }
        }
    }
}

/// Reads every line of a field.
pub(super) fn read_lines<T: FromStr<Err: std::fmt::Display>>(
    form: &Form,
    name: &'static str,
) -> Result<Vec<T>, Error> {
    let read =
        |line: String| line.parse().map_err(|error| Error::invalid(name, format!("{line:.100}: {error}")));
    form.lines(name).into_iter().map(read).collect()
}

/// What is in a list, one a line.
pub(super) fn one_a_line<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join("\n")
}
