//! The client commands and their arguments. Their doc comments are the only source of the help, the
//! completions and the man pages.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use domain::{Message, Micro, Slug, Time};

use crate::parse;

/// The client commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create an account and save its token, without email or browser.
    ///
    /// The token is saved in the profile and not shown, except with --json. The account is provisional until
    /// a person opens the printed claim link.
    Signup,
    /// Publish a file, a folder or an archive, and print its URL.
    ///
    /// An .html file or standard input becomes the front page; any other file keeps its name. The server
    /// unpacks an archive (.zip, .tar, .tar.gz, .tgz, .tar.zst, or on standard input). A folder is sent
    /// without hidden files (except .well-known), node_modules and the files listed in .handbillignore, which
    /// has the syntax of .gitignore. A line such as `!.nojekyll` sends a file that would be left out.
    /// Symbolic links are followed only to files that are sent. At most 50 files and 10 MB. An update, or a
    /// new page of more than 64 KiB, sends only files that the account does not hold yet.
    ///
    /// A folder remembers its page in .handbill.json, which holds the server's address, the slug and the
    /// host, no secret, and is never published. The next publish of the folder updates that page, if the
    /// server and the account are the same. --slug chooses another page, --new makes another one. With
    /// --idempotency-key, .handbill.json is neither read nor written.
    ///
    /// Beyond the free allowance a publish spends credit without asking and prints the amount. Without credit
    /// you are asked to confirm the price; --yes and --max-price confirm it.
    ///
    /// Only the URL is printed to standard output. Publishing the same slug again adds a version and keeps
    /// the URL.
    Publish(Publish),
    /// Find what will not work once a folder or file is published.
    ///
    /// Needs no server. Reports what a publish reports: missing files, references that leave the site,
    /// resources that browsers will block, keys of other services. Exits with 1 if there are any warnings.
    /// The files are those that `handbill publish` sends.
    Check(Check),
    /// List the pages and sites of the account.
    ///
    /// VIEWS counts this month's views. On a narrow terminal some columns are left out. A pipe gets all of
    /// them.
    List,
    /// Show a page or site.
    Show(Named),
    /// List the versions of a page or site, newest first.
    Versions(Named),
    /// Compare two versions of a page or site, and print a unified diff.
    ///
    /// Without versions it shows what the live version has changed. With --json it lists the files that
    /// differ.
    Diff {
        #[command(flatten)]
        named: Named,
        /// The version to compare from. Default: the one before the other.
        #[arg(value_name = "FROM", value_parser = clap::value_parser!(u32).range(1..))]
        from: Option<u32>,
        /// The version to compare with. Default: the live one.
        #[arg(value_name = "TO", value_parser = clap::value_parser!(u32).range(1..))]
        to: Option<u32>,
    },
    /// Download the files of a version into a folder.
    ///
    /// Prints the name of the folder.
    Download(Download),
    /// Make the previous version live again, or the given one.
    Rollback {
        #[command(flatten)]
        named: Named,
        /// The version to go back to.
        #[arg(value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
        version: Option<u32>,
    },
    /// Make a version live.
    Activate {
        #[command(flatten)]
        named: Named,
        /// The version's number, as listed by `handbill versions`.
        #[arg(value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
        version: u32,
    },
    /// Change who can see a page.
    ///
    /// Unlisted and private pages cost a monthly fee.
    /// Making a page unlisted or private always asks for confirmation, even if credit covers it. --yes
    /// confirms, and so does a --max-price that covers the month.
    Visibility {
        #[command(flatten)]
        named: Named,
        /// The new visibility.
        visibility: Visibility,
    },
    /// Replace the link of a private page.
    ///
    /// The old link stops working at once, and so do the links to the page's versions. Asks for confirmation.
    PrivateLink(Named),
    /// Delete a page or site, or one of its versions.
    ///
    /// The URL of a deleted page stops working at once. `handbill undelete` undoes it for 30 days.
    Delete {
        #[command(flatten)]
        named: Named,
        /// Delete only this version, for good. It must not be live.
        #[arg(long, value_name = "VERSION", conflicts_with = "purge",
            value_parser = clap::value_parser!(u32).range(1..))]
        version: Option<u32>,
        /// Delete the versions and their contents too, for good. Works on a deleted page too.
        #[arg(long)]
        purge: bool,
    },
    /// Restore a page or site that was deleted in the last 30 days.
    ///
    /// It gets its URL back.
    Undelete(Named),
    /// Open a page in the browser.
    Open(Named),
    /// Show the account's status, limits and credit, and its claim link.
    Account,
    /// Show this month's usage and its cost.
    Usage,
    /// Create a new link to claim the account.
    ///
    /// The old one stops working. A person who opens the link and signs in owns the account from then on.
    ClaimLink,
    /// Write everything of the account to one archive.
    ///
    /// Prints the archive's name. The archive has all versions of all pages, the ledger, the members, the
    /// tokens without their secrets, and the audit log. A file that exists is not overwritten.
    Export {
        /// The file. Default: handbill-export.tar.gz.
        file: Option<PathBuf>,
    },
    /// List, create and revoke tokens.
    Tokens {
        #[command(subcommand)]
        command: Option<Tokens>,
    },
    /// List, create and revoke invites to the account.
    Invites {
        #[command(subcommand)]
        command: Option<Invites>,
    },
    /// List the account's members and tokens, and remove members.
    Members {
        #[command(subcommand)]
        command: Option<Members>,
    },
    /// Join an account with an invite code, as an agent.
    ///
    /// The token is saved in the profile. Without an argument the code is read from the terminal without
    /// echo, or from standard input. Other users of the machine can see command-line arguments, so prefer
    /// that.
    Join {
        /// The invite code. Prefer the prompt or standard input.
        code: Option<String>,
    },
    /// Show or buy credit.
    #[command(args_conflicts_with_subcommands = true)]
    Credits {
        #[command(subcommand)]
        command: Option<Credits>,
        /// The same as `handbill credits buy AMOUNT`.
        #[arg(value_name = "AMOUNT", value_parser = parse::dollars, hide = true)]
        amount: Option<Micro>,
    },
    /// Sign in with a browser, and save the token in the profile.
    ///
    /// Prints an address and a code, and opens the address in a browser. A person signs in there, or
    /// continues without an account, and compares the code. The token is renewed as needed, until 30 days
    /// after its last renewal.
    ///
    /// If standard input is not a terminal, or with --with-token, an existing token is read instead.
    Login(Login),
    /// Show the account, profile and API address in use.
    Whoami,
}

#[derive(Debug, Args)]
pub struct Login {
    /// Save an existing token. It is read from the terminal without echo, or from standard input.
    #[arg(long)]
    pub with_token: bool,
    /// Print the address and the code only, for a browser on another device.
    #[arg(long, conflicts_with = "with_token")]
    pub no_browser: bool,
}

#[derive(Debug, Args)]
pub struct Named {
    /// The name of the page or site on the account.
    #[arg(value_parser = parse::slug)]
    pub slug: Slug,
}

#[derive(Debug, Args)]
pub struct Publish {
    /// A file, a folder, an archive, or - for standard input. Default: the working directory, if it was
    /// published before.
    pub path: Option<PathBuf>,
    /// The page's name on the account. Default: the name that the folder remembers, or a generated one.
    #[arg(long, value_parser = parse::slug)]
    pub slug: Option<Slug>,
    /// Store a version of an existing page without making it live. `handbill activate` makes it live.
    #[arg(long)]
    pub stage: bool,
    /// Publish only if this version is live, so that the publish does not overwrite a newer one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub if_version: Option<u32>,
    /// Make another page, even if the folder was published before. With --slug, publish only if no page has
    /// this name yet.
    #[arg(long, conflicts_with_all = ["if_version", "stage"])]
    pub new: bool,
    /// Make the page private, and print its signed link. Costs a monthly fee, which is always confirmed.
    ///
    /// An existing page becomes private before the publish. A new page goes live once it is private. If it
    /// cannot become private, it is deleted.
    #[arg(long)]
    pub private: bool,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Publish again whenever a file changes, until Ctrl-C.
    ///
    /// Each change is a publish, and counts as one. A file that is written without a change is not published
    /// again.
    #[arg(long, conflicts_with_all = ["dry_run", "if_version", "stage", "idempotency_key"])]
    pub watch: bool,
    /// Publish nothing: show what the publish would change and cost.
    #[arg(long, conflicts_with_all = ["wait", "private", "open"])]
    pub dry_run: bool,
    /// Also send hidden files and node_modules. Files listed in .handbillignore stay left out, and so does
    /// .git.
    #[arg(long)]
    pub all_files: bool,
    /// Wait up to 10 seconds for the verdict of the scan, and print it.
    #[arg(long)]
    pub wait: bool,
    /// A short description of this version, shown by `handbill versions`.
    #[arg(long, short, value_name = "TEXT")]
    pub message: Option<Message>,
    /// Idempotency key: within 24 hours the command publishes at most once under this key. The folder's page
    /// is then neither used nor remembered.
    #[arg(long, value_name = "KEY", value_parser = parse::idempotency_key)]
    pub idempotency_key: Option<String>,
}

#[derive(Debug, Args)]
pub struct Download {
    #[command(flatten)]
    pub named: Named,
    /// The folder, which is created if needed. Default: the name of the page or site.
    #[arg(value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    /// The version's number. Default: the live version.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub version: Option<u32>,
    /// Write into a folder that is not empty. Files that the version does not have stay.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Check {
    /// A file, a folder, or - for standard input.
    pub path: PathBuf,
    /// Also check hidden files and node_modules, as `handbill publish --all-files` sends them.
    #[arg(long)]
    pub all_files: bool,
    /// The site's URL, such as https://my-page-a1b2.pages.example. Default: a site below a path, without TLS.
    /// Absolute paths such as /app.css work only for a site at the root of its host.
    #[arg(long, value_name = "URL")]
    pub site_url: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Visibility {
    /// Everyone; search engines can list it. Free.
    Public,
    /// Anyone with the link. Charged monthly.
    Unlisted,
    /// Only people with the signed link. Charged monthly.
    Private,
}

#[derive(Debug, Subcommand)]
pub enum Credits {
    /// Show the account's credit.
    Show,
    /// Buy credit.
    ///
    /// Asks for confirmation. --yes confirms, and so does a --max-price that covers the amount.
    Buy {
        /// US dollars, from 1 to 100.
        #[arg(value_name = "AMOUNT", value_parser = parse::dollars)]
        amount: Micro,
    },
}

#[derive(Debug, Subcommand)]
pub enum Tokens {
    /// List the tokens, without their secrets.
    List,
    /// Create a token and print it once.
    Mint(Mint),
    /// Revoke a token.
    Revoke {
        /// The token's id from the list, not the token itself.
        id: String,
        /// Also revoke the tokens that it created, directly or indirectly, and their open invites.
        #[arg(long)]
        with_minted: bool,
    },
}

#[derive(Debug, Args)]
pub struct Mint {
    /// The token's name.
    #[arg(long)]
    pub name: Option<String>,
    /// Scopes, such as artifacts:read,artifacts:write. Default: the scopes of your token.
    #[arg(long)]
    pub scopes: Option<String>,
    /// Limit the token to this page or site.
    #[arg(long, value_name = "SLUG", value_parser = parse::slug)]
    pub slug: Option<Slug>,
    /// Expiry time, such as 2030-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse::moment)]
    pub expires_at: Option<Time>,
    /// Lifetime, such as 12h or 7d.
    #[arg(long, value_name = "DURATION", value_parser = parse::duration, conflicts_with = "expires_at")]
    pub expires_in: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub enum Invites {
    /// List the invites.
    List,
    /// Create an invite: a link for people and a code for agents.
    Create(Create),
    /// Revoke an invite: its code and link stop working.
    Revoke {
        /// The invite's code.
        code: String,
    },
}

#[derive(Debug, Args)]
pub struct Create {
    /// The role of people who join.
    #[arg(long)]
    pub role: Option<InviteRole>,
    /// Maximum uses, from 1 to 100. Default: 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_uses: Option<u32>,
    /// Lifetime in hours, from 1 to 720. Default: 72.
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..=720))]
    pub ttl_hours: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InviteRole {
    Member,
    Admin,
}

#[derive(Debug, Subcommand)]
pub enum Members {
    /// List the members and the active tokens.
    List,
    /// Remove a member and revoke the tokens that the member created.
    Remove {
        /// The member's username or id.
        who: String,
    },
}
