//! A backup is taken during operation, and restored as the same system elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use handbill_tests::{Agent, Mode, PATIENCE, Reply, Value, World, eventually, program};
use sqlx::{Connection, SqliteConnection};

use super::{failed, keeper, large_page, object_of, succeeded};
use crate::expectations::{assert_serves, front_page, page_saying};

const EXPIRY: Duration = Duration::from_secs(31 * 60);
/// Together they must stay below a day, because spooled uploads are kept for one.
const SWEEPS: u32 = 12;
/// An orphaned job is taken over after its worker has missed its heartbeats.
const TAKE_OVER: Duration = Duration::from_secs(40);
/// Publishes wait, with late deadlines.
const HOLDING: &str = "publish.before_blob_put:fail,answer.wait_ms:instead=600000";

/// A world with many publishes.
async fn busy_world() -> World {
    World::with(Mode::Embedded, program!())
        .env("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE", "100000")
        .env("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES", "100000")
        .env("HANDBILL_LIMITS__CLAIMED_ARTIFACTS", "100000")
        .start()
        .await
}

/// Every acknowledged page with its text.
#[derive(Clone, Default)]
struct Acknowledged(Arc<Mutex<Vec<(Reply, String)>>>);

impl Acknowledged {
    fn note(&self, published: Reply, html: String) {
        self.0.lock().unwrap().push((published, html));
    }

    fn by_now(&self) -> Vec<(Reply, String)> {
        self.0.lock().unwrap().clone()
    }
}

/// Publishes until it is stopped: small pages and spooled ones.
async fn storm(name: u32, agent: Agent, acknowledged: Acknowledged, is_over: Arc<AtomicBool>) {
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let words = format!("storm {name} page {number}");
        let html = if number % 5 == 0 { large_page(&words) } else { page_saying(&words) };
        let published = agent.publish(&format!("page-{name}-{}", number % 7), html.clone()).await;
        acknowledged.note(published.expect(201), html);
    }
}

async fn restored(world: &World, backup: &Path, data_dir: &Path) {
    let env = [("HANDBILL_DATA_DIR", data_dir.to_str().unwrap())];
    let output = succeeded(world.command(&["restore", backup.to_str().unwrap()], &env).await);
    assert!(output.contains("Restored to"), "{output}");
    assert_eq!(fs::metadata(data_dir).unwrap().permissions().mode() & 0o777, 0o700);
    world.api().kill();
    world.api().restart_with(&env).await;
}

/// Neither the scrub nor the doctor finds a fault.
async fn assert_sound(world: &World, data_dir: &Path) {
    let env = [("HANDBILL_DATA_DIR", data_dir.to_str().unwrap())];
    let scrubbed = succeeded(world.command(&["scrub"], &env).await);
    assert!(scrubbed.contains("No damage found") && !scrubbed.contains("ORPHAN"), "{scrubbed}");
    succeeded(world.command(&["ledger", "check"], &env).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_taken_under_load_restores_every_acknowledged_publish() {
    let world = busy_world().await;
    let (agent, owner) = keeper(&world).await;
    agent.buy_credit(5.0).paying("dev:5").await.expect(200);
    let (acknowledged, is_over) = (Acknowledged::default(), Arc::new(AtomicBool::new(false)));
    let storms: Vec<_> = (0..4)
        .map(|name| tokio::spawn(storm(name, agent.clone(), acknowledged.clone(), is_over.clone())))
        .collect();
    eventually(PATIENCE, "a storm", async || (acknowledged.by_now().len() >= 40).then_some(())).await;
    let before = acknowledged.by_now();
    let backup = world.folder().join("backup");
    // Contents are swept meanwhile: provisional accounts sign up, expire and are purged with the contents
    // that only they had.
    let sweeps = async {
        for leaver in 0..SWEEPS {
            let words = format!("gone soon {leaver}");
            world.agent().await.publish("my-page", large_page(&words)).await.expect(201);
            world.advance(EXPIRY);
            world.operator().run_cleanup().await.expect(200);
        }
    };
    let path = backup.to_str().unwrap().to_owned();
    let args = ["backup", path.as_str()];
    let (taken, ()) = tokio::join!(world.command(&args, &[]), sweeps);
    succeeded(taken);
    let after = acknowledged.by_now();
    is_over.store(true, Ordering::Relaxed);
    for storm in storms {
        storm.await.unwrap();
    }
    assert!(after.len() > before.len(), "nothing was published meanwhile");
    assert_private(&backup);

    let data_dir = world.folder().join("elsewhere/data");
    restored(&world, &backup, &data_dir).await;
    eventually(TAKE_OVER, "the end of the jobs that waited", async || {
        let env = [("HANDBILL_DATA_DIR", data_dir.to_str().unwrap())];
        let examined = world.command(&["doctor"], &env).await.output;
        examined.contains("0 jobs are waiting, 0 are dead").then_some(())
    })
    .await;
    assert_sound(&world, &data_dir).await;
    let visitor = world.visitor();
    for (published, html) in &before {
        let slug = published.string("host").rsplit_once('-').unwrap().0.to_owned();
        let versions = agent.artifact(&slug).await.expect(200);
        let sequence = published.integer("version");
        let is_there = versions.at("versions").as_array().unwrap().iter().any(|one| one["seq"] == sequence);
        assert!(is_there, "version {sequence} of {slug} was acknowledged and is not there");
        agent.activate(&slug, sequence).await.expect(200);
        assert_eq!(front_page(&visitor, published).await.expect(200).text(), *html);
    }
    assert_eq!(agent.usage().await.expect(200).number("credits_usd"), 5.0);
    owner.me().await.expect(200);
    agent.publish("once-more", page_saying("it goes on")).await.expect(201);
    // Publishing existing content again keeps it.
    let (_, html) = &before[0];
    let again = agent.publish("the-same-again", html.clone()).await.expect(201);
    assert_eq!(front_page(&visitor, &again).await.expect(200).text(), *html);
}

fn assert_private(backup: &Path) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(backup), 0o700);
    for file in ["handbill.db", "queue.db", "manifest.json"] {
        assert_eq!(mode(&backup.join(file)), 0o600, "{file}");
    }
    let left: Vec<_> = fs::read_dir(backup)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["handbill.db", "queue.db", "manifest.json", "blobs"].contains(&name.as_str()))
        .collect();
    assert_eq!(left, Vec::<String>::new(), "the databases were not closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blob_swept_during_a_backup_does_not_damage_it() {
    let world = busy_world().await;
    let (agent, _) = keeper(&world).await;
    let published = agent.publish("kept-page", page_saying("kept")).await.expect(201);
    let leaver = world.agent().await;
    leaver.publish("gone-page", page_saying("gone")).await.expect(201);
    world.advance(EXPIRY);
    let backup = world.folder().join("backup");
    let path = backup.to_str().unwrap();
    let sweep = async {
        // The first copy of the database exists, and refers to content that is swept now.
        eventually(PATIENCE, "the copy of the database", async || {
            backup.join("handbill.db").exists().then_some(())
        })
        .await;
        assert_eq!(world.operator().run_cleanup().await.expect(200).integer("blobs_deleted"), 1);
    };
    let (args, waiting) =
        (["backup", path], [("HANDBILL_TEST_FAULTS", "backup.before_contents:pause_ms=2000")]);
    let (taken, ()) = tokio::join!(world.command(&args, &waiting), sweep);
    let output = succeeded(taken);
    assert!(output.contains("1 account,") && output.contains("1 content "), "{output}");
    let data_dir = world.folder().join("restored");
    restored(&world, &backup, &data_dir).await;
    assert_sound(&world, &data_dir).await;
    assert_eq!(front_page(&world.visitor(), &published).await.expect(200).text(), page_saying("kept"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_publish_in_a_backup_is_executed_after_the_restore() {
    let world = busy_world().await;
    let (agent, _) = keeper(&world).await;
    let holding = [("HANDBILL_TEST_FAULTS", HOLDING)];
    world.api().restart_with(&holding).await;
    let pages = [("small", page_saying("it waited")), ("large", large_page("it waited"))];
    let waiting: Vec<_> = pages
        .iter()
        .map(|(slug, html)| {
            let call = agent.publish(slug, html.clone());
            tokio::spawn(async move { call.try_send().await.map(drop) })
        })
        .collect();
    eventually(PATIENCE, "two publishes that wait", async || {
        (world.jobs("publish").await.len() == 2).then_some(())
    })
    .await;
    let backup = world.folder().join("backup");
    succeeded(world.command(&["backup", backup.to_str().unwrap()], &[]).await);
    waiting.iter().for_each(tokio::task::JoinHandle::abort);

    let data_dir = world.folder().join("restored");
    restored(&world, &backup, &data_dir).await;
    for (slug, html) in &pages {
        let artifact = eventually(TAKE_OVER, "the publish that waited", async || {
            Some(agent.artifact(slug).await).filter(|reply| reply.status == 200)
        })
        .await;
        assert_eq!(front_page(&world.visitor(), &artifact).await.expect(200).text(), *html);
    }
    assert_sound(&world, &data_dir).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_restores_private_links_and_generated_secrets() {
    let world = World::with(Mode::Embedded, program!()).env("HANDBILL_SECRETS__SIGNING", "").start().await;
    let (agent, _) = keeper(&world).await;
    agent.buy_credit(5.0).paying("dev:5").await.expect(200);
    agent.publish("secret-page", page_saying("for few")).await.expect(201);
    let private = agent.set_visibility("secret-page", "private").await.expect(200);
    let backup = world.folder().join("backup");
    let output = succeeded(world.command(&["backup", backup.to_str().unwrap()], &[]).await);
    assert!(output.contains("It includes the signing secret from the data directory"), "{output}");
    let secret = backup.join("signing-secret");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let data_dir = world.folder().join("restored");
    restored(&world, &backup, &data_dir).await;
    let opened = world.visitor().open(&private.string("signed_url")).await.expect(200);
    assert_eq!(opened.text(), page_saying("for few"));
    assert_eq!(
        fs::read(data_dir.join("signing-secret")).unwrap(),
        fs::read(world.folder().join("data/signing-secret")).unwrap()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn incomplete_backup_is_not_restored_and_nothing_is_overwritten() {
    let world = busy_world().await;
    let (agent, _) = keeper(&world).await;
    let html = page_saying("to be kept");
    let published = agent.publish("my-page", html.clone()).await.expect(201);
    let backup = world.folder().join("backup");
    let path = backup.to_str().unwrap();
    succeeded(world.command(&["backup", path], &[]).await);
    let again = failed(world.command(&["backup", path], &[]).await);
    assert!(again.contains("not empty"), "{again}");
    let inside = world.folder().join("data/backup");
    let within = failed(world.command(&["backup", inside.to_str().unwrap()], &[]).await);
    assert!(within.contains("which is being backed up") && !inside.exists(), "{within}");

    let in_use = failed(world.command(&["restore", path], &[]).await);
    assert!(in_use.contains("data directory") && in_use.contains("not empty"), "{in_use}");
    let data_dir = world.folder().join("restored");
    let env = [("HANDBILL_DATA_DIR", data_dir.to_str().unwrap())];
    let object = object_of(&backup.join("blobs/blobs"), &html);
    for damaged in [object, backup.join("handbill.db"), backup.join("queue.db")] {
        let whole = fs::read(&damaged).unwrap();
        let mut changed = whole.clone();
        changed[20] ^= 1;
        fs::write(&damaged, changed).unwrap();
        let refused = failed(world.command(&["restore", path], &env).await);
        assert!(refused.contains("damaged"), "{refused}");
        let left = fs::read_dir(&data_dir).map_or(0, Iterator::count);
        assert_eq!(left, 0, "a refused restore leaves nothing");
        fs::write(&damaged, whole).unwrap();
    }
    fs::rename(backup.join("manifest.json"), world.folder().join("aside")).unwrap();
    let cut_off = failed(world.command(&["restore", path], &env).await);
    assert!(cut_off.contains("no manifest.json"), "{cut_off}");
    fs::rename(world.folder().join("aside"), backup.join("manifest.json")).unwrap();
    restored(&world, &backup, &data_dir).await;
    assert_eq!(front_page(&world.visitor(), &published).await.expect(200).text(), html);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_reports_already_lost_content_and_contains_the_rest() {
    let world = busy_world().await;
    let (agent, _) = keeper(&world).await;
    let (lost, kept) = (page_saying("lost"), page_saying("kept"));
    agent.publish("lost-page", lost.clone()).await.expect(201);
    let published = agent.publish("kept-page", kept.clone()).await.expect(201);
    fs::remove_file(object_of(&super::objects_of(&world), &lost)).unwrap();
    let backup = world.folder().join("backup");
    let output = failed(world.command(&["backup", backup.to_str().unwrap()], &[]).await);
    assert!(output.contains("DAMAGE: 1 content"), "{output}");
    let data_dir = world.folder().join("restored");
    restored(&world, &backup, &data_dir).await;
    assert_eq!(front_page(&world.visitor(), &published).await.expect(200).text(), kept);
    let env = [("HANDBILL_DATA_DIR", data_dir.to_str().unwrap())];
    let scrubbed = failed(world.command(&["scrub"], &env).await);
    assert!(scrubbed.contains("lost-page-"), "{scrubbed}");
}

async fn waiting_publishes(world: &World) -> usize {
    world.jobs("publish").await.iter().filter(|job| job.status != "Done").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_upload_is_reported_and_the_backup_contains_the_rest() {
    let world = busy_world().await;
    let (agent, _) = keeper(&world).await;
    let published = agent.publish("kept-page", page_saying("kept")).await.expect(201);
    world.api().restart_with(&[("HANDBILL_TEST_FAULTS", HOLDING)]).await;
    let calls = ["sound-upload", "unread-upload"].map(|slug| agent.publish(slug, large_page(slug)));
    let waiting = calls.map(|call| tokio::spawn(async move { call.try_send().await.map(drop) }));
    let spool = world.folder().join("data/blobs/spool");
    let uploads = eventually(PATIENCE, "two publishes that wait", async || {
        let mut uploads: Vec<_> = fs::read_dir(&spool).ok()?.map(|entry| entry.unwrap().path()).collect();
        // A file that is being written has another name.
        uploads.retain(|path| !path.to_string_lossy().contains('#'));
        (uploads.len() == 2 && waiting_publishes(&world).await == 2).then_some(uploads)
    })
    .await;
    let [unread, sound] = [&uploads[0], &uploads[1]].map(|path| path.file_name().unwrap().to_str().unwrap());
    fs::remove_file(&uploads[0]).unwrap();
    std::os::unix::fs::symlink(&uploads[0], &uploads[0]).unwrap();
    let backup = world.folder().join("backup");
    let output = failed(world.command(&["backup", backup.to_str().unwrap()], &[]).await);
    assert!(output.contains("DAMAGE: 1 upload") && output.contains(&format!("spool/{unread}")), "{output}");
    assert!(!output.contains(sound), "{output}");
    waiting.iter().for_each(tokio::task::JoinHandle::abort);

    let data_dir = world.folder().join("restored");
    restored(&world, &backup, &data_dir).await;
    assert_eq!(front_page(&world.visitor(), &published).await.expect(200).text(), page_saying("kept"));
    let done = eventually(TAKE_OVER, "the publish whose upload could be read", async || {
        let mut found = Vec::new();
        for slug in ["sound-upload", "unread-upload"] {
            let artifact = agent.artifact(slug).await;
            found.extend((artifact.status == 200).then_some((slug, artifact)));
        }
        found.pop()
    })
    .await;
    let page = front_page(&world.visitor(), &done.1).await.expect(200);
    assert_eq!(page.text(), large_page(done.0));
}

/// Changes a backup to what the release before the last schema change would have written.
async fn age(backup: &Path) {
    let database = backup.join("handbill.db");
    let address = format!("sqlite://{}", database.display());
    let mut connection = SqliteConnection::connect(&address).await.unwrap();
    let undone = "DROP INDEX artifacts_by_change; DROP INDEX versions_shown;
        DROP TRIGGER daily_views_inserted; DROP TRIGGER daily_views_updated; DROP TABLE monthly_views;
        DROP INDEX ledger_entries_by_time;
        ALTER TABLE versions DROP COLUMN title; ALTER TABLE accounts DROP COLUMN name;
        ALTER TABLE tokens DROP COLUMN secret_start; ALTER TABLE tokens DROP COLUMN last_used_from;
        DROP INDEX accounts_with_retention; DROP INDEX artifacts_with_retention;
        ALTER TABLE accounts DROP COLUMN versions_kept; ALTER TABLE accounts DROP COLUMN versions_days;
        ALTER TABLE artifacts DROP COLUMN versions_kept; ALTER TABLE artifacts DROP COLUMN versions_days;
        DROP TRIGGER routes_repointed; DROP TABLE former_versions;
        DROP TABLE erasures; ALTER TABLE artifacts DROP COLUMN purged_at;
        DROP TABLE oauth_grants; DROP TABLE oauth_devices; ALTER TABLE tokens DROP COLUMN renewable_until;
        DROP TRIGGER routes_inserted; DROP TRIGGER routes_updated; DROP TRIGGER routes_deleted;
        DROP TABLE route_changes; DROP TABLE route_log; DROP TABLE appeals; DROP TABLE held_pages; DROP TABLE blocked_contents;
        ALTER TABLE reports DROP COLUMN category; DROP TABLE rulings; DROP TABLE monthly_limits;
        DROP TABLE card_payments; DROP TABLE early_card_reversals;
        DROP TABLE content_verdicts; DROP INDEX versions_pending; ALTER TABLE routes DROP COLUMN held_from;
        ALTER TABLE blobs DROP COLUMN lost_at; DROP INDEX artifacts_by_account;
        DROP INDEX artifacts_listed; DROP INDEX tokens_by_minter; DROP INDEX audit_by_person;
        ALTER TABLE audit DROP COLUMN user_id; ALTER TABLE audit DROP COLUMN via;
        ALTER TABLE audit DROP COLUMN address; ALTER TABLE sessions DROP COLUMN address;
        ALTER TABLE sessions DROP COLUMN user_agent;
        ALTER TABLE accounts DROP COLUMN suspended_at; ALTER TABLE accounts DROP COLUMN suspension_reason;
        ALTER TABLE routes DROP COLUMN suspended_at; ALTER TABLE routes DROP COLUMN link_generation;
        ALTER TABLE artifacts DROP COLUMN link_generation; DROP INDEX blobs_by_bundle; DROP TABLE bundles;
        ALTER TABLE blobs DROP COLUMN bundle; ALTER TABLE blobs DROP COLUMN bundle_offset;
        DELETE FROM seaql_migrations WHERE version >= 'm0007';
        PRAGMA wal_checkpoint(TRUNCATE)";
    sqlx::raw_sql(undone).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let path = backup.join("manifest.json");
    let mut manifest: Value = fs::read_to_string(&path).unwrap().parse().unwrap();
    let bytes = fs::read(&database).unwrap();
    manifest["schema"] = "m0006_indexes_in_use".into();
    for table in [
        "rulings",
        "monthly_limits",
        "card_payments",
        "early_card_reversals",
        "appeals",
        "held_pages",
        "blocked_contents",
        "content_verdicts",
        "bundles",
    ] {
        manifest["rows"].as_object_mut().unwrap().remove(table);
    }
    manifest["files"]["handbill.db"]["size_bytes"] = bytes.len().into();
    manifest["files"]["handbill.db"]["sha256"] = domain::BlobHash::of(&bytes).to_string().into();
    fs::write(&path, manifest.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_an_earlier_release_is_brought_to_the_newest_schema() {
    let world = busy_world().await;
    let (agent, _) = keeper(&world).await;
    let published = agent.publish("my-page", page_saying("of old")).await.expect(201);
    let backup = world.folder().join("backup");
    succeeded(world.command(&["backup", backup.to_str().unwrap()], &[]).await);
    age(&backup).await;
    let data_dir = world.folder().join("restored");
    restored(&world, &backup, &data_dir).await;
    assert_sound(&world, &data_dir).await;
    assert_eq!(front_page(&world.visitor(), &published).await.expect(200).text(), page_saying("of old"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_and_restore_on_postgres_explain_the_alternative() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    let published = agent.publish("my-page", page_saying("here")).await.expect(201);
    let path = world.folder().join("backup");
    let refused = failed(world.command(&["backup", path.to_str().unwrap()], &[]).await);
    assert!(refused.contains("pg_dump") && refused.contains("docs/operations/backup.md"), "{refused}");
    assert!(!path.exists());
    assert_serves(&front_page(&world.visitor(), &published).await, &page_saying("here"));
}
