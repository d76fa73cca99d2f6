//! Checks the public addresses of the service with requests like a client's. They may be unreachable from
//! this machine, so a missing response is a warning. A response from another server is a fault.

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

const REQUEST_WAIT: Duration = Duration::from_secs(5);
/// Longer than any response of ours.
const READ_BYTES_MAX: usize = 64 * 1024;
/// Browsers resolve names below it to this machine without DNS.
const THIS_MACHINE: &str = "localhost";

/// The result of a request.
#[derive(Debug, PartialEq, Eq)]
enum ListenResult {
    Ours,
    /// An error, from a proxy or from an overloaded service.
    Trouble(u16),
    Another(u16),
}

struct ProbeResponse {
    status: u16,
    body: Vec<u8>,
}

pub(super) async fn examine(settings: &Settings) -> Vec<Finding> {
    let client = match reqwest::Client::builder().timeout(REQUEST_WAIT).build() {
        Ok(client) => client,
        Err(error) => {
            return vec![Finding::warning(
                API,
                format!("could not build an HTTP client: {error}"),
                "check the certificates of this machine",
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

/// Every edge identifies itself by the title of its 404 page.
async fn pages(client: &reqwest::Client, settings: &Settings) -> Finding {
    let url = missing_page(settings, UrlStyle::Path);
    found(PAGES, &url, requests(client, &url).await.map(|answer| answer.of_an_edge()))
}

/// Uses a random host, because DNS and the certificate must cover all of them.
async fn names(client: &reqwest::Client, settings: &Settings) -> Finding {
    if settings.edge.domain == THIS_MACHINE {
        return Finding::sound(NAMES, "browsers resolve *.localhost to this machine");
    }
    let url = missing_page(settings, UrlStyle::Host);
    found(NAMES, &url, requests(client, &url).await.map(|answer| answer.of_an_edge()))
}

/// The URL of a page that does not exist.
fn missing_page(settings: &Settings, url_style: UrlStyle) -> String {
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
            response.chunk().await.map_err(reqwest::Error::without_url).context("read the response")?
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
        self.result(self.status == 200 && is_ours)
    }

    fn of_an_edge(&self) -> ListenResult {
        let is_ours = String::from_utf8_lossy(&self.body).contains(edge::NO_PAGE);
        self.result(self.status == 404 && is_ours)
    }

    fn result(&self, is_ours: bool) -> ListenResult {
        match self.status {
            _ if is_ours => ListenResult::Ours,
            429 | 500.. => ListenResult::Trouble(self.status),
            status => ListenResult::Another(status),
        }
    }
}

fn found(part: &'static str, url: &str, result: anyhow::Result<ListenResult>) -> Finding {
    match result {
        Ok(ListenResult::Ours) => Finding::sound(part, format!("Handbill responds at {url}")),
        Ok(ListenResult::Trouble(status)) => Finding::warning(
            part,
            format!("{url} responds with {status}"),
            "start the service behind the proxy, or check the proxy's configuration",
        ),
        Ok(ListenResult::Another(status)) => Finding::fault(
            part,
            format!("{url} responds with {status}, but not as Handbill does"),
            "point that address to Handbill in DNS and the proxy, or change the setting",
        ),
        Err(error) => Finding::warning(
            part,
            format!("{url} is unreachable from here: {error:#}"),
            "if it should be reachable, start the service and check DNS, the certificate and the proxy",
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
    fn api_is_recognized_by_its_status_response() {
        let alive = r#"{"status":"ok","version":"9.9.9"}"#;
        assert_eq!(answer(200, alive).of_api(), ListenResult::Ours);
        assert_eq!(answer(200, r#"{"status":"ok"}"#).of_api(), ListenResult::Another(200));
        assert_eq!(answer(200, "<h1>It works!</h1>").of_api(), ListenResult::Another(200));
        assert_eq!(answer(404, alive).of_api(), ListenResult::Another(404));
        assert_eq!(answer(502, "Bad Gateway").of_api(), ListenResult::Trouble(502));
    }

    #[test]
    fn edge_is_recognized_by_its_404_page() {
        let page = format!("<title>{}</title>", edge::NO_PAGE);
        assert_eq!(answer(404, &page).of_an_edge(), ListenResult::Ours);
        assert_eq!(answer(404, "404 page not found").of_an_edge(), ListenResult::Another(404));
        assert_eq!(answer(200, &page).of_an_edge(), ListenResult::Another(200));
        assert_eq!(answer(503, "").of_an_edge(), ListenResult::Trouble(503));
    }

    #[test]
    fn only_a_response_from_another_server_is_a_fault() {
        let of = |result| found(API, "https://api.example.com", result);
        assert!(of(Ok(ListenResult::Ours)).is_sound());
        assert!(of(Ok(ListenResult::Another(200))).is_fault());
        for unsure in [Ok(ListenResult::Trouble(502)), Err(anyhow::anyhow!("no route"))] {
            let finding = of(unsure);
            assert!(!finding.is_sound() && !finding.is_fault(), "{finding}");
        }
    }
}
