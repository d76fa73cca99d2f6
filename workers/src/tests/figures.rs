//! The board's rates, minutes, groups of errors and searches.

use std::time::Duration;

use anyhow::anyhow;
use domain::{Job, JobEnvelope, Queue, Time};
use futures::FutureExt;
use service::{Board, JOBS_SHOWN_MAX, JobActionResult, JobFilter, JobState, QueueFigures};

use super::harness::{Pool, Starts, WorkerHarness, ada, cleanup, name_of, new_id, on_both, scan};
use crate::rates::AttemptEnd;
use crate::{GiveUp, Queues};

/// The same process at another time.
fn at(queues: &Queues, now: Time) -> Queues {
    Queues { clock: domain::Clock::manual(now), ..queues.clone() }
}

async fn of(queues: &Queues, queue: Queue) -> QueueFigures {
    let figures = queues.figures().await.unwrap();
    figures.queues.into_iter().find(|figures| figures.queue == queue).unwrap()
}

async fn publish(queues: &Queues) -> QueueFigures {
    of(queues, Queue::Publish).await
}

async fn scans(queues: &Queues) -> QueueFigures {
    of(queues, Queue::Scan).await
}

/// The rates of publishes.
async fn rates(queues: &Queues) -> (u64, u64) {
    let publish = publish(queues).await;
    (publish.done_last_minute, publish.failed_last_minute)
}

on_both! {
    async fn rates_of_all_processes_are_those_of_the_last_sixty_seconds(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        // Two seconds into a minute, so that nearly all of the window is in the minute before.
        let now = Time::from_millis(1_000_000_020_000 + 2_000);
        let (one, two) = (at(&harness.queues, now), at(&harness.another("two").await, now));
        let ended = |queues: &Queues, end, seconds_ago, took_ms| {
            let took = Duration::from_millis(took_ms);
            queues.rates.count(Queue::Publish, end, took, now.minus(Duration::from_secs(seconds_ago)));
        };
        for queues in [&one, &two] {
            ended(queues, AttemptEnd::Done, 1, 40);
            ended(queues, AttemptEnd::Done, 58, 40);
            ended(queues, AttemptEnd::Failed, 30, 9_000);
            ended(queues, AttemptEnd::Done, 62, 40);
            queues.write_rates().await.unwrap();
            queues.write_rates().await.unwrap();
        }
        assert_eq!(rates(&one).await, (4, 2), "both processes, each attempt once");
        assert_eq!(rates(&at(&one, now.plus(Duration::from_secs(10)))).await, (2, 2));
        assert_eq!(rates(&at(&one, now.plus(Duration::from_secs(61)))).await, (0, 0));

        let minutes = publish(&one).await.minutes;
        assert_eq!(minutes.len(), 60);
        let [earlier, before, current] = minutes[57..] else { panic!("{minutes:?}") };
        assert_eq!((current.done, current.failed, before.done, before.failed), (2, 0, 4, 2));
        assert_eq!((earlier.done, earlier.took_p50_ms), (0, None));
        let (p50, p95) = (before.took_p50_ms.unwrap(), before.took_p95_ms.unwrap());
        assert!((25..=50).contains(&p50) && (5_000..=10_000).contains(&p95), "{before:?}");
    }

    async fn depths_are_recorded_once_a_minute_and_figures_are_deleted_after_a_day(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let minute = Time::from_millis(1_000_000_020_000);
        let after = |seconds| minute.plus(Duration::from_secs(seconds));
        queue.push(scan()).await.unwrap();
        let (one, two) = (at(&harness.queues, after(1)), at(&harness.another("two").await, after(30)));
        one.rates.count(Queue::Scan, AttemptEnd::Done, Duration::ZERO, after(1));
        one.write_rates().await.unwrap();
        one.write_depths(after(1)).await.unwrap();
        queue.push(scan()).await.unwrap();
        one.write_depths(after(20)).await.unwrap();
        two.write_depths(after(30)).await.unwrap();
        assert_eq!(scans(&two).await.minutes[59].depth, Some(1), "the first process of a minute counts");
        two.write_depths(after(65)).await.unwrap();
        let minutes = scans(&at(&two, after(65))).await.minutes;
        assert_eq!((minutes[58].depth, minutes[58].done, minutes[59].depth), (Some(1), 1, Some(2)));
        assert_eq!(minutes[57].depth, None);

        // Two minutes of all queues, and the short interval.
        let rows = 2 * i64::try_from(Queue::ALL.len()).unwrap();
        assert_eq!(harness.count("handbill_queue_figures").await, rows + 1);
        one.write_depths(after(300)).await.unwrap();
        assert_eq!(harness.count("handbill_queue_figures").await, rows + rows / 2, "short intervals go first");
        one.write_depths(after(25 * 3600 + 60)).await.unwrap();
        assert_eq!(harness.count("handbill_queue_figures").await, rows + rows / 2, "the first minute is deleted");
    }

    async fn counts_that_could_not_be_written_are_written_later(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let now = harness.queues.clock.now();
        harness.queues.rates.count(Queue::Publish, AttemptEnd::Done, Duration::ZERO, now);
        harness.sql("ALTER TABLE handbill_queue_figures RENAME TO gone").await;
        assert!(harness.queues.write_rates().await.is_err());
        harness.sql("ALTER TABLE gone RENAME TO handbill_queue_figures").await;
        harness.queues.write_rates().await.unwrap();
        assert_eq!(rates(&harness.queues).await, (1, 0));
    }

    async fn equal_errors_are_grouped_and_a_group_is_retried_alone(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let jobs: Vec<_> = (0..6).map(|_| scan()).collect();
        for job in &jobs {
            queue.push(job.clone()).await.unwrap();
        }
        let pool = Pool::start(&harness.queues, Starts::default().then({
            let odd = jobs[5].id;
            move |envelope, _| {
                let error = if envelope.id == odd { "no such page".into() } else { format!("storage: object {} is gone", envelope.id) };
                async move { Err(GiveUp(anyhow!(error)).into()) }.boxed()
            }
        }));
        for job in &jobs {
            harness.status_becomes(job.id, "Killed").await;
        }
        pool.stop().await;
        assert_eq!(harness.discard(Queue::Scan, jobs[0].id).await, JobActionResult::Done);

        let errors = harness.queues.errors(Queue::Scan, JobState::Dead).await.unwrap();
        let groups: Vec<_> = errors.groups.iter().map(|group| group.jobs).collect();
        assert_eq!((groups, errors.jobs, errors.is_cut), (vec![4, 1], 5, false));
        let storage = &errors.groups[0];
        assert!(storage.error.starts_with("storage: object"), "{storage:?}");
        let filter = JobFilter { error: Some(storage.key), ..JobFilter::of(Queue::Scan, JobState::Dead) };
        assert_eq!(harness.queues.jobs(filter).await.unwrap().jobs.len(), 4);

        assert_eq!(harness.queues.requeue_dead_with(Queue::Scan, storage.key, &ada()).await.unwrap(), 4);
        assert_eq!(harness.scans_ended().await, (1, 1), "the other dead job, and the discarded one");
        assert!(harness.timeline(&jobs[1]).await.iter().any(|what| name_of(what) == "retried by ada"));
        assert_eq!(harness.queues.requeue_dead_with(Queue::Scan, storage.key, &ada()).await.unwrap(), 0);
    }

    async fn jobs_are_found_by_id_and_by_what_their_payloads_name(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (one, other) = (scan(), scan());
        for job in [&one, &other, &cleanup()] {
            queue.push(job.clone()).await.unwrap();
        }
        assert_eq!(harness.queues.find_job(one.id).await.unwrap(), Some(Queue::Scan));
        assert_eq!(harness.queues.find_job(new_id()).await.unwrap(), None);
        // The account of a sample job has the same ULID as the job.
        let search = async |terms: &[&[&str]]| {
            let terms: Vec<Vec<String>> =
                terms.iter().map(|texts| texts.iter().map(|text| (*text).to_owned()).collect()).collect();
            let found = harness.queues.search(&terms).await.unwrap();
            found.iter().map(|job| job.id).collect::<Vec<_>>()
        };
        let (account, kind) = (one.id.to_string(), "\"kind\":");
        assert_eq!(search(&[&[&account], &["nothing"]]).await, [one.id]);
        assert_eq!(search(&[&[kind, &account]]).await, [one.id]);
        assert!(search(&[&[kind, "nothing"], &["' OR 1=1 --"]]).await.is_empty());
        assert_eq!(search(&[&[kind]]).await.len(), 3);
    }

    async fn list_narrowed_to_a_kind_continues_without_gaps(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let sweep = |number: usize| if number.is_multiple_of(2) { Job::SweepBlobs } else { Job::Cleanup };
        for number in 0..4 * JOBS_SHOWN_MAX {
            let job = sweep(number);
            queue.push(JobEnvelope { id: new_id(), reply_to: None, trace: None, job }).await.unwrap();
        }
        let mut wanted = JobFilter { kind: Some("cleanup"), ..JobFilter::of(Queue::Upkeep, JobState::Waiting) };
        let mut listed = Vec::new();
        loop {
            let page = harness.queues.jobs(wanted).await.unwrap();
            listed.extend(page.jobs);
            wanted.before = page.next;
            if wanted.before.is_none() {
                break;
            }
        }
        assert_eq!(listed.len(), 2 * JOBS_SHOWN_MAX);
        assert!(listed.iter().all(|job| job.kind == "cleanup") && listed.is_sorted_by(|one, next| one.id > next.id));
    }
}
