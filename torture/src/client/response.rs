//! A client's view of responses. Anything except a clear yes or no leaves the outcome unknown.

use std::time::Duration;

use handbill_tests::{Call, Reply, Value};

/// The clients' timeout. The requested change may still happen after it.
const PATIENCE: Duration = Duration::from_secs(12);
/// The code of a 503 that is final.
pub const OVERLOADED: &str = "overloaded";
const AFTER_CUT_OFF: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub enum ClientResponse {
    Done(Reply),
    Refused(Reply),
    /// No response, or one that does not report the outcome.
    Unknown(String),
}

pub async fn ask(call: Call) -> ClientResponse {
    ClientResponse::of(send(call).await)
}

async fn send(call: Call) -> Result<Reply, &'static str> {
    match tokio::time::timeout(PATIENCE, call.try_send()).await {
        Err(_) => Err("no answer in time"),
        Ok(Err(_)) => {
            // After a refused connection the client waits before it continues.
            tokio::time::sleep(AFTER_CUT_OFF).await;
            Err("cut off")
        }
        Ok(Ok(reply)) => Ok(reply),
    }
}

/// Sends a call that moves money or uses the allowance. For these even a 503 is final: nothing was done and
/// nothing will be, unless its code says that the outcome is unknown.
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

    /// The label under which it is counted.
    pub fn label(&self) -> String {
        match self {
            ClientResponse::Done(_) => "done".to_owned(),
            ClientResponse::Refused(reply) => format!("refused {}", code(reply)),
            ClientResponse::Unknown(why) => format!("unknown: {why}"),
        }
    }
}

/// The code of a refusal, or its status if it has none.
pub fn code(reply: &Reply) -> String {
    body(reply)["code"].as_str().map_or_else(|| reply.status.to_string(), str::to_owned)
}

/// The JSON body, or null.
pub fn body(reply: &Reply) -> Value {
    std::str::from_utf8(&reply.body).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}
