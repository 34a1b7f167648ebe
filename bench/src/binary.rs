//! Finds the bourse binary, and builds it first unless one is named.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{Context, Error};
use crate::process::Running;

/// A cold build on a small machine takes minutes.
const BUILD_LIMIT: Duration = Duration::from_mins(30);

/// The absolute path of the binary to measure.
pub(crate) async fn find(named: Option<&Path>) -> Result<PathBuf, Error> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => build().await?,
    };
    // Absolute, because the server is started in another directory.
    path.canonicalize().context(|| format!("looking for the bourse binary {}", path.display()))
}

async fn build() -> Result<PathBuf, Error> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // The cargo that runs us, where there is one: it is the toolchain that the workspace asks for.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--profile", "shipped", "-p", "bourse", "--manifest-path"]);
    command.arg(workspace.join("Cargo.toml")).stdin(Stdio::null());
    Running::spawn(&mut command, "cargo build", None)?.finish(BUILD_LIMIT).await?;
    // Cargo reads a relative target directory from the working directory, which here is ours.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    Ok(target.join("shipped").join(format!("bourse{}", std::env::consts::EXE_SUFFIX)))
}
