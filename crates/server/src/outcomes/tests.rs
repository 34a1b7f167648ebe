use super::*;
use crate::router::operations;

fn at(hours: i128) -> Timestamp {
    Timestamp::from_unix_nanos(hours * 3600 * 1_000_000_000)
}

fn project(number: u64) -> ProjectId {
    number.try_into().unwrap()
}

fn refusal(message: &str) -> Error {
    Error::new(Code::NotFound, message)
}

#[test]
fn a_project_sees_its_own_outcomes() {
    let (outcomes, routes) = (Outcomes::new(at(100)), operations());
    outcomes.note_answer(project(1), at(100));
    outcomes.note_error(project(1), FailedRequest::new(at(101), &routes[0], &refusal("a"), "id-1"));
    outcomes.note_error(project(1), FailedRequest::new(at(101), &routes[1], &refusal("b"), "id-2"));
    outcomes.note_error(project(1), FailedRequest::new(at(101), &routes[1], &refusal("c"), "id-3"));
    outcomes.note_answer(project(2), at(101));
    let day = outcomes.of(project(1), at(101)).unwrap();
    assert_eq!((&day.requests[22..], &day.failed[22..]), (&[1, 3][..], &[0, 3][..]));
    assert_eq!(day.first, at(78));
    let kinds: Vec<_> = day.kinds.iter().map(|kind| (kind.operation.0, kind.sum())).collect();
    assert_eq!(kinds, [(routes[1].service, 2), (routes[0].service, 1)]);
    let latest: Vec<_> =
        day.latest.iter().map(|error| (&*error.message, &*error.request_id, error.at)).collect();
    assert_eq!(latest, [("c", "id-3", at(101)), ("b", "id-2", at(101)), ("a", "id-1", at(101))]);
    let other = outcomes.of(project(2), at(101)).unwrap();
    assert!(other.latest.is_empty() && other.kinds.is_empty() && other.requests[23] == 1);
    assert!(outcomes.of(project(3), at(101)).is_none());
    let later = outcomes.of(project(1), at(125)).unwrap();
    assert_eq!((later.requests, later.kinds.len(), later.latest.len()), ([0; HOURS], 0, 3));
}

#[test]
fn nothing_grows_without_end() {
    let (outcomes, routes) = (Outcomes::new(at(0)), operations());
    for round in 0..3 {
        for route in &routes {
            let long = "é".repeat(5_000);
            outcomes
                .note_error(project(1), FailedRequest::new(at(100 + round), route, &refusal(&long), "id"));
        }
    }
    let day = outcomes.of(project(1), at(102)).unwrap();
    assert!(routes.len() > KINDS_MAX);
    assert_eq!((day.kinds.len(), day.latest.len()), (KINDS_MAX, LATEST_MAX));
    assert_eq!(day.latest[0].message.chars().count(), MESSAGE_CHARS_MAX + 1);
    assert_eq!(day.failed.iter().sum::<u64>(), 3 * routes.len() as u64, "all are counted together");
    // A day later there is room for other kinds.
    let last = routes.last().unwrap();
    outcomes.note_error(project(1), FailedRequest::new(at(126), last, &refusal("x"), "id"));
    assert_eq!(outcomes.of(project(1), at(126)).unwrap().kinds[0].operation.1, last.name);
}

#[test]
fn projects_that_came_first_stay_while_they_call() {
    let outcomes = Outcomes::new(at(0));
    let all = PROJECTS_MAX as u64;
    for number in 1..=all {
        outcomes.note_answer(project(number), at(100));
    }
    outcomes.note_answer(project(all + 1), at(101));
    assert!(outcomes.of(project(all + 1), at(101)).is_none(), "there is no room");
    outcomes.note_answer(project(1), at(110));
    outcomes.note_answer(project(all + 1), at(125));
    assert!(outcomes.of(project(all + 1), at(125)).is_some(), "most have been quiet for a day");
    assert!(outcomes.of(project(1), at(125)).is_some());
    assert!(outcomes.of(project(2), at(125)).is_none());
}
