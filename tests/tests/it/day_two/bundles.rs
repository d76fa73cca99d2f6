//! Sites whose small files share an object: published, scrubbed, lost, swept, backed up and moved.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use handbill_tests::{Agent, Mode, PATIENCE, Reply, World, eventually, in_both_modes, program};

use super::{failed, keeper, objects_of, succeeded};
use crate::expectations::page_saying;

const FILES: usize = 20;
/// Requests to S3 for one publish: the bundle.
const PUTS_MAX: usize = 1;
const EXPIRY: Duration = Duration::from_secs(31 * 60);

/// Small files with these words, one of them the front page. With five words they have 113 KB together.
fn site(words: &str) -> Vec<(String, String)> {
    let file = |number: usize| {
        let path = if number == 0 { "index.html".to_owned() } else { format!("part/{number}.html") };
        (path, page_saying(&format!("{words} {number} ").repeat(250)))
    };
    (0..FILES).map(file).collect()
}

async fn publish_site(agent: &Agent, slug: &str, files: &[(String, String)]) -> Reply {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, html)| (&**path, html.as_bytes())).collect();
    agent.publish_files(slug, &files).await.expect(201)
}

async fn assert_served(world: &World, published: &Reply, files: &[(String, String)]) {
    let visitor = world.visitor();
    for (path, html) in files {
        let path = path.strip_suffix("index.html").unwrap_or(path);
        let page = visitor.open(&format!("{}{path}", published.string("url"))).await.expect(200);
        assert_eq!(page.text(), *html, "{path}");
    }
}

fn bundles_of(world: &World) -> Vec<PathBuf> {
    let folder = objects_of(world).parent().unwrap().join("bundles");
    let names = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    names.filter(|path| path.file_name().unwrap().len() == 26).collect()
}

fn singles_of(world: &World) -> usize {
    let folders = fs::read_dir(objects_of(world)).into_iter().flatten().map(|entry| entry.unwrap().path());
    folders.map(|folder| fs::read_dir(folder).unwrap().count()).sum()
}

in_both_modes! {
    async fn the_files_of_a_site_are_one_object_and_every_one_is_served(world: World) {
        let (agent, _) = keeper(&world).await;
        let files = site("one one one one one");
        let puts_before = (world.mode() == Mode::Production).then(|| world.s3().puts());
        let published = publish_site(&agent, "my-site", &files).await;
        if let Some(before) = puts_before {
            let puts = world.s3().puts() - before;
            assert!(puts <= PUTS_MAX, "{puts} puts");
        }
        assert_eq!((bundles_of(&world).len(), singles_of(&world)), (1, 0));
        assert_served(&world, &published, &files).await;
        // One changed file has an object of its own; the others are shared.
        let mut changed = files.clone();
        changed[3].1 = page_saying("changed");
        let second = publish_site(&agent, "my-site", &changed).await;
        assert_eq!((bundles_of(&world).len(), singles_of(&world)), (1, 1));
        assert_served(&world, &second, &changed).await;
        let scrubbed = succeeded(world.command(&["scrub"], &[]).await);
        assert!(scrubbed.contains("No damage found") && scrubbed.contains("2 objects"), "{scrubbed}");
    }

    async fn a_lost_bundle_is_named_and_its_contents_are_stored_again_when_they_are_published(world: World) {
        let (agent, _) = keeper(&world).await;
        let files = site("lost");
        let published = publish_site(&agent, "my-site", &files).await;
        let [bundle] = &bundles_of(&world)[..] else { panic!("not one bundle") };
        let whole = fs::read(bundle).unwrap();
        let mut flipped = whole.clone();
        flipped[100] ^= 1;
        fs::write(bundle, flipped).unwrap();
        let name = format!("bundles/{}", bundle.file_name().unwrap().to_str().unwrap());
        let output = failed(world.command(&["scrub"], &[]).await);
        assert!(output.contains("1 damage found") && output.contains(&name), "{output}");
        fs::remove_file(bundle).unwrap();
        let output = failed(world.command(&["scrub", "--fix"], &[]).await);
        assert!(output.contains("20 more missing contents are recorded"), "{output}");
        // The edge must not serve them from its cache.
        world.edge().restart().await;
        publish_site(&agent, "second", &files[..10]).await;
        assert_served(&world, &published, &files[..10]).await;
        let output = failed(world.command(&["scrub"], &[]).await);
        assert!(output.contains("10 damages found"), "{output}");
        // The rest comes from the operator's backup.
        fs::write(bundle, whole).unwrap();
        publish_site(&agent, "third", &files[10..]).await;
        assert_served(&world, &published, &files).await;
        succeeded(world.command(&["scrub"], &[]).await);
        assert_eq!((bundles_of(&world).len(), singles_of(&world)), (1, 10));
    }

    async fn a_purged_account_leaves_no_bundle_and_what_others_have_stays(world: World) {
        let (agent, _) = keeper(&world).await;
        let (shared, alone) = (site("shared"), site("alone"));
        publish_site(&world.agent().await, "first", &shared).await;
        publish_site(&world.agent().await, "second", &alone).await;
        let kept = publish_site(&agent, "kept", &shared[..5]).await;
        assert_eq!(bundles_of(&world).len(), 2);
        world.advance(EXPIRY);
        let cleaned = world.operator().run_cleanup().await.expect(200);
        assert_eq!(cleaned.integer("blobs_deleted"), 35);
        assert_eq!(bundles_of(&world).len(), 1);
        assert_served(&world, &kept, &shared[..5]).await;
        // A day later the rest is moved to a smaller bundle, and the old one is deleted.
        let large = fs::metadata(&bundles_of(&world)[0]).unwrap().len();
        let is_repacked = async || {
            world.advance(Duration::from_secs(3600));
            match &bundles_of(&world)[..] {
                [bundle] => (fs::metadata(bundle).unwrap().len() * 2 < large).then_some(()),
                _ => None,
            }
        };
        world.advance(Duration::from_secs(24 * 3600));
        eventually(PATIENCE, "a smaller bundle", is_repacked).await;
        world.edge().restart().await;
        assert_served(&world, &kept, &shared[..5]).await;
        let scrubbed = succeeded(world.command(&["scrub"], &[]).await);
        assert!(scrubbed.contains("5 contents checked") && !scrubbed.contains("ORPHAN"), "{scrubbed}");
    }
}

in_both_modes! {
    #[settings("HANDBILL_TEST_FAULTS" = "publish.after_blob_put:fail,answer.wait_ms:instead=1500")]
    async fn a_bundle_whose_publish_is_cancelled_is_deleted_a_day_later(world: World) {
        let files = site("never settled");
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(path, html)| (path.as_str(), html.as_bytes())).collect();
        world.agent().await.publish_files("my-site", &files).await.refused(503, "overloaded");
        let [bundle] = &bundles_of(&world)[..] else { panic!("not one bundle") };
        let id = bundle.file_name().unwrap().to_str().unwrap().to_owned();
        // Its job fails again and again, and can be cancelled while it waits for the next attempt.
        eventually(PATIENCE, "the cancellation", async || {
            let cancel = world.operator().post(&format!("/internal/queues/publish/jobs/{id}/cancel"));
            let reply = cancel.header("X-Operator", "Ada").await;
            (reply.status == 200).then_some(())
        })
        .await;
        // An object that the queue does not know may belong to another database.
        let last = if id.ends_with('0') { '1' } else { '0' };
        let unknown = bundle.with_file_name(format!("{}{last}", &id[..id.len() - 1]));
        fs::copy(bundle, &unknown).unwrap();
        world.advance(Duration::from_secs(25 * 3600));
        eventually(PATIENCE, "the deletion", async || (!bundle.exists()).then_some(())).await;
        assert_eq!(bundles_of(&world), [unknown]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_backed_up_and_restored_and_damage_in_it_is_named() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (agent, _) = keeper(&world).await;
    let files = site("kept");
    let published = publish_site(&agent, "my-site", &files).await;
    let backup = world.folder().join("backup");
    succeeded(world.command(&["backup", backup.to_str().unwrap()], &[]).await);
    let [bundle] = &bundles_of(&world)[..] else { panic!("not one bundle") };
    let copy = backup.join("blobs/bundles").join(bundle.file_name().unwrap());
    let whole = fs::read(bundle).unwrap();
    assert_eq!(fs::read(&copy).unwrap(), whole);

    let mut flipped = whole.clone();
    flipped[100] ^= 1;
    fs::write(&copy, &flipped).unwrap();
    let data_dir = world.folder().join("restored");
    let env = [("HANDBILL_DATA_DIR", data_dir.to_str().unwrap())];
    let restore = ["restore", backup.to_str().unwrap()];
    let refused = failed(world.command(&restore, &env).await);
    assert!(refused.contains("the backup is damaged"), "{refused}");
    fs::write(&copy, &whole).unwrap();

    // A backup of an installation with one damaged content has the others.
    fs::write(bundle, &flipped).unwrap();
    let partial = world.folder().join("partial");
    let output = failed(world.command(&["backup", partial.to_str().unwrap()], &[]).await);
    assert!(output.contains("DAMAGE: 1 content") && output.contains("19 contents"), "{output}");
    let elsewhere = world.folder().join("partly-restored");
    let there = [("HANDBILL_DATA_DIR", elsewhere.to_str().unwrap())];
    succeeded(world.command(&["restore", partial.to_str().unwrap()], &there).await);

    succeeded(world.command(&restore, &env).await);
    world.api().kill();
    world.api().restart_with(&env).await;
    assert_served(&world, &published, &files).await;
    succeeded(world.command(&["scrub"], &env).await);
    // Published again, nothing is stored.
    publish_site(&agent, "again", &files).await;
    assert_eq!(fs::read_dir(data_dir.join("blobs/bundles")).unwrap().count(), 1);
}
