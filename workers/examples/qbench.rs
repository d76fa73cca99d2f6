#![allow(clippy::unwrap_used, clippy::print_stdout)]
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use domain::*;
use futures::FutureExt;
use service::JobQueue;
use tokio_util::sync::CancellationToken;
use workers::*;
fn pct(v: &mut Vec<Duration>, p: f64) -> f64 { v.sort(); v[((v.len() - 1) as f64 * p) as usize].as_secs_f64() * 1000.0 }
type Started = Arc<Mutex<HashMap<JobId, tokio::sync::oneshot::Sender<Instant>>>>;
#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let url = &args[1]; let concurrency: usize = args[2].parse().unwrap(); let work_ms: f64 = args[3].parse().unwrap();
    let chance = Chance::from_system(); let clock = Clock::system();
    let queues = Queues::open(Opening { url, instance: "bench", clock: clock.clone(), chance: chance.clone(), on_pushed: Arc::new(|_| {}) }).await.unwrap();
    queues.migrate().await.unwrap();
    let (queue, receiver) = JobQueue::new(); let stop = CancellationToken::new();
    { let (q, s) = (queues.clone(), stop.clone()); tokio::spawn(async move { q.run_pushes(receiver, s).await }); }
    let started: Started = Arc::default(); let s2 = started.clone();
    let handler: Handler = Arc::new(move |e, _| {
        if let Some(tx) = s2.lock().unwrap().remove(&e.id) { let _ = tx.send(Instant::now()); }
        async move { if work_ms > 0.0 { tokio::time::sleep(Duration::from_secs_f64(work_ms / 1000.0)).await } Ok(()) }.boxed()
    });
    let pool = { let (q, s) = (queues.clone(), stop.clone()); let set = PoolSettings::new(Queue::ALL.to_vec(), concurrency); tokio::spawn(async move { q.run_pool(set, handler, s).await }) };
    tokio::time::sleep(Duration::from_millis(300)).await;
    let padding = "x".repeat(5500);
    let one = { let (queue, started, clock, chance, padding) = (queue.clone(), started.clone(), clock.clone(), chance.clone(), padding.clone());
        move || { let (queue, started) = (queue.clone(), started.clone()); let id = JobId::new(clock.now(), &chance);
            let j = JobEnvelope { id, reply_to: Some(padding.clone()), job: Job::Scan(ScanJob { version: VersionId::from_ulid(id.ulid()) }) };
            async move { let (tx, rx) = tokio::sync::oneshot::channel(); started.lock().unwrap().insert(id, tx);
                let t = Instant::now(); queue.push(j).await.unwrap(); let p = t.elapsed();
                (p, rx.await.unwrap().saturating_duration_since(t)) } } };
    let (mut push, mut lat) = (vec![], vec![]);
    for _ in 0..1000 { let (p, l) = one().await; push.push(p); lat.push(l); tokio::time::sleep(Duration::from_millis(2)).await; }
    println!("one client: push p50 {:.2} ms; enqueue->start p50 {:.2} p90 {:.2} p99 {:.2} max {:.2} ms", pct(&mut push, 0.5), pct(&mut lat, 0.5), pct(&mut lat, 0.9), pct(&mut lat, 0.99), pct(&mut lat, 1.0));
    for clients in [8usize, 32] {
        let t0 = Instant::now();
        let mut lats: Vec<Duration> = futures::future::join_all((0..clients).map(|_| { let one = one.clone(); tokio::spawn(async move { let mut l = vec![]; for _ in 0..8000 / clients { l.push(one().await.1) } l }) })).await.into_iter().flat_map(|r| r.unwrap()).collect();
        println!("{clients} closed-loop clients: {:.0} jobs/s end to end, enqueue->start p50 {:.2} p99 {:.2} ms", lats.len() as f64 / t0.elapsed().as_secs_f64(), pct(&mut lats, 0.5), pct(&mut lats, 0.99));
    }
    let t0 = Instant::now();
    let mut lats: Vec<Duration> = futures::future::join_all((0..5000).map(|_| one())).await.into_iter().map(|r| r.0).collect();
    println!("5000 at once: all kept after {:.0} ms, started {:.0}/s overall", pct(&mut lats, 1.0), 5000.0 / t0.elapsed().as_secs_f64());
    stop.cancel(); pool.await.unwrap().unwrap();
}
