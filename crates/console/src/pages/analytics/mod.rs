//! A project's charts.

mod answers;
mod chart_page;
mod figures;
mod range;
mod start;

use std::sync::Arc;

use axum::Router;
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bourse_analytics::{Interval, Measure};
use bourse_wire::{Day, Error};
use maud::{Markup, html};

use crate::Console;
use crate::access::Member;
use crate::chart::{Amount, Detail, Plot, Unit, grid};
use crate::form::Form;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice};
use figures::{FIGURES, Figure, Subject, Topic};
use range::RangeQuery;

/// Cohorts that the grid shows at once.
const COHORTS_MAX: usize = 60;

/// The days of retention that are shown at a glance: many lines are hard to tell apart.
const GLANCE_RETENTION: [i32; 2] = [1, 7];

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/analytics", get(show))
        .route("/analytics/{chart}", get(chart_page::show))
        .route("/analytics/{chart}/csv", get(chart_page::download))
}

/// What an address says: which days, and what else.
struct Question {
    asked: RangeQuery,
    query: Form,
    /// What cannot be read of it. The usual days are meant then.
    wrong: Option<Error>,
}

impl Question {
    fn read(member: &Member, query: Option<&str>) -> Self {
        let query = Form::of_query(query.unwrap_or_default());
        let today = Day::of(member.console().now());
        match RangeQuery::read(&query, today) {
            Ok(asked) => Self { asked, query, wrong: None },
            Err(error) => Self { asked: RangeQuery::usual(today), query, wrong: Some(error) },
        }
    }
}

async fn show(member: Member, RawQuery(query): RawQuery) -> Answer {
    let question = Question::read(&member, query.as_deref());
    let content = match &question.wrong {
        Some(error) => Err(error.clone().into()),
        None => content(&member, &question).await,
    };
    match Submission::of(content)? {
        Submission::Accepted(content) => Ok(page(&member, &question, Ok(&content))),
        Submission::Rejected(error) => Ok(page(&member, &question, Err(&error))),
    }
}

fn page(member: &Member, question: &Question, content: Result<&Markup, &Error>) -> Response {
    let (path, about) = (member.path("/analytics"), question.query.text("about"));
    let keep: &[(&str, &str)] = if about.is_empty() { &[] } else { &[("about", about)] };
    let topics =
        [("", "Overview")].into_iter().chain(Topic::ALL.iter().map(|(_, word, name)| (*word, *name)));
    let body = html! {
        h1 { "Analytics" }
        @if let Err(error) = content { (notice::refused(error)) }
        nav.choices.topics aria-label="Topics" {
            @for (word, name) in topics {
                @let more = [("about", word)];
                @let more = if word.is_empty() { &more[..0] } else { &more[..] };
                a href={ (path) (question.asked.query(more)) } aria-current=[(word == about).then_some("page")] { (name) }
            }
        }
        (question.asked.chooser(&path, keep))
        @if let Ok(content) = content { (content) }
    };
    let page = member.page(Section::Analytics, "Analytics", &body);
    if content.is_ok() { page } else { (StatusCode::UNPROCESSABLE_ENTITY, page).into_response() }
}

async fn content(member: &Member, question: &Question) -> Result<Markup, Refusal> {
    let (asked, word) = (&question.asked, question.query.text("about"));
    let topic = match Topic::of(word) {
        None if !word.is_empty() => return Err(Refusal::missing("page")),
        topic => topic,
    };
    let topics = Topic::ALL.into_iter().map(|(known, _, _)| known);
    let mut topics: Vec<Topic> = topics.filter(|known| topic.is_none_or(|topic| topic == *known)).collect();
    // Whoever has no events yet is told how to send some; what the service meters is there all the same.
    let lacks_events = topics != [Topic::Compute] && !has_events(member, asked.today).await?;
    if lacks_events {
        // The range must be one even if there is nothing to ask.
        member.total(figure_of_compute()?, asked).await?;
        topics.retain(|topic| *topic == Topic::Compute);
    }
    let mut tiles = Vec::new();
    for figure in
        topics.iter().flat_map(|topic| Figure::about(*topic)).filter(|figure| figure.interval(None).is_none())
    {
        tiles.push(tile(member, figure, asked).await?);
    }
    let mut cards = Vec::new();
    for known in &topics {
        cards.extend(cards_about(member, *known, topic.is_none(), asked).await?);
    }
    Ok(html! {
        @if lacks_events { (start::no_events(member)) }
        @if !tiles.is_empty() { dl.tiles { @for tile in &tiles { (tile) } } }
        div.charts { @for card in &cards { (card) } }
    })
}

/// Whether the project ever counted an event, as far back as charts go.
async fn has_events(member: &Member, today: Day) -> Result<bool, Refusal> {
    let of_all = |figure: &&Figure| figure.operation == bourse_analytics::Chart::WalletsTotal.name();
    let figure = FIGURES.iter().find(of_all).ok_or_else(|| Refusal::missing("chart"))?;
    let wallets = member.total(figure, &RangeQuery::everything(today)).await?;
    Ok(wallets.is_some_and(|wallets| wallets != Amount::Count(0)))
}

fn figure_of_compute() -> Result<&'static Figure, Refusal> {
    let found = FIGURES.iter().find(|figure| figure.subject == Subject::ComputeTogether);
    found.ok_or_else(|| Refusal::missing("chart"))
}

/// What a project used of each service, by day.
pub(super) async fn compute_by_day(member: &Member, first: Day, today: Day) -> Result<Plot, Refusal> {
    let figure = FIGURES.iter().find(|figure| figure.subject == Subject::Compute);
    let figure = figure.ok_or_else(|| Refusal::missing("chart"))?;
    member.plot(figure, Interval::Day, &RangeQuery::between(first, today, today)).await
}

/// One number.
async fn tile(member: &Member, figure: &Figure, asked: &RangeQuery) -> Result<Markup, Refusal> {
    let amount = member.total(figure, asked).await?;
    let path = member.path(&format!("/analytics/{}", figure.operation));
    Ok(html! {
        div {
            dt { a href={ (path) (asked.query(&[])) } title=(figure.summary) { (figure.name()) } }
            dd title=[amount.and_then(Amount::exact)] { (Amount::text_or_dash(amount)) }
        }
    })
}

/// The charts of a topic; at a glance, those that count something by day, and of each thing one.
async fn cards_about(
    member: &Member,
    topic: Topic,
    at_a_glance: bool,
    asked: &RangeQuery,
) -> Result<Vec<Markup>, Refusal> {
    let mut cards: Vec<Markup> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    let (mut cohorts, mut grids) = (Vec::new(), Vec::new());
    for figure in Figure::about(topic) {
        let Some(interval) = figure.interval(None) else { continue };
        match figure.subject {
            Subject::Counted(Measure::Retention(days)) => {
                if !at_a_glance || GLANCE_RETENTION.contains(&days) {
                    cohorts.push(figure);
                }
            }
            Subject::Grid => grids.push(figure),
            Subject::Counted(_) | Subject::Compute | Subject::ComputeTogether => {
                let counts_days = interval == Interval::Day && figure.unit() == Unit::Count;
                if at_a_glance && (!counts_days || named.contains(&figure.name())) {
                    continue;
                }
                named.push(figure.name());
                let plot = member.plot(figure, interval, asked).await?;
                cards.push(card(member, figure, &figure.title(None), &plot, asked));
            }
        }
    }
    if let Some(first) = cohorts.first() {
        let plot = member.plot_together(&cohorts, Interval::Day, asked).await?;
        let card = card(member, first, "Retention by cohort", &plot, asked);
        cards.push(if at_a_glance {
            card
        } else {
            html! { div.wide { (card) } }
        });
    }
    if !at_a_glance {
        for figure in grids {
            let shown = grid_of(member, figure, asked).await?;
            cards.push(html! { section.card.wide { h2 { (figure.name()) } (shown) } });
        }
    }
    Ok(cards)
}

fn card(member: &Member, figure: &Figure, title: &str, plot: &Plot, asked: &RangeQuery) -> Markup {
    let path = member.path(&format!("/analytics/{}", figure.operation));
    let id = format!("chart-{}", figure.operation);
    html! {
        section.card {
            h2 id=(id) { a href={ (path) (asked.query(&[])) } { (title) } }
            @if plot.is_empty() { p.soft.none { "Nothing in these days." } }
            @else { (plot.figure(&id, Detail::Card)) }
        }
    }
}

/// The grid of retention, as much of it as a page has room for.
async fn grid_of(member: &Member, figure: &Figure, asked: &RangeQuery) -> Result<Markup, Refusal> {
    let cohorts = member.cohorts(figure, asked).await?;
    let hidden = cohorts.len().saturating_sub(COHORTS_MAX);
    let earlier = cohorts.get(..hidden).and_then(<[_]>::last).and_then(|last| last.label.parse::<Day>().ok());
    let earlier = match earlier {
        Some(last) => Some(RangeQuery::between(asked.days()?.first(), last, asked.today)),
        None => None,
    };
    let path = member.path(&format!("/analytics/{}", figure.operation));
    Ok(html! {
        @if cohorts.is_empty() { p.soft.none { "Nobody was new on these days." } }
        @else {
            (grid(
                &cohorts[hidden..],
                "Of the wallets that were new on a day, how many per cent were active so many days later. Days that are not over \
                have no number.",
            ))
        }
        @if let Some(earlier) = earlier {
            p.hint { (hidden) " earlier days are left out here. " a href={ (path) (earlier.query(&[])) } { "Show them" } "." }
        }
    })
}
