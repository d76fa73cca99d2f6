//! A card processor inside the test, with Stripe's checkout sessions. It takes orders, and can refuse them,
//! send invalid responses or none. It must never call the program by itself, which is the persona's part.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};

use poem::http::StatusCode;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{Request, Response, Server, endpoint};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::port::Port;

pub const SECRET_KEY: &str = "sk_test_the-key-of-the-test-worlds";
pub const WEBHOOK_SECRET: &str = "whsec_the-webhook-secret-of-the-test-worlds";

/// A card processor on a port of its own.
#[derive(Debug)]
pub struct CardServer {
    port: Port,
    checkouts: Arc<FakeCheckouts>,
    serving: JoinHandle<()>,
}

/// How the processor responds to an order.
#[derive(Clone, Debug)]
pub enum CardBehaviour {
    Opens,
    Answers(u16, String),
    Silent,
}

/// A request of the program.
#[derive(Clone, Debug)]
pub struct Order {
    /// Method and path.
    pub call: String,
    pub authorization: String,
    pub content_type: String,
    pub idempotency_key: String,
    pub version: String,
    pub fields: BTreeMap<String, String>,
}

#[derive(Debug)]
struct FakeCheckouts {
    url: String,
    behaviour: Mutex<CardBehaviour>,
    orders: Mutex<Vec<Order>>,
}

impl CardServer {
    pub(crate) async fn start() -> Self {
        let port = Port::take();
        let checkouts = Arc::new(FakeCheckouts {
            url: port.url(),
            behaviour: Mutex::new(CardBehaviour::Opens),
            orders: Mutex::default(),
        });
        let acceptor = TcpListener::bind(port.address()).into_acceptor().await.expect("the port of cards");
        Self { port, serving: tokio::spawn(serve(acceptor, checkouts.clone())), checkouts }
    }

    pub fn url(&self) -> String {
        self.port.url()
    }

    pub fn set_behaviour(&self, behaviour: CardBehaviour) {
        *self.checkouts.behaviour.lock().unwrap() = behaviour;
    }

    /// All orders so far, oldest first.
    pub fn orders(&self) -> Vec<Order> {
        self.checkouts.orders.lock().unwrap().clone()
    }
}

impl Drop for CardServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl FakeCheckouts {
    async fn take(&self, mut request: Request) -> poem::Result<Response> {
        let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
        let call = format!("{} {}", request.method(), request.uri().path());
        let (authorization, content_type) = (header("Authorization"), header("Content-Type"));
        let (idempotency_key, version) = (header("Idempotency-Key"), header("Stripe-Version"));
        let form = request.take_body().into_string().await?;
        let query = reqwest::Url::parse(&format!("http://form/?{form}")).expect("a form");
        let fields = query.query_pairs().into_owned().collect();
        let number = {
            let mut orders = self.orders.lock().unwrap();
            orders.push(Order { call, authorization, content_type, idempotency_key, version, fields });
            orders.len()
        };
        let behaviour = self.behaviour.lock().unwrap().clone();
        Ok(match behaviour {
            CardBehaviour::Opens => {
                let id = format!("cs_test_{number}");
                let session = json!({ "id": id, "object": "checkout.session", "url": format!("{}/pay/{id}", self.url) });
                answer(200, session.to_string())
            }
            CardBehaviour::Answers(status, body) => answer(status, body),
            CardBehaviour::Silent => pending().await,
        })
    }
}

fn answer(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    Response::builder().status(status).content_type("application/json").body(body)
}

async fn serve(acceptor: impl Acceptor + 'static, checkouts: Arc<FakeCheckouts>) {
    let endpoint = endpoint::make(move |request| {
        let checkouts = checkouts.clone();
        async move { checkouts.take(request).await }
    });
    Server::new_with_acceptor(acceptor).run(endpoint).await.expect("the card processor serves");
}
