//! Every command of the documentation is run, and what a page shows is compared with what is printed.
//!
//! CONTRIBUTING.md has the rules for pages. On SQLite all pages are run; on PostgreSQL those that speak of it.

mod chain;
mod links;
mod named_tests;
mod page;
mod shown_output;
mod stage;

use std::path::{Path, PathBuf};

use page::{Kind, Piece};
use stage::Stage;

/// Blocks of commands that no test runs, in all pages together.
const EXCUSES_MAX: usize = 8;

/// Runs a page as it is.
fn run(page: &str) {
    run_on(page, |_| ());
}

/// Runs a page after something was prepared for it.
fn run_on<T>(page: &str, prepare: impl FnOnce(&mut Stage) -> T) {
    let pieces = pieces(page);
    let mut stage = Stage::new();
    if stage.is_postgres() && !pieces.iter().any(|piece| piece.postgres) {
        return;
    }
    let _prepared = prepare(&mut stage);
    stage.run(page, &pieces);
}

macro_rules! pages {
    ($($test:ident: $page:literal, $run:expr;)*) => {
        /// Every page that has a test.
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $test() {
                let run: fn(&str) = $run;
                run($page);
            }
        )*
    };
}

pages! {
    readme: "README.md", run;
    analytics: "docs/analytics.md", run;
    audiences: "docs/audiences.md", run;
    collections: "docs/collections.md", run;
    configuration: "docs/configuration.md", run;
    conventions: "docs/conventions.md", run;
    credentials: "docs/credentials.md", run;
    errors: "docs/errors.md", run;
    following: "docs/following.md", chain::run;
    getting_started: "docs/getting-started.md", run;
    import: "docs/import.md", run;
    ingest: "docs/ingest.md", run;
    marketplace: "docs/marketplace.md", run;
    marketplaces: "docs/marketplaces.md", run;
    metadata: "docs/metadata.md", chain::run;
    operations: "docs/operations.md", run;
    production: "docs/production.md", run;
    schema: "docs/schema.md", run;
    security: "docs/security.md", run;
    selling_and_buying: "docs/selling-and-buying.md", run;
    shop: "docs/shop.md", chain::run_shop;
    storefront: "docs/storefront.md", run;
    streams: "docs/streams.md", run;
    webhooks: "docs/webhooks.md", run;
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pieces(page: &str) -> Vec<Piece> {
    let text = std::fs::read_to_string(repository().join(page)).unwrap();
    page::read(&text).unwrap_or_else(|error| panic!("{page}, {error}"))
}

/// All pages that there are.
fn all_pages() -> Vec<String> {
    let listed = std::fs::read_dir(repository().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = listed.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut pages: Vec<String> =
        pages.map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap())).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

#[test]
fn every_page_is_run_and_excuses_are_few() {
    let mut tested: Vec<&str> = PAGES.to_vec();
    tested.sort_unstable();
    assert_eq!(all_pages(), tested, "each page needs a test");
    let mut excuses = Vec::new();
    let (mut blocks, mut outputs) = (0, 0);
    for page in tested {
        for piece in pieces(page) {
            match piece.kind {
                Kind::Commands { .. } => blocks += 1,
                Kind::Output(_) => outputs += 1,
                Kind::Excused(reason) => excuses.push(format!("{page}, line {}: {reason}", piece.line)),
                Kind::Hidden(_) | Kind::File { .. } => {}
            }
        }
    }
    println!("{blocks} blocks are run, {outputs} outputs compared, {} excused:", excuses.len());
    println!("{}", excuses.join("\n"));
    assert!(excuses.len() <= EXCUSES_MAX, "{excuses:#?}");
}
