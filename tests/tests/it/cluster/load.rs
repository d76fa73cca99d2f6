//! A steady load: clients that publish, add versions, ask again and look, through every API and at every edge, and
//! that keep in mind what they were answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{Agent, Call, Process, Reply, Visitor, World, eventually};
use tokio::task::JoinHandle;

use crate::expectations::{assert_serves, page_saying};

/// A job of a killed worker is taken over within ten seconds, on a busy machine later; then its caller asks again.
const PATIENCE_OF_CLIENTS: Duration = Duration::from_secs(60);
const SLUGS: [&str; 2] = ["first-page", "second-page"];
/// Every so many turns a publish is sent once more, though it was answered.
const REPEATS_EVERY: usize = 3;
/// Publishes that each client makes, on average, before a load has gone on.
const TURNS_BETWEEN: usize = 3;
pub const PRICE_MICRO: i64 = 5_000;
const PAYMENT: &str = "dev:0.005";

/// How a client takes it that a call is put off or cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    /// It asks again with the same key, at another door.
    Patient,
    /// Everything is to go well at the first try.
    Strict,
}

/// One with an account of its own, who publishes under the same names again and again.
#[derive(Debug)]
pub struct Client {
    number: usize,
    temper: Temper,
    /// The agent at each API.
    pub doors: Vec<Agent>,
    /// A visitor at each edge.
    pub windows: Vec<Visitor>,
    pub acknowledged: Vec<Acknowledged>,
}

/// A publish that was answered 201.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    pub slug: &'static str,
    pub version: i64,
    pub html: String,
}

impl Client {
    /// So many clients with an account each, who call at these APIs and look at these edges. The odd ones have bought
    /// credit, the others pay inline.
    pub async fn many(
        count: usize,
        temper: Temper,
        world: &World,
        apis: &[Process],
        edges: &[Process],
    ) -> Vec<Self> {
        let clients = (0..count).map(async |number| {
            let agent = world.agent().await.at(&apis[number % apis.len()]);
            if number % 2 == 1 {
                agent.buy_credit(5.0).paying("dev:5").await.expect(200);
            }
            Self {
                number,
                temper,
                doors: apis.iter().map(|api| agent.at(api)).collect(),
                windows: edges.iter().map(|edge| world.visitor().at(edge)).collect(),
                acknowledged: Vec::new(),
            }
        });
        join_all(clients).await
    }

    pub fn agent(&self) -> &Agent {
        &self.doors[0]
    }

    /// What it was answered for each of its slugs, in order.
    pub fn by_slug(&self) -> impl Iterator<Item = (&'static str, Vec<&Acknowledged>)> {
        let of = |slug| self.acknowledged.iter().filter(move |one| one.slug == slug).collect::<Vec<_>>();
        SLUGS.into_iter().map(move |slug| (slug, of(slug))).filter(|(_, answered)| !answered.is_empty())
    }

    async fn run(mut self, progress: Arc<Progress>) -> Self {
        while !progress.is_over.load(Ordering::SeqCst) {
            self.publish().await;
            progress.turns.fetch_add(1, Ordering::SeqCst);
        }
        self
    }

    /// The next version of one of its pages: the answer numbers it without a gap, and both edges have it at once.
    async fn publish(&mut self) {
        let turn = self.acknowledged.len();
        let slug = SLUGS[turn % SLUGS.len()];
        let html = page_saying(&format!("turn {turn} of client {}", self.number));
        let published = self.until_answered(turn, slug, &html, turn).await;
        let version = published.integer("version");
        let before = self.acknowledged.iter().filter(|one| one.slug == slug).count();
        assert_eq!(version, i64::try_from(before).unwrap() + 1, "{published:?}");
        self.look(&published, &html).await;
        if turn.is_multiple_of(REPEATS_EVERY) {
            let again = self.until_answered(turn, slug, &html, turn + 1).await;
            assert_eq!(again.json(), published.json(), "asked again, it was answered otherwise");
        }
        self.acknowledged.push(Acknowledged { slug, version, html });
    }

    /// Sends the publish of a turn until it is answered, beginning at this door.
    async fn until_answered(&self, turn: usize, slug: &str, html: &str, first_door: usize) -> Reply {
        let started = Instant::now();
        let mut doors = self.doors.iter().cycle().skip(first_door % self.doors.len());
        loop {
            let door = doors.next().expect("a door");
            let answered = self.call(door, turn, slug, html).try_send().await;
            let is_put_off = match &answered {
                Ok(reply) if reply.status == 201 => return answered.unwrap(),
                Ok(reply) => reply.status == 503,
                Err(_) => true,
            };
            let is_patient = self.temper == Temper::Patient && started.elapsed() < PATIENCE_OF_CLIENTS;
            assert!(is_put_off && is_patient, "turn {turn} of client {}: {answered:?}", self.number);
        }
    }

    fn call(&self, agent: &Agent, turn: usize, slug: &str, html: &str) -> Call {
        let adds_a_version = turn / SLUGS.len() % 2 == 1;
        let call = if adds_a_version { agent.add_version(slug, html) } else { agent.publish(slug, html) };
        let call = call.idempotency_key(format!("turn-{turn}"));
        if self.number % 2 == 1 { call } else { call.paying(PAYMENT) }
    }

    /// Nobody else publishes here, so whatever edge answers has this page.
    pub async fn look(&self, published: &Reply, html: &str) {
        for window in &self.windows {
            match window.open(&published.string("url")).try_send().await {
                Ok(served) => assert_serves(&served, html),
                // Nobody is there while it starts again.
                Err(error) => assert_eq!(self.temper, Temper::Patient, "{error:?}"),
            }
        }
    }
}

/// Clients at work.
#[derive(Debug)]
pub struct Load {
    clients: Vec<JoinHandle<Client>>,
    progress: Arc<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    turns: AtomicUsize,
    is_over: AtomicBool,
}

impl Load {
    pub fn of(clients: Vec<Client>) -> Self {
        let progress = Arc::new(Progress::default());
        let clients = clients.into_iter().map(|client| tokio::spawn(client.run(progress.clone()))).collect();
        Self { clients, progress }
    }

    /// Waits until some more publishes were acknowledged, whatever happened before.
    pub async fn goes_on(&self) {
        let enough = self.progress.turns.load(Ordering::SeqCst) + TURNS_BETWEEN * self.clients.len();
        eventually(PATIENCE_OF_CLIENTS, "more publishes", async || {
            assert!(!self.clients.iter().any(JoinHandle::is_finished), "a client gave up, see above");
            (self.progress.turns.load(Ordering::SeqCst) >= enough).then_some(())
        })
        .await;
    }

    /// Lets every client end its turn.
    pub async fn end(self) -> Vec<Client> {
        self.progress.is_over.store(true, Ordering::SeqCst);
        join_all(self.clients).await.into_iter().map(|client| client.expect("a client")).collect()
    }
}
