//! A whole response of the server.

use reqwest::Response;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;
use crate::show::harmless;

const RESPONSE_BYTES_MAX: usize = 16 * 1_048_576;
const SUCCESS: std::ops::Range<u16> = 200..300;
const REDIRECT: std::ops::Range<u16> = 300..400;

/// A whole response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: String,
    pub retry_after: Option<String>,
    pub location: Option<String>,
}

impl Reply {
    pub async fn read_from(mut response: Response) -> reqwest::Result<Self> {
        let status = response.status().as_u16();
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (retry_after, location) = (header("Retry-After"), header("Location"));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            // A longer response is not from Handbill and will fail to parse.
            if body.len() + chunk.len() > RESPONSE_BYTES_MAX {
                break;
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Self { status, body: String::from_utf8_lossy(&body).into_owned(), retry_after, location })
    }

    pub fn succeeded(self) -> Result<Self, Failure> {
        if SUCCESS.contains(&self.status) {
            return Ok(self);
        }
        if REDIRECT.contains(&self.status) {
            let to = self.location.unwrap_or_else(|| "an unknown address".to_owned());
            let message = format!("the server redirects ({}) to {to}", self.status);
            return Err(Failure::unreachable(message, "if that is the right address, use it with --url"));
        }
        Err(Failure::answered(self.status, self.body))
    }

    /// The response as the type of its call, with control characters removed for people's terminals.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let mut answer = self.json()?;
        make_harmless(&mut answer);
        serde_json::from_value(answer).map_err(|error| self.unreadable(&error))
    }

    /// The response as received, for machines.
    pub fn json(&self) -> Result<Value, Failure> {
        serde_json::from_str(&self.body).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &serde_json::Error) -> Failure {
        let message = format!("unexpected response from the server (status {}): {error}", self.status);
        Failure::unreachable(
            message,
            "check that --url points to a Handbill server that is not older than this program",
        )
    }
}

fn make_harmless(answer: &mut Value) {
    match answer {
        Value::String(text) => *text = harmless(text),
        Value::Array(items) => items.iter_mut().for_each(make_harmless),
        Value::Object(fields) => fields.values_mut().for_each(make_harmless),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
