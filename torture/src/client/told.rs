//! What a client is told. Anything but a clear yes or no leaves it in doubt.

use std::time::Duration;

use handbill_tests::{Call, Reply, Value};

/// Clients wait no longer than this; what they asked for may happen nevertheless.
const PATIENCE: Duration = Duration::from_secs(12);
const AFTER_CUT_OFF: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub enum Told {
    Done(Reply),
    Refused(Reply),
    /// No answer, or one that says nothing of what came of it.
    Unknown(String),
}

pub async fn ask(call: Call) -> Told {
    match tokio::time::timeout(PATIENCE, call.try_send()).await {
        Err(_) => Told::Unknown("no answer in time".to_owned()),
        Ok(Err(_)) => {
            // Who finds nobody there does not come again at once.
            tokio::time::sleep(AFTER_CUT_OFF).await;
            Told::Unknown("cut off".to_owned())
        }
        Ok(Ok(reply)) => match reply.status {
            200..400 => Told::Done(reply),
            400..500 => Told::Refused(reply),
            status => Told::Unknown(status.to_string()),
        },
    }
}

impl Told {
    /// How it is counted.
    pub fn label(&self) -> String {
        match self {
            Told::Done(_) => "done".to_owned(),
            Told::Refused(reply) => format!("refused {}", code(reply)),
            Told::Unknown(why) => format!("unknown: {why}"),
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
