//! A component is down for a while. The caller gets a hint to retry, nothing is half-written, lost or done
//! twice, and everything continues once the component is back.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use handbill_tests::{Agent, Cable, Mode, PATIENCE, Reply, Visitor, World, eventually, program};

use crate::expectations::{assert_serves, front_page, page_saying};

/// Without Redis a change waits until every edge's lease has expired, which is five seconds at first, and for
/// polling its outcome.
const WITHOUT_REDIS: Duration = Duration::from_secs(10);
/// A silent edge is waited for until its lease has expired, which is two seconds. The rest is for the publish
/// itself.
const CUT_OFF: Duration = Duration::from_secs(4);
/// An edge waits one second for a hanging database. The rest is for a busy machine.
const NOTICED: Duration = Duration::from_secs(3);
/// Longer than any trust that ends by itself.
const OUTAGE: Duration = Duration::from_secs(10);
const HEARD: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_publishes_go_on() {
    let world = World::with(Mode::Production, program!()).with_own_redis().start().await;
    let agent = world.agent().await;
    let first = agent.publish("my-page", page_saying("one")).await.expect(201);
    world.redis().stop();
    let started = Instant::now();
    let second = agent.publish("my-page", page_saying("two")).await.expect(201);
    assert!(started.elapsed() < WITHOUT_REDIS, "{:?}", started.elapsed());
    assert_eq!(second.integer("version"), 2);
    assert_serves(&front_page(&world.visitor(), &first).await, &page_saying("two"));
    agent.activate("my-page", 1).await.expect(200);
    assert_serves(&front_page(&world.visitor(), &first).await, &page_saying("one"));
    world.redis().start().await;
    agent.publish("my-page", page_saying("three")).await.expect(201);
    assert_serves(&front_page(&world.visitor(), &first).await, &page_saying("three"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edge_cut_off_from_redis_serves_nothing_stale() {
    let world = World::with(Mode::Production, program!()).start().await;
    let (scheme, rest) = world.setting("HANDBILL_REDIS__URL").split_once("://").unwrap();
    let (server, database) = rest.split_once('/').unwrap();
    let cable = Cable::to(server).await;
    let redis_url = format!("{scheme}://{}/{database}", cable.address());
    let edge = world.start_edge_with(&[("HANDBILL_REDIS__URL", &redis_url)]).await;
    let (agent, visitors) = (world.agent().await, [world.visitor().at(&edge), world.visitor()]);
    let published = agent.publish("my-page", page_saying("number 0")).await.expect(201);
    for visitor in &visitors {
        assert_serves(&front_page(visitor, &published).await, &page_saying("number 0"));
    }
    cable.cut();
    // First while its lease is valid, and then after it has expired.
    for number in 1..4 {
        let page = page_saying(&format!("number {number}"));
        let started = Instant::now();
        agent.publish("my-page", page.clone()).await.expect(201);
        assert!(started.elapsed() < CUT_OFF, "{:?}", started.elapsed());
        for visitor in &visitors {
            assert_serves(&front_page(visitor, &published).await, &page);
        }
    }
    cable.reconnect();
    eventually(PATIENCE, "the edge hears of changes again", async || {
        edge.log().contains("reconnected to Redis").then_some(())
    })
    .await;
    agent.activate("my-page", 1).await.expect(200);
    assert_serves(&front_page(&visitors[0], &published).await, &page_saying("number 0"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_without_postgres_get_retry_after_and_the_retry_succeeds() {
    let world = World::with(Mode::Production, program!()).with_own_postgres().start().await;
    let agent = world.agent().await;
    let page = page_saying("after the outage");
    agent.publish("other-page", page_saying("before the outage")).await.expect(201);
    world.postgres().stop();
    let refused =
        agent.publish("my-page", page.clone()).idempotency_key("key").await.refused(503, "overloaded");
    assert!(refused.header("retry-after").parse::<u64>().is_ok());
    world.postgres().start().await;
    let published = eventually(PATIENCE * 2, "the retry's answer", async || {
        let reply = agent.publish("my-page", page.clone()).idempotency_key("key").await;
        (reply.status != 503).then_some(reply)
    })
    .await
    .expect(201);
    assert_eq!(published.integer("version"), 1);
    assert_serves(&front_page(&world.visitor(), &published).await, &page);
    assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 2);
}

/// A page that is in the edge's cache, and its path.
async fn hot_page(world: &World, agent: &Agent) -> (Reply, String) {
    let published = agent.publish("my-page", page_saying("hot")).await.expect(201);
    // The scan's verdict would evict the page from the edge's cache.
    eventually(PATIENCE, "no job is left", async || world.unfinished_jobs().await.is_empty().then_some(()))
        .await;
    let (visitor, url) = (world.visitor(), published.string("url"));
    // Until the edge has read the log, which lists the publish, and has heard all writers since.
    let read_at = Instant::now();
    while read_at.elapsed() < HEARD {
        assert_serves(&visitor.open(&url).await, &page_saying("hot"));
    }
    (published, url)
}

/// How long the response took.
async fn timed(visitor: &Visitor, path: &str) -> (Reply, Duration) {
    let started = Instant::now();
    (visitor.open(path).await, started.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_hangs_a_page_in_memory_is_served_and_then_the_next_change_at_once() {
    let world = World::with(Mode::Production, program!()).with_own_postgres().start().await;
    let (agent, visitor) = (world.agent().await, world.visitor());
    let (published, url) = hot_page(&world, &agent).await;
    world.postgres().freeze();
    let frozen_at = Instant::now();
    while frozen_at.elapsed() < OUTAGE {
        let (reply, waited) = timed(&visitor, &url).await;
        assert_serves(&reply, &page_saying("hot"));
        assert!(waited < NOTICED, "{waited:?}");
    }
    let (cold, waited) = timed(&visitor, "/site/cold-page-a1b2/").await;
    assert!(waited < NOTICED, "{waited:?}");
    assert_eq!(cold.expect(503).header("Retry-After"), "2");
    world.postgres().thaw();
    let changed = eventually(PATIENCE, "the next publish", async || {
        let reply = agent.publish("my-page", page_saying("changed")).await;
        (reply.status == 201).then_some(reply)
    })
    .await;
    assert_eq!(changed.string("url"), url);
    assert_serves(&front_page(&visitor, &published).await, &page_saying("changed"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_postgres_and_redis_a_page_is_refused_soon_and_then_served_again() {
    let setup = World::with(Mode::Production, program!()).with_own_postgres().with_own_redis();
    let world = setup.start().await;
    let (agent, visitor) = (world.agent().await, world.visitor());
    let (_, url) = hot_page(&world, &agent).await;
    world.redis().stop();
    world.postgres().freeze();
    let first = eventually(PATIENCE, "a route that is trusted no more", async || {
        let (reply, waited) = timed(&visitor, &url).await;
        (reply.status != 200).then_some((reply, waited))
    })
    .await;
    let (again, cold) = (timed(&visitor, &url).await, timed(&visitor, "/site/cold-page-a1b2/").await);
    for (reply, waited) in [first, again, cold] {
        assert!(waited < NOTICED, "{waited:?}");
        assert_eq!(reply.expect(503).header("Retry-After"), "2");
    }
    world.postgres().thaw();
    eventually(PATIENCE, "the page", async || (visitor.open(&url).await.status == 200).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_postgres_a_page_is_refused_once_a_writer_may_have_lost_redis() {
    let world = World::with(Mode::Production, program!()).with_own_postgres().start().await;
    let (agent, visitor) = (world.agent().await, world.visitor());
    let (_, url) = hot_page(&world, &agent).await;
    world.worker().kill();
    world.postgres().freeze();
    let refused = eventually(PATIENCE, "a route that is trusted no more", async || {
        let reply = visitor.open(&url).await;
        (reply.status != 200).then_some(reply)
    })
    .await;
    refused.expect(503);
    world.postgres().thaw();
    eventually(PATIENCE, "the page", async || (visitor.open(&url).await.status == 200).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publish_without_the_blob_store_is_done_only_on_retry() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    world.s3().stop().await;
    let page = page_saying("kept");
    let refused =
        agent.publish("my-page", page.clone()).idempotency_key("key").await.refused(503, "overloaded");
    assert!(refused.header("retry-after").parse::<u64>().is_ok());
    agent.artifact("my-page").await.refused(404, "not_found");
    world.s3().start().await;
    eventually(Duration::from_secs(90), "the job ends", async || {
        world.jobs("publish").await.iter().all(|job| job.status == "Done").then_some(())
    })
    .await;
    agent.artifact("my-page").await.refused(404, "not_found");
    let published = eventually(PATIENCE, "the store is seen to be back", async || {
        let reply = agent.publish("my-page", page.clone()).idempotency_key("key").await;
        (reply.status == 201).then_some(reply)
    })
    .await;
    assert_eq!(published.integer("version"), 1);
    assert_serves(&front_page(&world.visitor(), &published).await, &page);
    assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_without_a_worker_get_retry_after_and_the_retry_succeeds() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    assert!(world.worker().terminate().await.status.success());
    let page = page_saying("waited for");
    agent.publish("my-page", page.clone()).idempotency_key("key").await.refused(503, "overloaded");
    world.worker().restart().await;
    let published = agent.publish("my-page", page.clone()).idempotency_key("key").await.expect(201);
    assert_eq!(published.integer("version"), 1);
    assert_serves(&front_page(&world.visitor(), &published).await, &page);
}

/// A small file system of its own, mounted while this value exists.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(folder: &'a Path, size: &str) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).status();
        assert!(mounted.unwrap().success(), "a small disk needs the right to mount");
        Self(folder)
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_leaves_no_partial_writes_and_free_space_restores_service() {
    // Otherwise a disk as small as this is refused beforehand.
    let faults = "disk.free_bytes:instead=4000000000,answer.wait_ms:instead=4000";
    let setup = World::with(Mode::Embedded, program!()).env("HANDBILL_TEST_FAULTS", faults);
    let folder = tempfile::tempdir().unwrap();
    let blobs = folder.path().join("disk");
    let disk = SmallDisk::mount(&blobs, "256k");
    let world = setup.env("HANDBILL_STORAGE__URL", format!("file://{}/blobs", blobs.display())).start().await;
    let agent = world.agent().await;
    let kept = agent.publish("small", page_saying("fits")).await.expect(201);
    let filler = blobs.join("filler");
    fill(&filler);
    let page = page_saying("too much for the disk ".repeat(500).as_str());
    let refused =
        agent.publish("large", page.clone()).idempotency_key("key").await.refused(503, "overloaded");
    assert!(refused.header("retry-after").parse::<u64>().is_ok());
    agent.artifact("large").await.refused(404, "not_found");
    assert_serves(&front_page(&world.visitor(), &kept).await, &page_saying("fits"));
    std::fs::remove_file(&filler).unwrap();
    let published = eventually(Duration::from_secs(90), "the publish", async || {
        let reply = agent.publish("large", page.clone()).idempotency_key("key").await;
        (reply.status == 201).then_some(reply)
    })
    .await;
    assert_eq!(published.integer("version"), 1);
    assert_serves(&front_page(&world.visitor(), &published).await, &page);
    drop(world);
    drop(disk);
}

fn fill(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}
