//! The card processor as the webhook sees it: a client that signs its events. The test chooses the events.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::server::card::WEBHOOK_SECRET;
use crate::{Call, Process, World};

#[derive(Clone, Debug)]
pub struct Processor {
    client: Client,
    base_url: String,
    /// Its clock. A signature is valid for some minutes.
    pub now_seconds: i64,
}

impl Processor {
    pub fn new(world: &World) -> Self {
        Self { client: world.client(), base_url: world.base_url(), now_seconds: world.now_seconds() }
    }

    /// The same processor, calling another process of the control plane.
    pub fn at(&self, api: &Process) -> Self {
        Self { base_url: api.url().to_owned(), ..self.clone() }
    }

    /// The event of a completed and paid checkout.
    pub fn paid(session: &str, account: &str, cents: u32) -> Value {
        json!({
            "id": format!("evt_of_{session}"),
            "object": "event",
            "type": "checkout.session.completed",
            "data": { "object": {
                "id": session,
                "object": "checkout.session",
                "payment_status": "paid",
                "amount_total": cents,
                "currency": "usd",
                "metadata": { "account_id": account },
            } },
        })
    }

    /// The event of a checkout with a payment id, to which refunds refer.
    pub fn paid_by(payment_intent: &str, session: &str, account: &str, cents: u32) -> Value {
        let mut event = Self::paid(session, account, cents);
        event["data"]["object"]["payment_intent"] = json!(payment_intent);
        event
    }

    /// The event of a refund, with the total that was refunded for the payment so far.
    pub fn refunded(payment_intent: &str, refund: &str, cents_in_all: u32) -> Value {
        json!({
            "id": format!("evt_of_{refund}"),
            "object": "event",
            "type": "charge.refunded",
            "data": { "object": {
                "id": format!("ch_of_{payment_intent}"),
                "object": "charge",
                "payment_intent": payment_intent,
                "amount_refunded": cents_in_all,
                "currency": "usd",
                "refunds": { "data": [{ "id": refund }] },
            } },
        })
    }

    /// The event of a dispute over an amount.
    pub fn disputed(payment_intent: &str, dispute: &str, cents: u32) -> Value {
        json!({
            "id": format!("evt_of_{dispute}"),
            "object": "event",
            "type": "charge.dispute.created",
            "data": { "object": {
                "id": dispute,
                "object": "dispute",
                "payment_intent": payment_intent,
                "amount": cents,
                "currency": "usd",
            } },
        })
    }

    /// Sends an event, signed now.
    pub fn send_event(&self, event: &Value) -> Call {
        let body = event.to_string();
        self.call(&self.header_at(self.now_seconds, body.as_bytes()), body)
    }

    /// Sends a call with this signature header, valid or not.
    pub fn call(&self, signature: &str, body: impl Into<Bytes>) -> Call {
        self.unsigned(body).header("Card-Processor-Signature", signature)
    }

    pub fn unsigned(&self, body: impl Into<Bytes>) -> Call {
        let url = format!("{}/webhooks/card-processor", self.base_url);
        Call::new(&self.client, Method::POST, url).raw("application/json", body)
    }

    /// The signature header of a body at a time.
    pub fn header_at(&self, seconds: i64, body: &[u8]) -> String {
        format!("t={seconds},v1={}", sign(WEBHOOK_SECRET, seconds, body))
    }
}

impl World {
    pub fn processor(&self) -> Processor {
        Processor::new(self)
    }
}

/// The HMAC-SHA256 of `<t>.<body>`, in hex.
pub fn sign(secret: &str, seconds: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}
