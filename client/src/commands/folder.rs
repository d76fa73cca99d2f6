//! The page that a folder remembers: which page `handbill publish FOLDER` updates.

use std::path::{Path, PathBuf};

use domain::Slug;

use super::artifacts::path_of;
use crate::command::Publish;
use crate::context::Context;
use crate::failure::{Failure, INSUFFICIENT_SCOPE, NOT_FOUND};
use crate::server::{Server, shown};
use crate::state::FolderPage;
use crate::upload::is_standard_input;
use crate::wire::Artifact;

/// The path and the page of a publish.
pub struct Target {
    pub path: PathBuf,
    pub slug: Option<Slug>,
    /// The page that the slug is from, which is not yet known to be on the server.
    remembered: Option<FolderPage>,
    /// The folder that remembers the page from now on.
    saved_in: Option<PathBuf>,
}

impl Target {
    /// Reads what the folder remembers. Needs no server.
    pub fn of(args: &Publish) -> Result<Self, Failure> {
        let path = path_to_publish(args)?;
        let is_folder = !is_standard_input(&path) && path.is_dir();
        let target = if is_folder && args.idempotency_key.is_none() {
            Self::of_folder(args, path)?
        } else {
            Self { path, slug: args.slug.clone(), remembered: None, saved_in: None }
        };
        if target.slug.is_none() && (args.stage || args.if_version.is_some()) {
            return Err(Failure::usage(
                "--stage and --if-version need a page, and this path remembers none",
                "name the page with --slug; `handbill list` lists the pages",
            ));
        }
        Ok(target)
    }

    fn of_folder(args: &Publish, path: PathBuf) -> Result<Self, Failure> {
        let remembered = match FolderPage::read(&path) {
            // A file that cannot be read matters only if it chooses the page.
            Err(_) if args.slug.is_some() || args.new => None,
            read => read?,
        };
        let folder = Some(path.clone());
        Ok(match (args.slug.clone(), remembered) {
            (slug, _) if args.new => Self { path, slug, remembered: None, saved_in: folder },
            (Some(slug), Some(_)) => Self { path, slug: Some(slug), remembered: None, saved_in: None },
            (slug, None) => Self { path, slug, remembered: None, saved_in: folder },
            (None, Some(page)) => {
                Self { path, slug: Some(page.slug.clone()), remembered: Some(page), saved_in: None }
            }
        })
    }

    /// Checks that the remembered page is one of this server and account.
    pub async fn check(&self, context: &Context, server: &Server) -> Result<(), Failure> {
        let Some(FolderPage { server: address, slug, host }) = &self.remembered else { return Ok(()) };
        let folder = self.path.display();
        if !self.remembered.as_ref().is_some_and(|page| page.is_on(server.url())) {
            let message = format!(
                "{folder} was published as {slug} on {address}, but the server in use is {}",
                shown(server.url())
            );
            // No address in the hint: the folder may be from somebody else, and agents do what hints say.
            let hint = "make another page here with --new, or name the page with --slug. The address is from \
                        .handbill.json in the folder: use it only if you know that server";
            return Err(Failure::usage(message, hint));
        }
        let found = match server.get(&path_of(slug)).await {
            Ok(reply) => Some(reply.read::<Artifact>()?.host),
            Err(failure) if failure.api_error.code == NOT_FOUND => None,
            // Without the check, a folder from somebody else could overwrite any page.
            Err(failure) if failure.api_error.code == INSUFFICIENT_SCOPE => {
                return Err(Failure::usage(
                    format!(
                        "{folder} was published as {slug} ({host}), and this token may not read that page"
                    ),
                    format!("name the page with --slug {slug}, or make another page here with --new"),
                ));
            }
            Err(failure) => return Err(failure),
        };
        if found.as_ref() != Some(host) {
            return Err(Failure::usage(
                format!("{folder} was published as {slug} ({host}), which this account does not have"),
                format!(
                    "if it was renamed, name it with --slug; restore a deleted page with `handbill undelete \
                     {slug}`, choose its account with --profile, or make another page with --new"
                ),
            ));
        }
        context
            .console
            .announce(&format!("Updating {slug}, the page of this folder. --new makes another one."));
        Ok(())
    }

    /// Remembers the page in the folder. The page is published, so that a fault is only a warning.
    pub fn save(&self, context: &Context, server: &Server, slug: &Slug, host: &str) {
        let Some(folder) = &self.saved_in else { return };
        let page =
            FolderPage { server: shown(server.url()).to_owned(), slug: slug.clone(), host: host.to_owned() };
        match page.save(folder) {
            Ok(file) => context.console.note(&format!(
                "{} remembers the page: `handbill publish {}` updates it.",
                file.display(),
                folder.display()
            )),
            Err(error) => context.console.warn(&format!(
                "the folder cannot remember its page ({error}); update it with --slug {slug}"
            )),
        }
    }
}

fn path_to_publish(args: &Publish) -> Result<PathBuf, Failure> {
    if let Some(path) = &args.path {
        return Ok(path.clone());
    }
    let here = Path::new(".");
    match FolderPage::read(here)? {
        Some(_) => Ok(here.to_owned()),
        None => Err(Failure::usage(
            "there is nothing to publish: the path is missing",
            "name a file, a folder, an archive, or - for standard input; `handbill publish --help` shows examples",
        )),
    }
}
