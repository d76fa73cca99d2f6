//! Lighthouse rates our pages on a slow phone: performance, accessibility, best practices and SEO.

use std::time::Duration;

use handbill_tests::{Mode, Value, World, installed, program};
use tokio::process::Command;
use tokio::time::timeout;

const SCORE_MIN: f64 = 0.95;
const CATEGORIES: [&str; 4] = ["performance", "accessibility", "best-practices", "seo"];
/// Other tests may take the processor while a page loads, so a page is rated again.
const ROUNDS_MAX: usize = 3;
const RUN_MAX: Duration = Duration::from_secs(60);
const SERVED: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"description\" content=\"A page.\">\
    <title>A page</title></head><body><main><h1>A page</h1><p>Some text</p></main></body></html>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lighthouse_rates_our_pages_at_95_or_more() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let served = world.agent().await.publish("my-page", SERVED).await.expect(201).string("url");
    let ours = ["/", "/docs", "/docs/quickstart"].map(|path| format!("{}{path}", world.base_url()));
    for url in ours.into_iter().chain([served]) {
        let mut low = Vec::new();
        for _ in 0..ROUNDS_MAX {
            low = match rate(&url).await {
                Ok(report) => low_scores(&report),
                Err(fault) => vec![fault],
            };
            if low.is_empty() {
                break;
            }
        }
        assert!(low.is_empty(), "{url}\n{}", low.join("\n"));
    }
}

/// The report, or why there is none.
async fn rate(url: &str) -> Result<Value, String> {
    let mut command = Command::new(installed("HANDBILL_TEST_NODE"));
    command
        .arg(installed("HANDBILL_TEST_LIGHTHOUSE").join("lighthouse/cli/index.js"))
        .args([url, "--output=json", "--quiet", "--no-enable-error-reporting"])
        .arg("--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage")
        .kill_on_drop(true);
    let output =
        timeout(RUN_MAX, command.output()).await.map_err(|_| "lighthouse does not end".to_owned())?;
    let output = output.expect("lighthouse runs");
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("lighthouse: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The categories with a low score, each with its failed audits.
fn low_scores(report: &Value) -> Vec<String> {
    let is_low = |score: &Value| score.as_f64().is_some_and(|score| score < SCORE_MIN);
    let failed = |category: &str| {
        let audits = report["categories"][category]["auditRefs"].as_array().expect("a list of audits").iter();
        let names = audits.filter_map(|audit| audit["id"].as_str());
        names.filter(|name| is_low(&report["audits"][*name]["score"])).collect::<Vec<_>>().join(", ")
    };
    let low = |category: &'static str| {
        let score = &report["categories"][category]["score"];
        (!score.is_number() || is_low(score)).then(|| format!("{category} {score}: {}", failed(category)))
    };
    CATEGORIES.into_iter().filter_map(low).collect()
}
