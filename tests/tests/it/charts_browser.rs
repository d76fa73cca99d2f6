//! Charts in a browser, with and without scripts: the data of each is on its page as text.

use handbill_tests::{Browser, Mode, PATIENCE, Scripts, Value, World, eventually, json, program};

use crate::dashboard_browser::{BrowserSession, sign_up};
use crate::expectations::page_saying;

const VIEWS: u64 = 3;

/// The label and the bars of each chart by day.
const BY_DAY: &str = "[...document.querySelectorAll('figure.by-day')].map(figure => [
    figure.querySelector('svg[role=img]').getAttribute('aria-label'),
    figure.querySelector('figcaption').innerText,
    [...figure.querySelectorAll('title')].map(title => title.textContent)])";
/// The rows of the table behind the charts, which has a column for each.
const BEHIND: &str = "[...document.querySelectorAll('section:has(.by-day) details tbody tr')]
    .map(row => [...row.cells].map(cell => cell.textContent.trim()))";
const IS_TABLE_SEEN: &str = "document.querySelector('section:has(.by-day) details table').checkVisibility()";

/// The label and the caption of each chart of a queue.
const OF_QUEUES: &str = "[...document.querySelectorAll('.charts figure')].map(figure => [
    figure.querySelector('svg[role=img]').getAttribute('aria-label'),
    figure.querySelector('strong').textContent, figure.querySelector('.note').textContent])";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charts_by_day_have_a_table_with_the_same_numbers_with_and_without_scripts() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let url = agent.publish("my-page", page_saying("seen")).await.expect(201).string("url");
    for _ in 0..VIEWS {
        world.visitor().open(&url).await.expect(200);
    }
    eventually(PATIENCE, "the views are counted", async || {
        (agent.usage().await.expect(200).integer("traffic.views") == VIEWS.cast_signed()).then_some(())
    })
    .await;
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let session = BrowserSession::take(&world, "ada", Scripts::Run).await;
    for (below, charts) in [("/pages/my-page", 1), ("/usage", 2)] {
        session.open(below).await;
        let with_scripts = read_by_day(&session.browser, charts).await;
        session.browser.with_scripts(Scripts::Refused).await;
        session.open(below).await;
        assert_eq!(read_by_day(&session.browser, charts).await, with_scripts, "{below}");
        session.browser.with_scripts(Scripts::Run).await;
    }
}

/// The charts by day of the open page, each of which has the numbers of its column of the table.
async fn read_by_day(browser: &Browser, count: usize) -> Value {
    let (charts, rows) = (browser.evaluate(BY_DAY).await, browser.evaluate(BEHIND).await);
    assert_eq!(charts.as_array().map(Vec::len), Some(count), "{charts}");
    let rows: Vec<Vec<String>> = serde_json::from_value(rows).expect("rows of text");
    for (column, chart) in charts.as_array().unwrap().iter().enumerate() {
        let (label, caption) = (chart[0].as_str().unwrap(), chart[1].as_str().unwrap());
        let facts = label.split_once(" by day: ").expect("a label with facts").1;
        assert!(caption.ends_with(facts) && facts.contains(" in total"), "{label}: {caption}");
        // The newest day is the last bar and the first row.
        let of_table: Vec<_> =
            rows.iter().rev().map(|row| format!("{}: {}", row[0], row[column + 1])).collect();
        assert_eq!(chart[2], json!(of_table));
    }
    assert!(
        charts[0][2].as_array().unwrap().last().unwrap().as_str().unwrap().ends_with(&format!(": {VIEWS}"))
    );
    assert_eq!(browser.evaluate(IS_TABLE_SEEN).await, json!(false));
    browser.click("section:has(.by-day) details summary").await;
    assert_eq!(browser.evaluate(IS_TABLE_SEEN).await, json!(true));
    charts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charts_of_the_queue_board_say_the_same_in_words_with_and_without_scripts() {
    // So that the queue of scans has a job.
    let setup = World::with(Mode::Embedded, program!()).env("HANDBILL_TEST_FAULTS", "scan.early:fail");
    let world = setup.start().await;
    world.agent().await.publish("my-page", page_saying("scanned")).await.expect(201);
    let browser = Browser::start().await;
    for scripts in [Scripts::Refused, Scripts::Run] {
        browser.with_scripts(scripts).await;
        for (path, per_queue) in [("/admin/queues", 8), ("/admin/queues/scan", 4)] {
            let charts = eventually(PATIENCE, "the queue has charts", async || {
                browser.open(&format!("{}{path}", world.base_url())).await;
                let charts = browser.evaluate(OF_QUEUES).await;
                charts.as_array().filter(|charts| charts.len() >= per_queue).cloned()
            })
            .await;
            assert_say_what_they_draw(&charts, path);
            if scripts == Scripts::Run {
                next_update(&browser).await;
                let later = browser.evaluate(OF_QUEUES).await;
                assert_eq!(later.as_array().map(Vec::len), Some(charts.len()), "an update loses a chart");
                assert_say_what_they_draw(later.as_array().unwrap(), path);
            }
        }
        // The numbers of each minute.
        browser.click("#minutes summary").await;
        let first = browser.text("#minutes tbody tr").await;
        assert!(first.contains("UTC"), "{scripts:?}: {first}");
    }
}

fn assert_say_what_they_draw(charts: &[Value], path: &str) {
    for chart in charts {
        let name = chart[1].as_str().unwrap();
        let text = chart[2].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let label = chart[0].as_str().unwrap();
        assert!(label.starts_with(name) && label.ends_with(&format!(": {text}")), "{path}: {chart}");
    }
}

/// Waits until the script has updated the page.
async fn next_update(browser: &Browser) {
    let before = browser.text("#live-as-of").await;
    eventually(PATIENCE, "the page is updated", async || {
        (browser.text("#live-as-of").await != before).then_some(())
    })
    .await;
}
