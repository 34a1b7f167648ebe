//! Prints the effective settings and where each came from.

use bourse_server::settings::DEFAULT_FILE;
use serde_json::json;

use crate::cli::{Common, Listen};
use crate::context::{CommandError, load_settings};
use crate::output::{print, table};

pub(super) fn run(common: &Common, listen: &Listen, defaults: bool) -> Result<(), CommandError> {
    if defaults {
        return print(false, &json!(null), || DEFAULT_FILE.to_owned());
    }
    let effective = load_settings(common, listen)?.effective;
    let records: Vec<_> = effective
        .iter()
        .map(|setting| json!({ "key": setting.key, "value": setting.value, "source": setting.source.to_string() }))
        .collect();
    print(common.json, &json!(records), || {
        let rows = effective
            .iter()
            .map(|setting| [setting.key.clone(), setting.value.clone(), setting.source.to_string()]);
        table(["SETTING", "VALUE", "FROM"], rows.collect())
    })
}
