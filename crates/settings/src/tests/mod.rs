//! The loader as a whole: precedence, refusals, redaction. Parts are tested beside their code.

mod accepted;
mod refused;

use super::*;

const SECRET: &str = "hunter2-hunter2-hunter2-hunter2-";

fn file(text: &str) -> Layers {
    Layers { file: Some(("bourse.toml".to_owned(), text.to_owned())), ..Layers::default() }
}

fn variable(name: &str, value: &str) -> Layers {
    Layers { variables: vec![(name.to_owned(), value.to_owned())], ..Layers::default() }
}

fn flag(flag: &'static str, key: &'static str, value: &str) -> Layers {
    Layers { flags: vec![(flag, key.to_owned(), value.to_owned())], ..Layers::default() }
}

fn settings(layers: Layers) -> Settings {
    load(layers).unwrap().settings
}

fn effective(loaded: &LoadedSettings, key: &str) -> (String, Source) {
    let found = loaded.effective.iter().find(|effective| effective.key == key).unwrap();
    (found.value.clone(), found.source.clone())
}
