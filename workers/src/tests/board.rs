//! The queue board's figures and operations.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use domain::{JobId, Queue, Time};
use futures::FutureExt;
use service::{
    Board, JOBS_SHOWN_MAX, JobActionResult, JobCounts, JobEventKind, JobFilter, JobState, ProcessInfo,
};
use tokio_util::sync::CancellationToken;

use super::harness::{
    Pool, Starts, WorkerHarness, ada, cleanup, hopeless, name_of, new_id, on_both, scan, until,
};
use crate::{GiveUp, PoolSettings, Presence, Queues};

fn presence(role: &'static str, takes: &[(Queue, usize)]) -> Presence {
    let takes = takes.iter().copied().collect();
    let started_at = Time::from_millis(1_000);
    Presence { role, host: "a-host".into(), takes, started_at, bus: Arc::new(|| "a-bus".into()) }
}

/// A process that sends heartbeats until it is stopped, or killed.
struct Present {
    stop: CancellationToken,
    heartbeats: tokio::task::JoinHandle<()>,
}

impl Present {
    fn start(queues: &Queues, presence: Presence) -> Self {
        let (queues, stop) = (queues.clone(), CancellationToken::new());
        let token = stop.clone();
        Self { stop, heartbeats: tokio::spawn(async move { queues.run_presence(presence, token).await }) }
    }

    async fn leave(self) {
        self.stop.cancel();
        self.heartbeats.await.unwrap();
    }

    async fn die(self) {
        self.heartbeats.abort();
        let _ = self.heartbeats.await;
    }
}

async fn processes(harness: &WorkerHarness) -> Vec<ProcessInfo> {
    harness.queues.figures().await.unwrap().processes
}

on_both! {
    async fn empty_board_lists_every_queue_in_order(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let figures = harness.queues.figures().await.unwrap();
        assert_eq!(figures.queues.iter().map(|queue| queue.queue).collect::<Vec<_>>(), Queue::ALL);
        assert!(figures.queues.iter().all(|queue| queue.paused.is_none() && queue.jobs == JobCounts::default()));
        assert!(figures.processes.is_empty());
    }

    async fn retried_dead_job_restarts_at_its_first_attempt_and_keeps_its_timeline(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Killed").await;
        pool.stop().await;

        assert_eq!(harness.retry(Queue::Scan, job.id).await, JobActionResult::Done);
        assert!(harness.dead().await.is_empty());
        assert!(harness.woken.lock().unwrap().iter().filter(|queue| **queue == Queue::Scan).count() >= 2, "pushed and retried");
        let again = Starts::default();
        let pool = Pool::start(&harness.queues, again.then_done());
        harness.status_becomes(job.id, "Done").await;
        assert_eq!(again.of(job.id)[0].0.number, 1);
        pool.stop().await;

        let timeline = harness.timeline(&job).await;
        let events: Vec<_> = timeline.iter().map(name_of).collect();
        assert_eq!(events, ["pushed", "began 1", "died 1: no", "retried by ada", "began 1", "done 1"]);
        let times: Vec<_> = harness.detail(&job).await.timeline.iter().map(|event| event.at).collect();
        assert!(times.is_sorted(), "{times:?}");

        let refused = harness.retry(Queue::Scan, job.id).await;
        assert_eq!(refused, JobActionResult::Is(JobState::Done));
        assert_eq!(harness.retry(Queue::Scan, new_id()).await, JobActionResult::Unknown);
        assert_eq!(harness.retry(Queue::Publish, job.id).await, JobActionResult::Unknown);
        assert_eq!(harness.timeline(&job).await.len(), events.len(), "what was refused did not happen");
    }

    async fn failed_attempt_is_listed_with_its_error_and_the_next_attempt(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|_, attempt| {
            async move { if attempt.number < 3 { Err(anyhow!("not yet")) } else { Ok(()) } }.boxed()
        }));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        pool.stop().await;
        let detail = harness.detail(&job).await;
        let events: Vec<_> = detail.timeline.iter().map(|event| name_of(&event.what)).collect();
        let twice = ["began 1", "failed 1: not yet", "began 2", "failed 2: not yet"];
        assert_eq!(events[0], "pushed");
        assert_eq!(events[1..5], twice);
        assert_eq!(events[5..], ["began 3", "done 3"]);
        let JobEventKind::Failed { retry_at: Some(retry_at), .. } = detail.timeline[2].what else { panic!("{detail:?}") };
        let waits = retry_at.since(detail.timeline[2].at);
        assert_eq!(waits, Queue::Scan.backoff(1));
        assert_eq!((detail.job.attempts, detail.job.last_error), (3, None));
    }

    async fn a_job_that_succeeds_at_once_leaves_no_event(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, Starts::default().then_done());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        pool.stop().await;
        assert_eq!(harness.count("handbill_job_events").await, 0);
        let events: Vec<_> = harness.timeline(&job).await.iter().map(name_of).collect();
        assert_eq!(events, ["pushed", "began 1", "done 1"]);
    }

    async fn waiting_job_can_be_cancelled_and_running_job_cannot(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (waiting, running) = (scan(), cleanup());
        queue.push(waiting.clone()).await.unwrap();
        let starts = Starts::default();
        let mut settings = PoolSettings::new([(Queue::Upkeep, 1)]);
        settings.stop_timeout = Duration::from_millis(50);
        let pool = Pool::with(&harness.queues, settings, starts.then_hang());
        queue.push(running.clone()).await.unwrap();
        starts.reach(1).await;

        assert_eq!(harness.cancel(Queue::Scan, waiting.id).await, JobActionResult::Done);
        let refused = harness.cancel(Queue::Upkeep, running.id).await;
        assert_eq!(refused, JobActionResult::Is(JobState::Running));
        let refused = harness.cancel(Queue::Scan, waiting.id).await;
        assert_eq!(refused, JobActionResult::Is(JobState::Cancelled));
        let refused = harness.discard(Queue::Upkeep, running.id).await;
        assert_eq!(refused, JobActionResult::Is(JobState::Running));
        let refused = harness.discard(Queue::Scan, waiting.id).await;
        assert_eq!(refused, JobActionResult::Is(JobState::Cancelled));

        let cancelled = harness.detail(&waiting).await;
        assert_eq!((cancelled.job.state, cancelled.job.attempts), (JobState::Cancelled, 0));
        assert_eq!(cancelled.job.last_error.as_deref(), Some("cancelled by ada"));
        let events: Vec<_> = cancelled.timeline.iter().map(|event| name_of(&event.what)).collect();
        assert_eq!(events, ["pushed", "cancelled by ada"]);
        let shown = harness.detail(&running).await.job;
        assert_eq!((shown.state, shown.attempts, shown.ended_at), (JobState::Running, 1, None));
        pool.stop().await;

        // A cancelled job can be restored.
        assert_eq!(harness.retry(Queue::Scan, waiting.id).await, JobActionResult::Done);
        let pool = Pool::start(&harness.queues, Starts::default().then_done());
        harness.status_becomes(waiting.id, "Done").await;
        pool.stop().await;
    }

    async fn job_in_backoff_can_be_retried_at_once_or_cancelled(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (one, two) = (scan(), scan());
        for job in [&one, &two] {
            queue.push(job.clone()).await.unwrap();
        }
        harness.sql("UPDATE {jobs} SET status = 'Failed', attempts = 5").await;
        harness.sql(match harness.queues.database {
            crate::database::Database::Sqlite(_) => "UPDATE {jobs} SET run_at = unixepoch() + 600",
            crate::database::Database::Postgres(_) => "UPDATE {jobs} SET run_at = now() + interval '600 s'",
        })
        .await;
        assert_eq!(harness.cancel(Queue::Scan, two.id).await, JobActionResult::Done);
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        assert_eq!(harness.retry(Queue::Scan, one.id).await, JobActionResult::Done);
        harness.status_becomes(one.id, "Done").await;
        assert_eq!(starts.of(one.id)[0].0.number, 1);
        assert!(starts.of(two.id).is_empty());
        pool.stop().await;
    }

    async fn requeueing_all_dead_jobs_of_a_queue_keeps_those_of_others(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let mut scans = Vec::new();
        for _ in 0..7 {
            let job = scan();
            scans.push(job.id);
            queue.push(job).await.unwrap();
        }
        let other = cleanup();
        queue.push(other.clone()).await.unwrap();
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        for id in scans.iter().chain([&other.id]) {
            harness.status_becomes(*id, "Killed").await;
        }
        pool.stop().await;
        assert_eq!(harness.queues.requeue_dead(Queue::Scan, &ada()).await.unwrap(), 7);
        assert_eq!(harness.dead().await.iter().map(|job| job.id).collect::<Vec<_>>(), [other.id]);
        assert_eq!(harness.queues.requeue_dead(Queue::Scan, &ada()).await.unwrap(), 0);
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        for id in &scans {
            harness.status_becomes(*id, "Done").await;
            assert_eq!(starts.of(*id)[0].0.number, 1);
        }
        pool.stop().await;
    }

    async fn cancelled_job_stays_cancelled_until_it_is_retried_individually(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (dead, called_off) = (scan(), scan());
        for job in [&dead, &called_off] {
            queue.push(job.clone()).await.unwrap();
        }
        assert_eq!(harness.cancel(Queue::Scan, called_off.id).await, JobActionResult::Done);
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        harness.status_becomes(dead.id, "Killed").await;
        pool.stop().await;
        // Exactly the jobs that count as dead are requeued.
        assert_eq!(harness.scans_ended().await, (1, 1));
        assert_eq!(harness.queues.requeue_dead(Queue::Scan, &ada()).await.unwrap(), 1);
        assert_eq!(harness.scans_ended().await, (0, 1));
        assert!(harness.dead().await.is_empty());
        let wanted = JobFilter::of(Queue::Scan, JobState::Cancelled);
        let listed = harness.queues.jobs(wanted).await.unwrap().jobs;
        assert_eq!(listed.iter().map(|job| (job.id, job.state)).collect::<Vec<_>>(), [(called_off.id, JobState::Cancelled)]);
        // After the retry it is a job like any other, and can die again.
        assert_eq!(harness.retry(Queue::Scan, called_off.id).await, JobActionResult::Done);
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        for job in [&dead, &called_off] {
            harness.status_becomes(job.id, "Killed").await;
        }
        pool.stop().await;
        assert_eq!(harness.scans_ended().await, (2, 0));
        assert_eq!(harness.queues.requeue_dead(Queue::Scan, &ada()).await.unwrap(), 2);
    }

    async fn clock_skew_makes_no_process_look_lost(harness: WorkerHarness) {
        harness.ready().await;
        let off = |queues: &Queues, clock: Time| Queues { clock: domain::Clock::manual(clock), ..queues.clone() };
        let now = harness.queues.clock.now();
        let (behind, ahead) =
            (off(&harness.queues, now.minus(Duration::from_secs(7200))), off(&harness.another("two").await, now.plus(Duration::from_secs(60))));
        let present = [&behind, &ahead].map(|queues| Present::start(queues, presence("worker", &[])));
        for observer in [&harness.queues, &behind, &ahead] {
            until("both are there", || async { observer.figures().await.unwrap().processes.len() == 2 }).await;
            let figures = observer.figures().await.unwrap();
            assert!(figures.processes.iter().all(|process| !process.is_lost), "{figures:?}");
            let silent = figures.processes.iter().map(|process| figures.at.since(process.seen_at));
            assert!(silent.max().unwrap() < Duration::from_secs(6), "{figures:?}");
        }
        for one in present {
            one.leave().await;
        }
    }

    async fn job_list_continues_after_its_last_job_without_gaps(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let mut pushed: Vec<JobId> = Vec::new();
        for _ in 0..(2 * JOBS_SHOWN_MAX + 3) {
            let job = scan();
            pushed.push(job.id);
            queue.push(job).await.unwrap();
        }
        queue.push(cleanup()).await.unwrap();
        pushed.sort_by(|one, two| two.cmp(one));
        for (state, status) in [
            (JobState::Waiting, "Pending"),
            (JobState::Running, "Queued"),
            (JobState::Running, "Running"),
            (JobState::Failed, "Failed"),
            (JobState::Dead, "Killed"),
            (JobState::Done, "Done"),
            (JobState::Cancelled, "Killed"),
        ] {
            harness.sql(&format!("UPDATE {{jobs}} SET status = '{status}'")).await;
            if state == JobState::Cancelled {
                let call_off = "INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt)
                                SELECT id, 0, 'cancelled', 0 FROM {jobs}";
                harness.sql(call_off).await;
            }
            let (mut listed, mut before, mut pages) = (Vec::new(), None, 0);
            loop {
                let page = harness.queues.jobs(JobFilter { before, ..JobFilter::of(Queue::Scan, state) }).await.unwrap();
                assert!(page.jobs.iter().all(|job| job.state == state && job.kind == "scan"));
                listed.extend(page.jobs.into_iter().map(|job| job.id));
                (before, pages) = (page.next, pages + 1);
                if before.is_none() {
                    break;
                }
            }
            assert_eq!((listed.len(), pages), (pushed.len(), 3), "{status}");
            assert!(listed == pushed, "{status}: newest first, each once");
        }
        let others = harness.queues.jobs(JobFilter::of(Queue::Scan, JobState::Waiting)).await.unwrap();
        assert!(others.jobs.is_empty() && others.next.is_none());
    }

    async fn board_shows_no_content_of_job_payloads(harness: WorkerHarness) {
        harness.ready().await;
        let id = new_id();
        harness.insert_raw(&id.to_string(), "publish", r#"{"kind":"publish","payload":{"content":"hidden"}}"#).await;
        let shown = harness.queues.job(Queue::Publish, id).await.unwrap().unwrap();
        assert_eq!(shown.payload.to_string(), r#"{"unreadable_bytes":49}"#);
        assert!(!format!("{shown:?}").contains("hidden"), "{shown:?}");
        assert_eq!(shown.job.kind, "publish");
    }

    async fn process_is_listed_with_its_running_jobs_until_it_stops_gracefully(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let two = harness.another("two").await;
        let (api, worker) = (
            Present::start(&harness.queues, presence("api", &[])),
            Present::start(&two, presence("worker", &[(Queue::Scan, 3), (Queue::Upkeep, 1)])),
        );
        until("both are there", || async { processes(&harness).await.len() == 2 }).await;
        let starts = Starts::default();
        let mut settings = PoolSettings::new([(Queue::Scan, 3)]);
        settings.stop_timeout = Duration::from_millis(50);
        let pool = Pool::with(&two, settings, starts.then_hang());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        starts.reach(1).await;

        let shown = processes(&harness).await;
        let listed: Vec<_> = shown.iter().map(|one| (one.instance.as_str(), one.role.as_str(), one.is_lost)).collect();
        assert_eq!(listed, [("two", "worker", false), ("one", "api", false)], "the workers first");
        assert_eq!(shown[0].takes, [(Queue::Scan, 3), (Queue::Upkeep, 1)]);
        assert_eq!((shown[0].host.as_str(), shown[0].process_id), ("a-host", std::process::id()));
        let running: Vec<_> = shown[0].running.iter().map(|job| (job.id, job.queue, job.kind.as_str())).collect();
        assert_eq!(running, [(job.id, Queue::Scan, "scan")]);
        assert!(shown[1].running.is_empty());

        pool.stop().await;
        worker.leave().await;
        assert_eq!(processes(&harness).await.iter().map(|one| one.instance.clone()).collect::<Vec<_>>(), ["one"]);
        api.die().await;
        assert_eq!(processes(&harness).await.len(), 1, "a killed process does not delete its row");
    }

    async fn board_reports_how_many_processes_it_omits(harness: WorkerHarness) {
        harness.ready().await;
        let present = Present::start(&harness.queues, presence("worker", &[]));
        until("it is there", || async { !processes(&harness).await.is_empty() }).await;
        present.die().await;
        let copies = "INSERT INTO handbill_processes
            (instance, role, host, process_id, version, takes, rates, started_at_ms, seen_at_ms)
            SELECT instance || '-' || n, role, host, process_id, version, takes, rates, started_at_ms, seen_at_ms
            FROM handbill_processes, (WITH RECURSIVE numbers (n) AS
                (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 511) SELECT n FROM numbers) AS numbers";
        harness.sql(copies).await;
        let figures = harness.queues.figures().await.unwrap();
        assert_eq!((figures.processes.len(), figures.processes_not_listed), (500, 12));
        assert_eq!(figures.omissions(), ["Showing the first 500 of 512 processes."]);
        harness.sql("DELETE FROM handbill_processes WHERE instance LIKE '%-1%'").await;
        let figures = harness.queues.figures().await.unwrap();
        assert_eq!((figures.processes_not_listed, figures.omissions().len()), (0, 0));
    }

    async fn silent_process_is_lost_and_later_deleted(harness: WorkerHarness) {
        harness.ready().await;
        let present = Present::start(&harness.queues, presence("worker", &[]));
        until("it is there", || async { !processes(&harness).await.is_empty() }).await;
        present.die().await;
        harness.sql("UPDATE handbill_processes SET seen_at_ms = seen_at_ms - 7000").await;
        assert!(processes(&harness).await[0].is_lost);
        assert_eq!(harness.queues.figures().await.unwrap().lost_earlier, 0);
        harness.sql("UPDATE handbill_processes SET seen_at_ms = seen_at_ms - 300000").await;
        let figures = harness.queues.figures().await.unwrap();
        assert_eq!((figures.processes.len(), figures.lost_earlier), (0, 1), "after five minutes it is only counted");
        harness.sql("UPDATE handbill_processes SET seen_at_ms = seen_at_ms - 3300000").await;
        let figures = harness.queues.figures().await.unwrap();
        assert_eq!((figures.processes.len(), figures.lost_earlier), (0, 0));
        let now = harness.queues.clock.now();
        harness.queues.delete_finished(now.minus(Duration::from_secs(3600)), 10).await.unwrap();
        assert_eq!(harness.count("handbill_processes").await, 0);
    }

    async fn process_reports_its_memory(harness: WorkerHarness) {
        harness.ready().await;
        let present = Present::start(&harness.queues, presence("worker", &[]));
        until("it is there", || async { !processes(&harness).await.is_empty() }).await;
        assert!(processes(&harness).await[0].memory_bytes > Some(1 << 20));
        present.leave().await;
    }

    async fn attempts_are_counted_per_queue(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|envelope, _| {
            let is_scan = envelope.job.queue() == Queue::Scan;
            async move { if is_scan { Ok(()) } else { Err(GiveUp(anyhow!("no")).into()) } }.boxed()
        }));
        let (good, bad) = (scan(), cleanup());
        queue.push(good.clone()).await.unwrap();
        queue.push(bad.clone()).await.unwrap();
        harness.status_becomes(good.id, "Done").await;
        harness.status_becomes(bad.id, "Killed").await;
        pool.stop().await;
        let figures = harness.queues.figures().await.unwrap().queues;
        let ended = |queue| {
            let figures = figures.iter().find(|figures| figures.queue == queue).unwrap();
            (figures.done_last_minute, figures.failed_last_minute)
        };
        assert_eq!((ended(Queue::Scan), ended(Queue::Upkeep)), ((1, 0), (0, 1)), "written when the pool stops");
    }

    async fn events_are_deleted_with_their_jobs_and_on_a_restart(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (forgotten, repeated) = (scan(), scan());
        let pool = Pool::start(&harness.queues, Starts::default().then(|_, attempt| {
            async move { if attempt.is_last() { Ok(()) } else { Err(anyhow!("no")) } }.boxed()
        }));
        for job in [&forgotten, &repeated] {
            queue.push(job.clone()).await.unwrap();
            until("an attempt has failed", || async { harness.row(job.id).await.status == "Failed" }).await;
        }
        pool.stop().await;
        harness.sql("UPDATE {jobs} SET status = 'Done'").await;
        assert_eq!(harness.timeline(&repeated).await.iter().map(name_of).next_back().as_deref(), Some("done 1"));
        queue.push_again(repeated.clone()).await.unwrap();
        let events: Vec<_> = harness.timeline(&repeated).await.iter().map(name_of).collect();
        assert_eq!(events, ["pushed"]);
        let future = harness.queues.clock.now().plus(Duration::from_secs(60));
        assert_eq!(harness.queues.delete_finished(future, 10).await.unwrap(), 1);
        assert_eq!(harness.count("handbill_job_events").await, 0);
        assert!(harness.queues.job(Queue::Scan, forgotten.id).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn every_schedule_is_listed_with_its_next_fire_time() {
    let harness = WorkerHarness::sqlite().await;
    let now = Time::parse_rfc3339("2026-03-05T12:07:00Z").unwrap();
    let planned = harness.queues.schedules(now).unwrap();
    let cleanup = planned.iter().find(|planned| planned.name == "cleanup").unwrap();
    assert_eq!((cleanup.next.rfc3339().as_str(), cleanup.job.kind()), ("2026-03-05T13:07:00Z", "cleanup"));
    assert!(planned.len() >= 5 && planned.iter().all(|planned| planned.next > now));
}
