//! `handbill export`: writes everything of the account to a file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::bytes;

const PATH: &str = "/v1/account/export";
const FILE: &str = "handbill-export.tar.gz";

/// The file has its name only once it is complete.
pub async fn export(context: &Context, file: Option<PathBuf>) -> Result<(), Failure> {
    let server = context.server()?;
    let file = file.unwrap_or_else(|| PathBuf::from(FILE));
    if fs::symlink_metadata(&file).is_ok() {
        return Err(Failure::usage(
            format!("{} exists", file.display()),
            "name another file, or remove this one",
        ));
    }
    let partial = partial_of(&file);
    // An interrupted export has left the file.
    let mut written = File::create(&partial).map_err(|error| unwritable(&partial, &error))?;
    let saved = match server.save(PATH, &mut written).await {
        Ok(size) => fs::rename(&partial, &file).map(|()| size).map_err(|error| unwritable(&file, &error)),
        Err(failure) => Err(failure),
    };
    if saved.is_err() {
        // The failure itself says more than a failure to remove the file.
        let _ = fs::remove_file(&partial);
    }
    let size = saved?;
    let shown = file.display().to_string();
    context.console.print_result(&json!({ "file": shown, "bytes": size }), || shown.clone());
    context.console.note(&format!("Wrote {}.", bytes(size)));
    Ok(())
}

fn partial_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".partial");
    name.into()
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    Failure::of_this_machine(format!("could not write to {}: {error}", file.display()))
}
