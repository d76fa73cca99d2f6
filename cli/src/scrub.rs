//! `handbill scrub`: is everything there that people have published, and is it whole? It runs beside the service.

use std::process::ExitCode;

use config::{Settings, Storage};
use domain::Chance;
use store::{
    Damage, Harmed, MalformedManifest, Orphan, OrphanFate, Scrub, ScrubCare, ScrubNews, ScrubProgress,
};

use crate::progress::{Progress, count, size};
use crate::{parts, say};

/// What is looked at, and what is done about it.
pub(crate) struct ScrubOptions {
    pub(crate) care: ScrubCare,
    /// So many contents, from a random one on; none: all.
    pub(crate) sample: Option<u64>,
}

pub(crate) async fn look_through(wish: &ScrubOptions, settings: &Settings) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let blobs = parts::open_blobs(settings)?;
    let mut progress = Progress::begin();
    let mut news = |news: ScrubNews| match news {
        ScrubNews::Damage(damage) => say(&told_damage(&damage)),
        ScrubNews::Malformed(manifest) => say(&told_malformed(&manifest)),
        ScrubNews::Orphan(orphan) => say(&told_orphan(&orphan)),
        ScrubNews::Progress(so_far) => progress.tell(|| told_progress(&so_far)),
    };
    let chance = Chance::from_system();
    let sample = wish.sample.map(|number| (number, &chance));
    let clock = parts::clock_of(&store, settings).await?;
    let at_once = match &settings.storage {
        Storage::Folder(_) => Scrub::OF_A_FOLDER_AT_ONCE,
        Storage::Bucket(bucket) => bucket.scrub_concurrency,
    };
    let scrub = Scrub { blobs: &blobs, care: wish.care, now: clock.now(), at_once };
    let (mut done, mut unlisted) = (store.integrity().scrub_contents(&scrub, sample, &mut news).await?, None);
    if wish.sample.is_none() {
        done = store.integrity().scrub_manifests(done, &mut news).await?;
        // A folder that cannot be looked into must not hide what was found by then.
        match store.integrity().scrub_objects(&scrub, done, &mut news).await {
            Ok(whole) => done = whole,
            Err(error) => unlisted = Some(error),
        }
    }
    store.close().await?;
    let concluded = conclude(wish, &done);
    let Some(error) = unlisted else { return Ok(concluded) };
    say(&format!(
        "the objects were not looked through to the end, so what nothing refers to is not known; mend this and scrub \
         again: {error:#}"
    ));
    Ok(ExitCode::FAILURE)
}

fn conclude(wish: &ScrubOptions, done: &ScrubProgress) -> ExitCode {
    say(&told_progress(done));
    let left = done.orphans - done.removed;
    if left > 0 && wish.care == ScrubCare::Report {
        say(&format!(
            "nothing refers to {}; `handbill scrub --fix` removes what is ours of that",
            count(left, "object", "objects")
        ));
    }
    if done.damages == 0 {
        say("no damage found");
        return ExitCode::SUCCESS;
    }
    say(&format!(
        "{} found. What to do: put the objects back from a backup or from the bucket's versions, under the same names \
         (blobs/<the first two characters>/<hash>), and scrub again",
        count(done.damages, "damage", "damages")
    ));
    say(&match (wish.care, done.noted_lost) {
        (ScrubCare::Report, _) => {
            "who has the files can publish them again instead: `handbill scrub --fix` has a publish \
             store contents that are missing"
                .to_owned()
        }
        (ScrubCare::Mend, noted) => format!(
            "{} noted: publishing the same files again stores what is missing",
            count(noted, "more missing content is", "more missing contents are")
        ),
    });
    ExitCode::FAILURE
}

fn told_progress(so_far: &ScrubProgress) -> String {
    format!(
        "{} looked at ({}), {}, {}",
        count(so_far.contents, "content", "contents"),
        size(so_far.bytes),
        count(so_far.versions, "manifest", "manifests"),
        count(so_far.objects, "object", "objects"),
    )
}

fn told_damage(damage: &Damage) -> String {
    format!("DAMAGE content {}: {}\n       harms {}", damage.hash, damage.fault, told_harm(&damage.harmed))
}

fn told_malformed(manifest: &MalformedManifest) -> String {
    format!(
        "DAMAGE version {}: its manifest in the database cannot be read; publish its files again, or take the row from a \
         backup\n       harms {}",
        manifest.version,
        told_harm(&manifest.harmed)
    )
}

/// The hosts that suffer, in a line.
pub(crate) fn told_harm(harmed: &[Harmed]) -> String {
    if harmed.is_empty() {
        return "no version that is still there".to_owned();
    }
    let told = harmed.iter().map(|harmed| {
        let live = if harmed.is_live { ", live" } else { "" };
        format!("{} (version {}{live})", harmed.host, harmed.seq)
    });
    told.collect::<Vec<_>>().join(", ")
}

fn told_orphan(orphan: &Orphan) -> String {
    let object = &orphan.object;
    let fate = match orphan.fate {
        OrphanFate::Foreign => "it is none of ours and stays; look yourself",
        OrphanFate::Removable => "nothing refers to it",
        OrphanFate::Removed => "nothing referred to it; removed",
    };
    format!("ORPHAN {} ({}, of {}): {fate}", object.name, size(object.size_bytes), object.written_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_harmed_is_named_with_what_visitors_see_first() {
        let harmed = |host: &str, seq, is_live| Harmed { host: host.parse().unwrap(), seq, is_live };
        assert_eq!(
            told_harm(&[harmed("my-page-a1b2", 3, true), harmed("my-page-a1b2", 1, false)]),
            "my-page-a1b2 (version 3, live), my-page-a1b2 (version 1)"
        );
        assert_eq!(told_harm(&[]), "no version that is still there");
    }
}
