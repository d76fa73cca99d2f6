//! A steady load: clients that publish, add versions, retry and read through every API and edge, and record
//! the responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{Agent, Call, Process, Reply, Visitor, World, eventually};
use tokio::task::JoinHandle;

use crate::expectations::{assert_serves, page_saying};

/// The job of a killed worker is taken over within ten seconds, later on a busy machine. Then its caller
/// retries.
const PATIENCE_OF_CLIENTS: Duration = Duration::from_secs(60);
const SLUGS: [&str; 2] = ["first-page", "second-page"];
/// A publish is repeated after its response in one of this many turns.
const REPEATS_EVERY: usize = 3;
/// The average number of publishes of each client for `goes_on`.
const TURNS_BETWEEN: usize = 3;
pub const PRICE_MICRO: i64 = 5_000;
const PAYMENT: &str = "dev:0.005";

/// How a client reacts to a delayed or broken call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    /// It retries with the same key, at another API.
    Patient,
    /// Every call must succeed at the first attempt.
    Strict,
}

/// A client with an account of its own, which publishes under the same names repeatedly.
#[derive(Debug)]
pub struct Client {
    number: usize,
    temper: Temper,
    /// The agent at each API.
    pub agents: Vec<Agent>,
    /// A visitor at each edge.
    pub visitors: Vec<Visitor>,
    pub acknowledged: Vec<Acknowledged>,
}

/// A publish with response 201.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    pub slug: &'static str,
    pub version: i64,
    pub html: String,
}

impl Client {
    /// Creates clients with an account each, which use these APIs and edges. Every other client has bought
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
                agents: apis.iter().map(|api| agent.at(api)).collect(),
                visitors: edges.iter().map(|edge| world.visitor().at(edge)).collect(),
                acknowledged: Vec::new(),
            }
        });
        join_all(clients).await
    }

    pub fn agent(&self) -> &Agent {
        &self.agents[0]
    }

    /// The acknowledged publishes for each of its slugs, in order.
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

    /// Publishes the next version of one of its pages. The response numbers it without a gap, and both edges
    /// serve it at once.
    async fn publish(&mut self) {
        let turn = self.acknowledged.len();
        let slug = SLUGS[turn % SLUGS.len()];
        let html = page_saying(&format!("turn {turn} of client {}", self.number));
        let published = self.until_answered(turn, slug, &html, turn).await;
        let version = published.integer("version");
        let before = self.acknowledged.iter().filter(|one| one.slug == slug).count();
        assert_eq!(version, i64::try_from(before).unwrap() + 1, "{published:?}");
        self.assert_served(&published, &html).await;
        if turn.is_multiple_of(REPEATS_EVERY) {
            let again = self.until_answered(turn, slug, &html, turn + 1).await;
            assert_eq!(again.json(), published.json(), "the retry got another response");
        }
        self.acknowledged.push(Acknowledged { slug, version, html });
    }

    /// Sends the publish of a turn until it has a response, starting with this API.
    async fn until_answered(&self, turn: usize, slug: &str, html: &str, first_agent: usize) -> Reply {
        let started = Instant::now();
        let mut agents = self.agents.iter().cycle().skip(first_agent % self.agents.len());
        loop {
            let agent = agents.next().expect("an agent");
            let answered = self.call(agent, turn, slug, html).try_send().await;
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

    /// Only this client publishes here, so that every edge serves this page.
    pub async fn assert_served(&self, published: &Reply, html: &str) {
        for window in &self.visitors {
            match window.open(&published.string("url")).try_send().await {
                Ok(served) => assert_serves(&served, html),
                // The connection is refused during a restart.
                Err(error) => assert_eq!(self.temper, Temper::Patient, "{error:?}"),
            }
        }
    }
}

/// Running clients.
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

    /// Waits until further publishes were acknowledged.
    pub async fn goes_on(&self) {
        let enough = self.progress.turns.load(Ordering::SeqCst) + TURNS_BETWEEN * self.clients.len();
        eventually(PATIENCE_OF_CLIENTS, "more publishes", async || {
            assert!(!self.clients.iter().any(JoinHandle::is_finished), "a client gave up, see above");
            (self.progress.turns.load(Ordering::SeqCst) >= enough).then_some(())
        })
        .await;
    }

    /// Lets every client finish its turn.
    pub async fn end(self) -> Vec<Client> {
        self.progress.is_over.store(true, Ordering::SeqCst);
        join_all(self.clients).await.into_iter().map(|client| client.expect("a client")).collect()
    }
}
