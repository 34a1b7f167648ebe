//! One chart, large, with its numbers.

use axum::extract::RawQuery;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bourse_analytics::Interval;
use bourse_server::Media;
use bourse_wire::Error;
use maud::{Markup, html};

use super::answers::operation;
use super::figures::{FIGURES, Figure, Subject};
use super::range::{INTERVALS, RangeQuery};
use super::{Question, grid_of};
use crate::access::Member;
use crate::chart::{Amount, Detail, Unit};
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice};

pub(super) async fn show(member: Member, RawQuery(query): RawQuery) -> Answer {
    let figure = figure(&member)?;
    let question = Question::read(&member, query.as_deref());
    let asked = &question.asked;
    let content = match &question.wrong {
        Some(error) => Err(error.clone().into()),
        None => content(&member, figure, asked).await,
    };
    match Submission::of(content)? {
        Submission::Accepted(content) => Ok(page(&member, figure, asked, Ok(&content))),
        Submission::Rejected(error) => Ok(page(&member, figure, asked, Err(&error))),
    }
}

/// The chart as a file for spreadsheets.
pub(super) async fn download(member: Member, RawQuery(query): RawQuery) -> Answer {
    let figure = figure(&member)?;
    let Question { asked, wrong, .. } = Question::read(&member, query.as_deref());
    if let Some(error) = wrong {
        return Err(error.into());
    }
    let body = asked.body(figure.interval(asked.by), figure.unit() == Unit::Count);
    let table = member.ask_for(&operation(figure), body.to_string().into(), Media::Csv).await?;
    // The operation has taken the dates, so there is nothing in the name but letters, digits and dashes.
    let disposition = format!("attachment; filename=\"{}\"", asked.file_name(figure.operation));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::try_from(disposition).map_err(|error| Refusal::Internal(error.into()))?,
        ),
    ];
    Ok((headers, table).into_response())
}

fn figure(member: &Member) -> Result<&'static Figure, Refusal> {
    Figure::of(member.name("chart")).ok_or_else(|| Refusal::missing("chart"))
}

/// What a page shows of a chart.
struct Content {
    picture: Markup,
    /// Its numbers, where the picture does not tell them.
    table: Option<Markup>,
}

fn page(member: &Member, figure: &Figure, asked: &RangeQuery, content: Result<&Content, &Error>) -> Response {
    let path = member.path(&format!("/analytics/{}", figure.operation));
    let title = figure.title(asked.by);
    let by = INTERVALS.iter().find(|(known, _, _)| Some(*known) == asked.by).map(|(_, word, _)| *word);
    let kept = by.map(|word| [("by", word)]);
    let keep = kept.as_ref().map_or(&[][..], |kept| &kept[..]);
    let body = html! {
        p.back { a href={ (member.path("/analytics")) (asked.query(&[])) } { "Analytics" } }
        h1 id="chart" { (title) }
        p { (figure.summary) }
        @if let Err(error) = content { (notice::refused(error)) }
        (asked.chooser(&path, keep))
        (others(member, figure, asked))
        @if let Ok(content) = content {
            (content.picture)
            p.buttons { a.button href={ (path) "/csv" (asked.query(keep)) } { "Download CSV" } }
            @if let Some(table) = &content.table { (table) }
            p.hint { "The operation is " code { (operation(figure)) } ": the API answers with the same numbers." }
        }
    };
    let page = member.page(Section::Analytics, &title, &body);
    if content.is_ok() { page } else { (StatusCode::UNPROCESSABLE_ENTITY, page).into_response() }
}

/// The same thing in other periods: what the chart itself can be asked for, and other charts.
fn others(member: &Member, figure: &Figure, asked: &RangeQuery) -> Markup {
    let siblings = FIGURES.iter().filter(|other| {
        other.name() == figure.name() && other.operation != figure.operation && !is_twin(other, figure)
    });
    let siblings: Vec<&Figure> = siblings.collect();
    let path = |figure: &Figure| member.path(&format!("/analytics/{}", figure.operation));
    html! {
        @if figure.lets_itself_be_regrouped() {
            nav.choices aria-label="Periods" {
                @for (interval, word, name) in INTERVALS {
                    @let is_shown = figure.interval(asked.by) == Some(interval);
                    a href={ (path(figure)) (asked.query(&[("by", word)])) } aria-current=[is_shown.then_some("true")] { "by " (name) }
                }
            }
        } @else if !siblings.is_empty() {
            nav.choices aria-label="The same in other periods" {
                @for other in siblings { a href={ (path(other)) (asked.query(&[])) } { (period(other)) } }
            }
        }
    }
}

fn is_twin(one: &Figure, other: &Figure) -> bool {
    one.subject == other.subject && one.interval(None) == other.interval(None)
}

fn period(figure: &Figure) -> &'static str {
    match figure.interval(None) {
        None => "in the whole range",
        Some(Interval::Day) => "by day",
        Some(Interval::Week) => "by week",
        Some(Interval::Month) => "by month",
    }
}

async fn content(member: &Member, figure: &Figure, asked: &RangeQuery) -> Result<Content, Refusal> {
    if figure.subject == Subject::Grid {
        return Ok(Content { picture: grid_of(member, figure, asked).await?, table: None });
    }
    let Some(interval) = figure.interval(asked.by) else {
        let amount = member.total(figure, asked).await?;
        let exact = amount.and_then(Amount::exact);
        let picture = html! {
            p.figure { (Amount::text_or_dash(amount)) }
            @if let Some(exact) = exact { p.hint { "Exactly " (exact) } }
        };
        return Ok(Content { picture, table: None });
    };
    let plot = member.plot(figure, interval, asked).await?;
    let picture = html! {
        @if plot.is_empty() { p.empty { "Nothing in these days. Choose others above." } }
        @else { (plot.figure("chart", Detail::Page)) }
        @if interval != Interval::Day {
            p.hint { "A period at the edge of the range has only the days that were asked for." }
        }
    };
    let caption = format!("{}, the newest first", figure.title(asked.by));
    Ok(Content { picture, table: Some(plot.table(&caption)) })
}
