//! What is left to be told behind a cursor.

use bourse_store::{Happened, Happening, Mark, Sent, Since, StoreError, WebhookLine};
use bourse_wire::EventFilter;

use crate::app::App;
use crate::event_log::is_wanted;

/// Activities that are read in one go.
pub(super) const ACTIVITIES_MAX: u64 = 50;

/// Something that happened, and how much is delivered once it is.
pub(super) struct Step {
    pub(super) what: Happened,
    pub(super) after: Sent,
}

/// What is new behind a cursor.
pub(super) struct Unsent {
    pub(super) steps: Vec<Step>,
    /// How much is delivered once all of it is.
    pub(super) end: Sent,
    pub(super) mark: Mark,
    pub(super) more: bool,
}

impl Unsent {
    pub(super) async fn read(
        app: &App,
        filters: &EventFilter,
        line: &WebhookLine,
    ) -> Result<Self, StoreError> {
        let (id, sent) = (line.key.collection, line.sent);
        let since = Since { place: sent.place, unconfirmed: true, ..Since::default() };
        let news = app.store.news(id, since, ACTIVITIES_MAX).await?;
        // A database that was set back has less than was told, and what was taken back may be forgotten.
        let Some(news) = news.filter(|news| news.place >= sent.place) else {
            let (mark, place) = app.store.news_end(id).await?;
            let end = Sent { place, told: 0 };
            return Ok(Self {
                steps: vec![Step { what: Happened::Anew, after: end }],
                end,
                mark,
                more: false,
            });
        };
        let end = Sent { place: news.place, told: 0 };
        Ok(Self { steps: steps(news.happened, sent, filters), end, mark: news.mark, more: news.more })
    }
}

/// What is left of what happened behind a cursor. Of what was taken back together only the last is behind all of it: of the others
/// it is counted how many were delivered. Of what was taken back that is behind the cursor, the first that is wanted may have
/// arrived, where nobody heard of it; of those after it nothing was sent.
fn steps(happened: Vec<Happening>, sent: Sent, filters: &EventFilter) -> Vec<Step> {
    let mut after = Sent { place: sent.place, told: 0 };
    let mut unconfirmed_of = None;
    let mut steps = Vec::new();
    for Happening { place, resume, what } in happened {
        let is_last = resume == place;
        let before = if is_last { after.place } else { resume };
        let is_next = after.place == resume && after.told > 0;
        let told = match (is_last, is_next) {
            (true, _) => 0,
            (false, true) => after.told + 1,
            (false, false) => after.begun().told + 1,
        };
        after = Sent { place: resume, told };
        if matches!(&what, Happened::Removed(activity) if activity.id > before.activity) {
            if unconfirmed_of == Some(place.retractions) || !is_wanted(filters, &what) {
                continue;
            }
            unconfirmed_of = Some(place.retractions);
        }
        if after.place != sent.place || after.told > sent.told {
            steps.push(Step { what, after });
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use bourse_store::testing::happened;
    use bourse_store::{Activity, Place};
    use bourse_wire::ActivityAction;

    use super::*;

    fn place(retractions: u64, activity: u64) -> Place {
        Place { retractions, activity }
    }

    fn sent(place: Place, told: u64) -> Sent {
        Sent { place, told }
    }

    /// An activity of the token that has its number.
    fn activity(id: u64) -> Activity {
        Activity { id, facts: happened(ActivityAction::Transfer, id, "") }
    }

    /// That these are taken back together: what is told of it, behind a place.
    fn removed(before: Place, after: Place, numbers: &[u64]) -> Vec<Happening> {
        let removed = |id: &u64| {
            let resume = if Some(id) == numbers.last() { after } else { before };
            Happening { place: after, resume, what: Happened::Removed(activity(*id)) }
        };
        numbers.iter().map(removed).collect()
    }

    fn left(happened: &[Happening], sent: Sent, filters: &EventFilter) -> Vec<(u64, Sent)> {
        let number = |step: Step| match step.what {
            Happened::Added(activity) | Happened::Removed(activity) => (activity.id, step.after),
            Happened::Anew => (0, step.after),
        };
        steps(happened.to_vec(), sent, filters).into_iter().map(number).collect()
    }

    #[test]
    fn what_is_taken_back_together_is_counted() {
        let (before, after, next) = (place(0, 6), place(1, 3), place(1, 4));
        let mut happened = removed(before, after, &[4, 5, 6]);
        happened.push(Happening { place: next, resume: next, what: Happened::Added(activity(4)) });
        let whole = [(4, sent(before, 2)), (5, sent(before, 3)), (6, sent(after, 0)), (4, sent(next, 0))];
        let left = |told| left(&happened, sent(before, told), &EventFilter::default());
        assert_eq!(left(0), whole);
        // Begun, and nothing told.
        assert_eq!(left(1), whole);
        assert_eq!(left(2), whole[1..]);
        assert_eq!(left(3), whole[2..]);
    }

    #[test]
    fn what_was_taken_back_behind_something_else_has_one_name_whenever_it_is_told() {
        // Of what was taken back first nothing is told; what was taken back then failed in its middle.
        let (cursor, between, after) = (place(0, 6), place(1, 6), place(2, 3));
        let happened = removed(between, after, &[4, 5, 6]);
        let whole = [(4, sent(between, 2)), (5, sent(between, 3)), (6, sent(after, 0))];
        let all = EventFilter::default();
        assert_eq!(left(&happened, sent(cursor, 0), &all), whole);
        assert_eq!(left(&happened, whole[0].1, &all), whole[1..]);
        assert_eq!(left(&happened, whole[1].1, &all), whole[2..]);
    }

    #[test]
    fn of_what_was_taken_back_behind_the_cursor_only_what_may_have_arrived_is_told() {
        let (cursor, first, second) = (place(0, 6), place(1, 5), place(2, 5));
        let mut happened = removed(cursor, first, &[6, 7, 8, 9]);
        happened.extend(removed(first, second, &[6, 7]));
        let all = EventFilter::default();
        let whole = [(6, sent(cursor, 2)), (7, sent(cursor, 3)), (6, sent(first, 2))];
        assert_eq!(left(&happened, sent(cursor, 0), &all), whole);
        // Who goes on behind it is not told of the next.
        assert_eq!(left(&happened, whole[1].1, &all), whole[2..]);
        // What nobody wants was not sent.
        let filters = EventFilter { token_ids: vec![8.into()], ..EventFilter::default() };
        let wanted = [(6, sent(cursor, 2)), (8, sent(cursor, 4))];
        assert_eq!(left(&happened, sent(cursor, 0), &filters), wanted);
    }
}
