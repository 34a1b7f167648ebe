//! Calls that reach the database, on several databases in turns: how many a second each takes, and what share that is of what
//! the one before it takes.

mod kinds;
mod place;

use std::path::Path;

use crate::error::Error;
use crate::options::Options;
use crate::report::{CallReport, CallsReport, PlaceFigures};
use kinds::KINDS;
use place::Place;

/// Measures on all databases that the options name, each of which is empty.
pub(crate) async fn measure(options: &Options, bourse: &Path, parent: &Path) -> Result<CallsReport, Error> {
    let mut places = Vec::new();
    for named in &options.calls {
        places.push(Place::open(named, bourse, parent).await?);
    }
    let imports = places.iter().map(|place| (place.name.clone(), place.import.clone())).collect();
    let mut report = CallsReport { imports, calls: Vec::new() };
    report.print_imports();
    let plan = options.plan();
    for kind in KINDS.iter().filter(|kind| options.selects(kind.name, kind.path)) {
        let of = |place: &Place| PlaceFigures { name: place.name.clone(), rounds: Vec::new() };
        let mut call = CallReport { name: kind.name, places: places.iter().map(of).collect() };
        for place in &places {
            place.load(kind, options.connections, plan.warm_up).await?;
        }
        for round in 0..plan.rounds {
            // Each of them comes first in some rounds, so that a machine that slows down favours none.
            for turn in 0..places.len() {
                let turn = (turn + round) % places.len();
                let figures = places[turn].load(kind, options.connections, plan.round).await?;
                call.places[turn].rounds.push(figures);
            }
        }
        call.print();
        report.calls.push(call);
    }
    for place in places {
        place.close().await?;
    }
    Ok(report)
}
