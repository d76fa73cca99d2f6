#![allow(clippy::unwrap_used, clippy::print_stdout)]
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use domain::*;
use futures::FutureExt;
use service::JobQueue;
use tokio_util::sync::CancellationToken;
use workers::*;

fn pct(v: &mut Vec<Duration>, p: f64) -> f64 {
    v.sort();
    v[((v.len() - 1) as f64 * p) as usize].as_secs_f64() * 1000.0
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let url = &args[1];
    let concurrency: usize = args[2].parse().unwrap();
    let work_ms: f64 = args[3].parse().unwrap();
    let chance = Chance::from_system();
    let clock = Clock::system();
    let queues = Queues::open(Opening { url, instance: "bench", clock: clock.clone(), chance: chance.clone(), on_pushed: Arc::new(|_| {}) }).await.unwrap();
    queues.migrate().await.unwrap();
    let (queue, receiver) = JobQueue::new();
    let stop = CancellationToken::new();
    { let (q, s) = (queues.clone(), stop.clone()); tokio::spawn(async move { q.run_pushes(receiver, s).await }); }
    let started: Arc<Mutex<HashMap<JobId, Instant>>> = Arc::default();
    let s2 = started.clone();
    let handler: Handler = Arc::new(move |e, _| {
        s2.lock().unwrap().insert(e.id, Instant::now());
        async move { if work_ms > 0.0 { tokio::time::sleep(Duration::from_secs_f64(work_ms / 1000.0)).await } Ok(()) }.boxed()
    });
    let pool = { let (q, s) = (queues.clone(), stop.clone()); let set = PoolSettings::new(Queue::ALL.to_vec(), concurrency); tokio::spawn(async move { q.run_pool(set, handler, s).await }) };
    tokio::time::sleep(Duration::from_millis(300)).await;
    let padding = "x".repeat(5500);
    let job = || { let id = JobId::new(clock.now(), &chance); JobEnvelope { id, reply_to: Some(padding.clone()), job: Job::Scan(ScanJob { version: VersionId::from_ulid(id.ulid()) }) } };
    // one client
    let mut lat = vec![]; let mut push = vec![];
    for _ in 0..1000 {
        let j = job(); let id = j.id; let t = Instant::now();
        queue.push(j).await.unwrap();
        push.push(t.elapsed());
        let at = loop { if let Some(at) = started.lock().unwrap().get(&id) { break *at } tokio::task::yield_now().await; };
        lat.push(at.saturating_duration_since(t));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    println!("one client: push p50 {:.2} ms; enqueue->start p50 {:.2} p99 {:.2} max {:.2} ms", pct(&mut push, 0.5), pct(&mut lat, 0.5), pct(&mut lat, 0.99), pct(&mut lat, 1.0));
    // 32 closed-loop clients: each waits for its job's start before the next
    for clients in [8usize, 32] {
        started.lock().unwrap().clear();
        let t0 = Instant::now(); let per = 6000 / clients;
        let lats: Vec<Duration> = futures::future::join_all((0..clients).map(|_| { let (queue, started, clock, chance, padding) = (queue.clone(), started.clone(), clock.clone(), chance.clone(), padding.clone());
            tokio::spawn(async move { let mut l = vec![]; for _ in 0..per {
                let id = JobId::new(clock.now(), &chance);
                let j = JobEnvelope { id, reply_to: Some(padding.clone()), job: Job::Scan(ScanJob { version: VersionId::from_ulid(id.ulid()) }) };
                let t = Instant::now(); queue.push(j).await.unwrap();
                let at = loop { if let Some(at) = started.lock().unwrap().get(&id) { break *at } tokio::time::sleep(Duration::from_micros(200)).await; };
                l.push(at.saturating_duration_since(t)); } l }) })).await.into_iter().flat_map(|r| r.unwrap()).collect();
        let mut lats = lats; let n = lats.len();
        println!("{clients} closed-loop clients: {:.0} jobs/s end to end, enqueue->start p50 {:.2} p99 {:.2} ms", n as f64 / t0.elapsed().as_secs_f64(), pct(&mut lats, 0.5), pct(&mut lats, 0.99));
    }
    // open loop: as fast as pushes are kept, drained
    started.lock().unwrap().clear();
    let t0 = Instant::now();
    futures::future::join_all((0..5000).map(|_| queue.push(job()))).await;
    let pushed = t0.elapsed();
    while started.lock().unwrap().len() < 5000 { tokio::time::sleep(Duration::from_millis(2)).await; }
    println!("5000 at once: pushed {:.0}/s, started {:.0}/s overall", 5000.0 / pushed.as_secs_f64(), 5000.0 / t0.elapsed().as_secs_f64());
    stop.cancel();
    pool.await.unwrap().unwrap();
}
