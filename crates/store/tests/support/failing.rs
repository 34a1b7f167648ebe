//! Writes that PostgreSQL itself refuses.

use bourse_store::testing::{TestDatabase, administer};

/// Lets every write of a token fail with this state of PostgreSQL, on the node that the token is on.
pub(crate) async fn fail_tokens(database: &TestDatabase, state: &str) {
    let function = format!(
        "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'for the test' USING ERRCODE = '{state}'; END $$"
    );
    administer(database, &function).await.unwrap();
    // A cluster has triggers only for who knows that they run on its nodes.
    let allowed = "ALTER DATABASE NAME SET citus.enable_unsafe_triggers = on";
    administer(database, allowed).await.unwrap();
    let trigger = "CREATE OR REPLACE TRIGGER fail BEFORE INSERT OR UPDATE ON tokens
        FOR EACH ROW EXECUTE FUNCTION fail()";
    administer(database, trigger).await.unwrap();
}
