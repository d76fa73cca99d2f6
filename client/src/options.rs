//! The options of every client command. A secret must never be one, because every user of the machine can see
//! arguments.

use clap::Args;
use clap::builder::{Resettable, Str};
use domain::Micro;
use reqwest::Url;

use crate::parse;
use crate::profile::ProfileName;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Client options")]
pub struct Options {
    /// The API address. Default: the profile's, or http://127.0.0.1:8080.
    #[arg(
        long,
        global = true,
        env = "HANDBILL_URL",
        hide_env_values = true,
        value_name = "URL",
        value_parser = parse::address
    )]
    pub url: Option<Url>,
    /// The profile whose token and address are used. Each profile is a file in the user's config directory.
    #[arg(long, global = true, value_name = "NAME", default_value = "default")]
    pub profile: ProfileName,
    /// Print the result as JSON to standard output, and errors as JSON to standard error.
    #[arg(long, global = true, help_heading = Resettable::<Str>::Reset)]
    pub json: bool,
    /// Confirm everything without asking, including payments (up to --max-price, if given).
    #[arg(long, global = true)]
    pub yes: bool,
    /// Pay up to this many US dollars for this command without asking. A publish spends existing credit in
    /// any case.
    #[arg(long, global = true, value_name = "USD", value_parser = parse::dollars)]
    pub max_price: Option<Micro>,
    /// Print only the result, without notes and progress.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}
