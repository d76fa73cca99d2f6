//! The commands and their arguments. What each one says of itself here is its help, its completion and its place in
//! the man page, and nowhere is it said twice.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use domain::{Message, Micro, Slug, Time};

use crate::parse;

/// What one does with a Handbill.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Get an account and its first token; no e-mail, no browser.
    ///
    /// The token goes into the profile and is not shown (with --json it is). The account is provisional: a person opens
    /// the claim link that is printed, and it is permanent.
    Signup,
    /// Publish a file, a folder or standard input, and print its URL.
    ///
    /// An .html file, and standard input, become the front page; another file keeps its name. A folder is sent with all
    /// that is in it but hidden files (.well-known is sent) and what .handbillignore names, which is written as
    /// .gitignore is. Links are followed only to files that are sent. At most 50 files and 10 MB.
    ///
    /// Past the free allowance a publish spends credit without asking, and says what it spent. Without credit its price
    /// is asked about; --yes and --max-price answer that.
    ///
    /// The URL is the one line on standard output. The same slug again adds a version and keeps the URL.
    Publish(Publish),
    /// List the pages and sites of the account.
    List,
    /// Show a page or site.
    Show(Named),
    /// List the versions of a page or site, newest first.
    Versions(Named),
    /// Make the version before the live one live again, or the one named.
    Rollback {
        #[command(flatten)]
        named: Named,
        /// The number of the version to go back to.
        #[arg(value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
        version: Option<u32>,
    },
    /// Make a version live.
    Activate {
        #[command(flatten)]
        named: Named,
        /// The number of the version, as `handbill versions` lists it.
        #[arg(value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
        version: u32,
    },
    /// Choose who may see a page; unlisted and private cost a month.
    ///
    /// Taking a page off the public is always asked about, also when credit pays for it. --yes agrees, and so does a
    /// --max-price that covers the month.
    Visibility {
        #[command(flatten)]
        named: Named,
        /// Who may see it from now on.
        visibility: Visibility,
    },
    /// Delete a page or site: its URL stops at once.
    Delete(Named),
    /// Open a page in the browser.
    Open(Named),
    /// Show the account: status, limits, credit, and the claim link while it is provisional.
    Account,
    /// Show what the account used this month, and what that costs.
    Usage,
    /// Make a new claim link; the old one leads nowhere from then on.
    ClaimLink,
    /// List, mint and revoke tokens.
    Tokens {
        #[command(subcommand)]
        command: Option<Tokens>,
    },
    /// List, create and revoke invites to the account.
    Invites {
        #[command(subcommand)]
        command: Option<Invites>,
    },
    /// List the account's people and tokens, and remove people.
    Members {
        #[command(subcommand)]
        command: Option<Members>,
    },
    /// Join an account as an agent, by the code of an invite; the token goes into the profile.
    ///
    /// Without an argument the code is read unseen from the terminal, or from standard input. Everyone on the machine
    /// can read arguments, so give the code as one only where nobody else is.
    Join {
        /// The invite's code; better not given here.
        code: Option<String>,
    },
    /// Show the credit, or buy some.
    Credits {
        /// How much to buy, in US dollars.
        #[arg(value_name = "AMOUNT", value_parser = parse::dollars)]
        amount: Option<Micro>,
    },
    /// Keep a token in the profile, read unseen from the terminal or from standard input.
    Login,
    /// Show which account, profile and address a command would use.
    Whoami,
}

#[derive(Debug, Args)]
pub struct Named {
    /// The name of the page or site on the account.
    #[arg(value_parser = parse::slug)]
    pub slug: Slug,
}

#[derive(Debug, Args)]
pub struct Publish {
    /// A file, a folder, or - for standard input.
    pub path: PathBuf,
    /// The name on the account; without it one is made up.
    #[arg(long, value_parser = parse::slug)]
    pub slug: Option<Slug>,
    /// Store the version of an existing page without making it live; `handbill activate` does that.
    #[arg(long, requires = "slug")]
    pub stage: bool,
    /// What this version is about, in a line that `handbill versions` shows.
    #[arg(long, short, value_name = "TEXT")]
    pub message: Option<Message>,
    /// Publish just once under this key, however often the command runs in 24 hours.
    #[arg(long, value_name = "KEY", value_parser = parse::idempotency_key)]
    pub idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Visibility {
    /// Anybody, and search engines may list it. Free.
    Public,
    /// Anybody who has the link. Paid by the month.
    Unlisted,
    /// Who has the signed link. Paid by the month.
    Private,
}

#[derive(Debug, Subcommand)]
pub enum Tokens {
    /// List the tokens; never their secrets.
    List,
    /// Mint a token and print it, once.
    Mint(Mint),
    /// Revoke a token.
    Revoke {
        /// The token's id, as the list has it; never the token itself.
        id: String,
        /// Also revoke the tokens that it created, those that they minted, and so on, and their open invites.
        #[arg(long)]
        with_minted: bool,
    },
}

#[derive(Debug, Args)]
pub struct Mint {
    /// What to call it.
    #[arg(long)]
    pub name: Option<String>,
    /// What it may, such as artifacts:read,artifacts:write; without it, all that yours may.
    #[arg(long)]
    pub scopes: Option<String>,
    /// The one page or site that it may touch.
    #[arg(long, value_name = "SLUG", value_parser = parse::slug)]
    pub slug: Option<Slug>,
    /// When it stops working, such as 2030-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse::moment)]
    pub expires_at: Option<Time>,
    /// After how long it stops working, such as 12h or 7d.
    #[arg(long, value_name = "DURATION", value_parser = parse::duration, conflicts_with = "expires_at")]
    pub expires_in: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub enum Invites {
    /// List the invites.
    List,
    /// Create an invite, for people by its link and for agents by its code.
    Create(Create),
    /// Revoke an invite: its code and link stop working.
    Revoke {
        /// The invite's code.
        code: String,
    },
}

#[derive(Debug, Args)]
pub struct Create {
    /// What a person becomes who joins.
    #[arg(long)]
    pub role: Option<InviteRole>,
    /// How many may join with it; 1 without this.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_uses: Option<u32>,
    /// For how many hours it is good; 72 without this.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=720))]
    pub ttl_hours: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InviteRole {
    Member,
    Admin,
}

#[derive(Debug, Subcommand)]
pub enum Members {
    /// List the people and the active tokens.
    List,
    /// Remove a person; the tokens that they minted go with them.
    Remove {
        /// Their username or id.
        who: String,
    },
}
