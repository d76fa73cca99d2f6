//! What every command takes. A secret must never be among it, because everyone on the machine can read arguments.

use clap::Args;
use domain::Micro;
use reqwest::Url;

use crate::parse;
use crate::profile::ProfileName;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of the client commands")]
pub struct Options {
    /// The Handbill to speak to; else the profile's, else http://127.0.0.1:8080.
    #[arg(
        long,
        global = true,
        env = "HANDBILL_URL",
        hide_env_values = true,
        value_name = "URL",
        value_parser = parse::address
    )]
    pub url: Option<Url>,
    /// Whose token and address to use; each profile is a file in the user's config folder.
    #[arg(long, global = true, value_name = "NAME", default_value = "default")]
    pub profile: ProfileName,
    /// Answer with the API's JSON on standard output, and errors as JSON on standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// Agree to what would be asked, payments too (up to --max-price, if that is given).
    #[arg(long, global = true)]
    pub yes: bool,
    /// Pay up to so many US dollars for this command without asking. A publish spends credit that is there anyway.
    #[arg(long, global = true, value_name = "USD", value_parser = parse::dollars)]
    pub max_price: Option<Micro>,
    /// Print the result alone: no notes, no progress.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}
