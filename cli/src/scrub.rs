//! `handbill scrub`: checks that everything published is present and undamaged, while the service runs.

use std::process::ExitCode;

use config::{Settings, Storage};
use domain::Chance;
use store::{
    Damage, Harmed, MalformedManifest, Orphan, OrphanFate, Scrub, ScrubCare, ScrubNews, ScrubProgress,
};

use crate::progress::{Progress, count, size};
use crate::{parts, say};

/// What is checked, and what is done about problems.
pub(crate) struct ScrubOptions {
    pub(crate) care: ScrubCare,
    /// How many contents to check, from a random one on. `None`: all.
    pub(crate) sample: Option<u64>,
}

pub(crate) async fn execute(options: &ScrubOptions, settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let blobs = parts::open_blobs(settings)?;
    let mut progress = Progress::begin();
    let mut news = |news: ScrubNews| match news {
        ScrubNews::Damage(damage) => say(&damage_text(&damage)),
        ScrubNews::Malformed(manifest) => say(&malformed_text(&manifest)),
        ScrubNews::Orphan(orphan) => say(&orphan_text(&orphan)),
        ScrubNews::Progress(so_far) => progress.print(|| progress_text(&so_far)),
    };
    let chance = Chance::from_system();
    let sample = options.sample.map(|number| (number, &chance));
    let clock = parts::clock_of(&store, settings).await?;
    let at_once = match &settings.storage {
        Storage::Folder(_) => Scrub::OF_A_FOLDER_AT_ONCE,
        Storage::Bucket(bucket) => bucket.scrub_concurrency,
    };
    let scrub = Scrub { blobs: &blobs, care: options.care, now: clock.now(), at_once };
    let (mut done, mut unlisted) = (store.integrity().scrub_contents(&scrub, sample, &mut news).await?, None);
    if options.sample.is_none() {
        done = store.integrity().scrub_bundles(&scrub, done, &mut news).await?;
        done = store.integrity().scrub_manifests(done, &mut news).await?;
        // A listing that fails must not hide what was found before.
        match store.integrity().scrub_objects(&scrub, done, &mut news).await {
            Ok(whole) => done = whole,
            Err(error) => unlisted = Some(error),
        }
    }
    store.close().await?;
    let concluded = conclude(options, &done);
    let Some(error) = unlisted else { return Ok(concluded) };
    say(&format!(
        "The objects could not all be listed, so unreferenced ones may be missing above. Fix this error and scrub \
         again: {error:#}"
    ));
    Ok(ExitCode::FAILURE)
}

fn conclude(options: &ScrubOptions, done: &ScrubProgress) -> ExitCode {
    say(&progress_text(done));
    let left = done.orphans - done.removed;
    if left > 0 && options.care == ScrubCare::Report {
        say(&format!(
            "{} unreferenced. `handbill scrub --fix` removes those that belong to Handbill.",
            count(left, "object is", "objects are")
        ));
    }
    if done.damages == 0 {
        say("No damage found.");
        return ExitCode::SUCCESS;
    }
    say(&format!(
        "{} found. Restore the objects from a backup or from the bucket's versions, under the same names \
         (blobs/<first two characters>/<hash>, or bundles/<bundle>), and scrub again.",
        count(done.damages, "damage", "damages")
    ));
    say(&match (options.care, done.noted_lost) {
        (ScrubCare::Report, _) => {
            "If the owner still has the files, publishing them again also works: run `handbill scrub --fix` first, so that \
             the publish stores missing contents."
                .to_owned()
        }
        (ScrubCare::Fix, recorded) => format!(
            "{} recorded. Publishing the same files again stores them.",
            count(recorded, "more missing content is", "more missing contents are")
        ),
    });
    ExitCode::FAILURE
}

fn progress_text(so_far: &ScrubProgress) -> String {
    format!(
        "{} checked ({}), {}, {}",
        count(so_far.contents, "content", "contents"),
        size(so_far.bytes),
        count(so_far.versions, "manifest", "manifests"),
        count(so_far.objects, "object", "objects"),
    )
}

fn damage_text(damage: &Damage) -> String {
    let place = damage.bundle.map(|id| format!(" in bundles/{id}")).unwrap_or_default();
    let (hash, fault) = (damage.hash, &damage.fault);
    format!("DAMAGE content {hash}{place}: {fault}\n       affects {}", harm_text(&damage.harmed))
}

fn malformed_text(manifest: &MalformedManifest) -> String {
    format!(
        "DAMAGE version {}: its manifest in the database cannot be read. Publish its files again, or restore the row from a \
         backup.\n       affects {}",
        manifest.version,
        harm_text(&manifest.harmed)
    )
}

/// The affected hosts, in one line.
pub(crate) fn harm_text(harmed: &[Harmed]) -> String {
    if harmed.is_empty() {
        return "no existing version".to_owned();
    }
    let hosts = harmed.iter().map(|harmed| {
        let live = if harmed.is_live { ", live" } else { "" };
        format!("{} (version {}{live})", harmed.host, harmed.seq)
    });
    hosts.collect::<Vec<_>>().join(", ")
}

fn orphan_text(orphan: &Orphan) -> String {
    let object = &orphan.object;
    let fate = match orphan.fate {
        OrphanFate::Foreign => "it does not belong to Handbill and stays; check it yourself",
        OrphanFate::Removable => "unreferenced",
        OrphanFate::Removed => "unreferenced; removed",
    };
    format!("ORPHAN {} ({}, written at {}): {fate}", object.name, size(object.size_bytes), object.written_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmed_versions_are_listed_with_live_ones_marked() {
        let harmed = |host: &str, seq, is_live| Harmed { host: host.parse().unwrap(), seq, is_live };
        assert_eq!(
            harm_text(&[harmed("my-page-a1b2", 3, true), harmed("my-page-a1b2", 1, false)]),
            "my-page-a1b2 (version 3, live), my-page-a1b2 (version 1)"
        );
        assert_eq!(harm_text(&[]), "no existing version");
    }
}
