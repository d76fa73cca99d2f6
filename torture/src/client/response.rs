//! What a client is told. Anything but a clear yes or no leaves it in doubt.

use std::time::Duration;

use handbill_tests::{Call, Reply, Value};

/// Clients wait no longer than this; what they asked for may happen nevertheless.
const PATIENCE: Duration = Duration::from_secs(12);
/// The code of a 503 that is final.
pub const OVERLOADED: &str = "overloaded";
const AFTER_CUT_OFF: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub enum ClientResponse {
    Done(Reply),
    Refused(Reply),
    /// No answer, or one that says nothing of what came of it.
    Unknown(String),
}

pub async fn ask(call: Call) -> ClientResponse {
    ClientResponse::of(send(call).await)
}

async fn send(call: Call) -> Result<Reply, &'static str> {
    match tokio::time::timeout(PATIENCE, call.try_send()).await {
        Err(_) => Err("no answer in time"),
        Ok(Err(_)) => {
            // Who finds nobody there does not come again at once.
            tokio::time::sleep(AFTER_CUT_OFF).await;
            Err("cut off")
        }
        Ok(Ok(reply)) => Ok(reply),
    }
}

/// Asks for what moves money or uses the allowance. There even a 503 is final: nothing was done, and nothing will be, unless
/// its code says that the outcome is unknown.
pub async fn ask_finally(call: Call) -> ClientResponse {
    match send(call).await {
        Ok(reply) if reply.status == 503 && code(&reply) == OVERLOADED => ClientResponse::Refused(reply),
        sent => ClientResponse::of(sent),
    }
}

impl ClientResponse {
    fn of(sent: Result<Reply, &str>) -> Self {
        match sent {
            Err(why) => ClientResponse::Unknown(why.to_owned()),
            Ok(reply) => match reply.status {
                200..400 => ClientResponse::Done(reply),
                400..500 => ClientResponse::Refused(reply),
                status => ClientResponse::Unknown(status.to_string()),
            },
        }
    }

    /// How it is counted.
    pub fn label(&self) -> String {
        match self {
            ClientResponse::Done(_) => "done".to_owned(),
            ClientResponse::Refused(reply) => format!("refused {}", code(reply)),
            ClientResponse::Unknown(why) => format!("unknown: {why}"),
        }
    }
}

/// The code of a refusal, or its status where it has none.
pub fn code(reply: &Reply) -> String {
    body(reply)["code"].as_str().map_or_else(|| reply.status.to_string(), str::to_owned)
}

/// The body, or nothing where it is no JSON.
pub fn body(reply: &Reply) -> Value {
    std::str::from_utf8(&reply.body).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}
