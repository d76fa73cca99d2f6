//! The end of a world: after everything unused was swept, exactly what is in use is left.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::BlobHash;
use handbill_tests::Mode;

use super::reply_to;
use crate::model::state::{Artifacts, OpId};
use crate::scene::Scene;

/// Longer than any grace period.
const OVER_ALL_GRACE: Duration = Duration::from_secs(26 * 3600);
const WHOLE: &str = "the whole";

pub async fn check_the_end(scene: &Scene) {
    check_ledgers(scene).await;
    scene.world.advance(OVER_ALL_GRACE);
    let cleaned = reply_to(scene, WHOLE, || scene.world.operator().run_cleanup()).await;
    if cleaned.is_none_or(|reply| reply.status != 200) {
        scene.journal.violation(WHOLE, "the operator's cleanup failed");
    }
    // A sweep leaves what another one is working on, and the advance may have started one.
    super::drain(scene).await;
    // The schedules also run the sweeps, but perhaps not before this check.
    for schedule in ["sweep-blobs", "sweep-records"] {
        let sweep = || {
            let run = scene.world.operator().post(&format!("/internal/schedules/{schedule}/run"));
            run.header("X-Operator", "torture")
        };
        let swept = reply_to(scene, WHOLE, sweep).await;
        if swept.is_none_or(|reply| reply.status != 200) {
            scene.journal.violation(WHOLE, format!("{schedule} could not be run"));
        }
    }
    super::drain(scene).await;
    let scrubbed = scene.world.command(&["scrub"], &[]).await;
    let is_bad = |line: &&str| line.contains("ORPHAN") || line.contains("DAMAGE");
    let bad: Vec<_> = scrubbed.output.lines().filter(is_bad).collect();
    if !bad.is_empty() || !scrubbed.status.success() {
        scene.journal.violation("the blob store", format!("scrub found {bad:?}"));
    }
    check_objects(scene);
    check_logs(scene);
}

async fn check_ledgers(scene: &Scene) {
    let checked = scene.world.command(&["ledger", "check"], &[]).await;
    if !checked.status.success() {
        scene.journal.violation(WHOLE, format!("ledger check: {}", checked.output));
    }
}

/// Checks that every content of an existing or restorable version is stored, and no other.
fn check_objects(scene: &Scene) {
    if scene
        .all_accounts()
        .iter()
        .flat_map(|one| &one.sites)
        .any(|site| site.model.lock().unwrap().is_given_up())
    {
        return;
    }
    let (mut possible, mut needed, mut published) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for account in scene.all_accounts() {
        for site in &account.sites {
            let model = site.model.lock().unwrap();
            let hashes = |files: &crate::model::files::FileSet| {
                files.files.values().map(|content| BlobHash::of(content).to_string()).collect::<Vec<_>>()
            };
            model.surely_published().for_each(|files| published.extend(hashes(files)));
            let artifacts = model.artifacts();
            let versions: BTreeSet<OpId> = artifacts.iter().flat_map(Artifacts::versions).collect();
            let contents = versions.iter().filter_map(|version| model.files_of(*version)).flat_map(hashes);
            let contents: Vec<String> = contents.collect();
            // If two states are possible, only contents of both are needed.
            if artifacts.len() == 1 {
                needed.extend(contents.iter().cloned());
            }
            possible.extend(contents);
            let kept = artifacts.iter().flat_map(Artifacts::kept);
            possible.extend(kept.filter_map(|version| model.files_of(version)).flat_map(hashes));
        }
    }
    possible.insert(BlobHash::of(super::leftovers::PROBE.as_bytes()).to_string());
    let mut stored = objects(&folder_of_objects(scene).join("blobs"));
    let strays: Vec<_> = stored.difference(&possible).collect();
    if !strays.is_empty() {
        let text = format!("{} objects are unused, such as {:?}", strays.len(), strays.first());
        scene.journal.violation("the blob store", text);
    }
    let bundled = bundled(&folder_of_objects(scene).join("bundles"), &possible, scene);
    let purged: BTreeSet<String> = published.difference(&possible).cloned().collect();
    if let Some(purged) = bundled.intersection(&purged).next() {
        scene.journal.violation("the blob store", format!("a bundle has the purged content {purged}"));
    }
    stored.extend(bundled);
    let missing: Vec<_> = needed.difference(&stored).collect();
    if !missing.is_empty() {
        let text = format!("{} contents are missing, such as {:?}", missing.len(), missing.first());
        scene.journal.violation("the blob store", text);
    }
}

fn folder_of_objects(scene: &Scene) -> PathBuf {
    match scene.world.mode() {
        Mode::Embedded => scene.world.folder().join("data/blobs"),
        Mode::Production => scene.world.folder().join("s3/handbill/blobs"),
    }
}

/// The objects below a directory, by their hash. A server's own files have other names.
fn objects(folder: &Path) -> BTreeSet<String> {
    const HASH_LENGTH: usize = 64;
    let mut found = BTreeSet::new();
    for directory in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        for object in std::fs::read_dir(directory.path()).into_iter().flatten().flatten() {
            let name = object.file_name().to_string_lossy().into_owned();
            if name.len() == HASH_LENGTH && name.chars().all(|letter| letter.is_ascii_hexdigit()) {
                found.insert(name);
            }
        }
    }
    found
}

/// The contents of the bundles below a directory, by their hash. A bundle may have contents that are not in
/// use any more, but none that were never published.
fn bundled(folder: &Path, possible: &BTreeSet<String>, scene: &Scene) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for object in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = object.file_name().to_string_lossy().into_owned();
        if name.parse::<domain::BundleId>().is_err() {
            continue;
        }
        let bytes = std::fs::read(object.path()).unwrap_or_default();
        match hashes_in(&bytes) {
            Some(hashes) if hashes.iter().any(|hash| possible.contains(hash)) => found.extend(hashes),
            _ => scene.journal.violation("the blob store", format!("the bundle {name} is unused or broken")),
        }
    }
    found
}

/// The hashes that a bundle's index lists: see `store/src/bundle.rs`.
fn hashes_in(bundle: &[u8]) -> Option<Vec<String>> {
    const ENTRY_BYTES: usize = 64;
    let (rest, end) = bundle.split_at_checked(bundle.len().checked_sub(16)?)?;
    let number = usize::try_from(u64::from_be_bytes(end.get(..8)?.try_into().ok()?)).ok()?;
    let index = rest.get(rest.len().checked_sub(number.checked_mul(ENTRY_BYTES)?)?..)?;
    let hash = |entry: &[u8]| Some(BlobHash::from_bytes(entry.get(..32)?.try_into().ok()?).to_string());
    index.chunks_exact(ENTRY_BYTES).map(hash).collect()
}

/// The logs contain no panic and no secret.
fn check_logs(scene: &Scene) {
    for line in scene.world.logs().lines() {
        if line.contains("panicked at") {
            scene.journal.violation(WHOLE, format!("a process panicked: {line}"));
        }
        if line.contains("svc_sk_") {
            scene.journal.violation(WHOLE, "a token stands in a log");
        }
    }
}
