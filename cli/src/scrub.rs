//! `handbill scrub`: checks that everything published is present and undamaged, while the service runs.

use std::process::ExitCode;

use config::{Settings, Storage};
use domain::Chance;
use serde_json::{Value, json};
use store::{
    Damage, Harmed, MalformedManifest, Orphan, OrphanFate, Scrub, ScrubCare, ScrubNews, ScrubProgress,
};

use crate::output::Form;
use crate::parts;
use crate::progress::{Progress, count, size};

/// What is checked, and what is done about problems.
pub(crate) struct ScrubOptions {
    pub(crate) care: ScrubCare,
    /// How many contents to check, from a random one on. `None`: all.
    pub(crate) sample: Option<u64>,
}

/// How many damages and how many orphans the JSON document lists. It has the counts of all.
const LISTED_MAX: usize = 10_000;

/// What was found, printed at once for people and collected for JSON.
struct Findings {
    form: Form,
    damages: Vec<Value>,
    orphans: Vec<Value>,
}

impl Findings {
    fn add_damage(&mut self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
        add(&mut self.damages, self.form, text, json);
    }

    fn add_orphan(&mut self, orphan: &Orphan) {
        add(&mut self.orphans, self.form, || orphan_text(orphan), || orphan_json(orphan));
    }
}

fn add(list: &mut Vec<Value>, form: Form, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
    form.say(text);
    if form == Form::Json && list.len() < LISTED_MAX {
        list.push(json());
    }
}

pub(crate) async fn execute(
    options: &ScrubOptions,
    form: Form,
    settings: &Settings,
) -> anyhow::Result<ExitCode> {
    let store = parts::open_store_in_use(settings).await?;
    let blobs = parts::open_blobs(settings)?;
    let mut progress = Progress::begin();
    let mut found = Findings { form, damages: Vec::new(), orphans: Vec::new() };
    let mut news = |news: ScrubNews| match news {
        ScrubNews::Damage(damage) => found.add_damage(|| damage_text(&damage), || damage_json(&damage)),
        ScrubNews::Malformed(manifest) => {
            found.add_damage(|| malformed_text(&manifest), || malformed_json(&manifest));
        }
        ScrubNews::Orphan(orphan) => found.add_orphan(&orphan),
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
    form.print(
        || conclusion(options, &done, unlisted.as_ref()),
        || scrubbed_json(&done, &found, unlisted.as_ref()),
    );
    let is_sound = done.damages == 0 && unlisted.is_none();
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn conclusion(options: &ScrubOptions, done: &ScrubProgress, unlisted: Option<&anyhow::Error>) -> String {
    let mut lines = vec![progress_text(done)];
    let left = done.orphans - done.removed;
    if left > 0 && options.care == ScrubCare::Report {
        lines.push(format!(
            "{} unreferenced. `handbill scrub --fix` removes those that belong to Handbill.",
            count(left, "object is", "objects are")
        ));
    }
    if done.damages == 0 {
        lines.push("No damage found.".to_owned());
    } else {
        lines.extend(advice(options, done));
    }
    lines.extend(unlisted.map(|error| {
        format!(
            "The objects could not all be listed, so unreferenced ones may be missing above. Fix this error and \
             scrub again: {error:#}"
        )
    }));
    lines.join("\n")
}

fn advice(options: &ScrubOptions, done: &ScrubProgress) -> [String; 2] {
    let restore = format!(
        "{} found. Restore the objects from a backup or from the bucket's versions, under the same names \
         (blobs/<first two characters>/<hash>, or bundles/<bundle>), and scrub again.",
        count(done.damages, "damage", "damages")
    );
    let publish = match (options.care, done.noted_lost) {
        (ScrubCare::Report, _) => {
            "If the owner still has the files, publishing them again also works: run `handbill scrub --fix` first, so that \
             the publish stores missing contents."
                .to_owned()
        }
        (ScrubCare::Fix, recorded) => format!(
            "{} recorded. Publishing the same files again stores them.",
            count(recorded, "more missing content is", "more missing contents are")
        ),
    };
    [restore, publish]
}

fn scrubbed_json(done: &ScrubProgress, found: &Findings, unlisted: Option<&anyhow::Error>) -> Value {
    json!({
        "contents": done.contents,
        "size_bytes": done.bytes,
        "versions": done.versions,
        "objects": done.objects,
        "damage_count": done.damages,
        "damages": found.damages,
        "recorded_lost": done.noted_lost,
        "unreferenced_count": done.orphans,
        "unreferenced": found.orphans,
        "removed": done.removed,
        "listing_error": unlisted.map(|error| format!("{error:#}")),
    })
}

fn damage_json(damage: &Damage) -> Value {
    json!({
        "content": damage.hash.to_string(),
        "bundle": damage.bundle.map(|id| id.to_string()),
        "message": damage.fault.to_string(),
        "affects": harm_json(&damage.harmed),
    })
}

fn malformed_json(manifest: &MalformedManifest) -> Value {
    json!({
        "version_id": manifest.version,
        "message": "its manifest in the database cannot be read",
        "affects": harm_json(&manifest.harmed),
    })
}

/// The affected versions.
pub(crate) fn harm_json(harmed: &[Harmed]) -> Value {
    let each = |Harmed { host, seq, is_live }: &Harmed| {
        let host = host.to_string();
        json!({ "host": host, "version": seq, "live": is_live })
    };
    harmed.iter().map(each).collect()
}

fn orphan_json(orphan: &Orphan) -> Value {
    let state = match orphan.fate {
        OrphanFate::Foreign => "foreign",
        OrphanFate::Removable => "removable",
        OrphanFate::Removed => "removed",
    };
    let object = &orphan.object;
    json!({
        "name": object.name,
        "size_bytes": object.size_bytes,
        "written_at": object.written_at.rfc3339(),
        "state": state,
    })
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
