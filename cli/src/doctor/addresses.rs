//! The addresses under which others reach the service, asked as they would ask. From where the doctor runs there may be no
//! way to them, so silence is a warning; an answer that is plainly somebody else's is a fault.

use std::time::Duration;

use anyhow::Context;
use config::Settings;
use domain::link::{Addresses, UrlStyle};
use domain::{Chance, Host};
use serde::Deserialize;

use super::finding::Finding;

pub(super) const API: &str = "api.base_url";
const PAGES: &str = "edge.serve_url";
const NAMES: &str = "edge.domain";

const ASK_WAIT: Duration = Duration::from_secs(5);
/// Our own answers are shorter.
const READ_BYTES_MAX: usize = 64 * 1024;
/// Names below it lead to this machine without any DNS, and for browsers alone.
const THIS_MACHINE: &str = "localhost";

/// What came of asking.
#[derive(Debug, PartialEq, Eq)]
enum ListenResult {
    Ours,
    /// A proxy speaks for what is behind it, or the service is busy.
    Trouble(u16),
    Another(u16),
}

struct ProbeResponse {
    status: u16,
    body: Vec<u8>,
}

pub(super) async fn look(settings: &Settings) -> Vec<Finding> {
    let client = match reqwest::Client::builder().timeout(ASK_WAIT).build() {
        Ok(client) => client,
        Err(error) => {
            return vec![Finding::warning(
                API,
                format!("nothing can be asked: {error}"),
                "see the certificates of this machine",
            )];
        }
    };
    let (api, pages, names) =
        tokio::join!(api(&client, settings), pages(&client, settings), names(&client, settings));
    vec![api, pages, names]
}

async fn api(client: &reqwest::Client, settings: &Settings) -> Finding {
    let url = format!("{}/v1/status", settings.api.base_url);
    found(API, &url, requests(client, &url).await.map(|answer| answer.of_api()))
}

/// Every edge says of a page that is nowhere in the same words that it is not there.
async fn pages(client: &reqwest::Client, settings: &Settings) -> Finding {
    let url = nowhere(settings, UrlStyle::Path);
    found(PAGES, &url, requests(client, &url).await.map(|answer| answer.of_an_edge()))
}

/// A name that nobody has: the DNS and the certificate must hold for all of them.
async fn names(client: &reqwest::Client, settings: &Settings) -> Finding {
    if settings.edge.domain == THIS_MACHINE {
        return Finding::sound(NAMES, "names below localhost lead browsers to this machine");
    }
    let url = nowhere(settings, UrlStyle::Host);
    found(NAMES, &url, requests(client, &url).await.map(|answer| answer.of_an_edge()))
}

/// The address of a page that nobody has published.
fn nowhere(settings: &Settings, url_style: UrlStyle) -> String {
    let name = format!("doctor-{}", Chance::from_system().base36(8));
    let addresses = Addresses { url_style, ..settings.addresses() };
    match name.parse::<Host>() {
        Ok(host) => addresses.page(&host),
        Err(_) => addresses.serve_url,
    }
}

async fn requests(client: &reqwest::Client, url: &str) -> anyhow::Result<ProbeResponse> {
    let mut response = client.get(url).send().await.map_err(reqwest::Error::without_url)?;
    let mut body = Vec::new();
    while body.len() < READ_BYTES_MAX
        && let Some(chunk) =
            response.chunk().await.map_err(reqwest::Error::without_url).context("read the answer")?
    {
        body.extend_from_slice(&chunk);
    }
    Ok(ProbeResponse { status: response.status().as_u16(), body })
}

impl ProbeResponse {
    fn of_api(&self) -> ListenResult {
        #[derive(Deserialize)]
        struct Alive {
            status: String,
            #[serde(rename = "version")]
            _version: String,
        }
        let is_ours = serde_json::from_slice::<Alive>(&self.body).is_ok_and(|alive| alive.status == "ok");
        self.heard(self.status == 200 && is_ours)
    }

    fn of_an_edge(&self) -> ListenResult {
        let is_ours = String::from_utf8_lossy(&self.body).contains(edge::NO_PAGE);
        self.heard(self.status == 404 && is_ours)
    }

    fn heard(&self, is_ours: bool) -> ListenResult {
        match self.status {
            _ if is_ours => ListenResult::Ours,
            429 | 500.. => ListenResult::Trouble(self.status),
            status => ListenResult::Another(status),
        }
    }
}

fn found(part: &'static str, url: &str, heard: anyhow::Result<ListenResult>) -> Finding {
    match heard {
        Ok(ListenResult::Ours) => Finding::sound(part, format!("Handbill answers at {url}")),
        Ok(ListenResult::Trouble(status)) => Finding::warning(
            part,
            format!("{url} answers {status}"),
            "start what is behind the proxy there, or see where the proxy leads",
        ),
        Ok(ListenResult::Another(status)) => Finding::fault(
            part,
            format!("{url} answers {status}, and not as Handbill does"),
            "lead that address to Handbill by the DNS and the proxy, or set another",
        ),
        Err(error) => Finding::warning(
            part,
            format!("{url} does not answer here: {error:#}"),
            "if it should: start the service, and see to the DNS, the certificate and the proxy",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> ProbeResponse {
        ProbeResponse { status, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_api_is_known_by_its_status() {
        let alive = r#"{"status":"ok","version":"9.9.9"}"#;
        assert_eq!(answer(200, alive).of_api(), ListenResult::Ours);
        assert_eq!(answer(200, r#"{"status":"ok"}"#).of_api(), ListenResult::Another(200));
        assert_eq!(answer(200, "<h1>It works!</h1>").of_api(), ListenResult::Another(200));
        assert_eq!(answer(404, alive).of_api(), ListenResult::Another(404));
        assert_eq!(answer(502, "Bad Gateway").of_api(), ListenResult::Trouble(502));
    }

    #[test]
    fn an_edge_is_known_by_what_it_says_of_a_page_that_is_nowhere() {
        let page = format!("<title>{}</title>", edge::NO_PAGE);
        assert_eq!(answer(404, &page).of_an_edge(), ListenResult::Ours);
        assert_eq!(answer(404, "404 page not found").of_an_edge(), ListenResult::Another(404));
        assert_eq!(answer(200, &page).of_an_edge(), ListenResult::Another(200));
        assert_eq!(answer(503, "").of_an_edge(), ListenResult::Trouble(503));
    }

    #[test]
    fn only_another_s_answer_is_a_fault() {
        let of = |heard| found(API, "https://api.example.com", heard);
        assert!(of(Ok(ListenResult::Ours)).is_sound());
        assert!(of(Ok(ListenResult::Another(200))).is_fault());
        for unsure in [Ok(ListenResult::Trouble(502)), Err(anyhow::anyhow!("no route"))] {
            let finding = of(unsure);
            assert!(!finding.is_sound() && !finding.is_fault(), "{finding}");
        }
    }
}
