//! Shell completions and man pages. Both are generated from the declared arguments, so they always match
//! them.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Arguments;

const NAME: &str = "handbill";

pub(crate) fn print_completions(shell: Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut script);
    print(&script)
}

/// The page of the program itself.
pub(crate) fn print_page() -> anyhow::Result<()> {
    let mut page = Vec::new();
    Man::new(Arguments::command()).render(&mut page)?;
    print(&page)
}

/// A page for the program and one for each command, such as `handbill-publish.1`.
pub(crate) fn write_pages(folder: &Path) -> anyhow::Result<()> {
    let context = || format!("write the man pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(context)?;
    clap_mangen::generate_to(Arguments::command(), folder).with_context(context)?;
    Ok(())
}

/// A closed pipe, such as of a pager, is not an error.
fn print(text: &[u8]) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("write to standard output"),
        _ => Ok(()),
    }
}
