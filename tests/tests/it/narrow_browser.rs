//! Lists on narrow screens: a page takes two lines and shows its views, a queue takes one line.

use std::time::Duration;

use domain::Time;
use handbill_tests::{Browser, Mode, PATIENCE, Scripts, World, eventually, json, program};

use crate::dashboard_browser::{BrowserSession, sign_up};
use crate::pages_every_state::serve;

const DAY: Duration = Duration::from_secs(24 * 3600);
const HEIGHT: u32 = 750;

/// The published page of the README.
const REPORT: &str = include_str!("readme/bike-counter.html");

/// The pages of the README's dashboard: the slug, its title, its visibility, and its views on the last days.
const PAGES: [(&str, &str, &str, [usize; 5]); 5] = [
    ("school-routes", "Safe routes to school", "public", [1, 3, 2, 0, 4]),
    ("grant-application", "Grant application 2027", "private", [0, 0, 0, 0, 0]),
    ("volunteer-survey", "Volunteer survey: results", "unlisted", [0, 2, 1, 1, 0]),
    ("repair-cafe", "Repair café: dates and tools", "public", [2, 1, 4, 6, 3]),
    ("bike-counter", "", "public", [3, 5, 4, 8, 12]),
];

/// The heights of the rows, and the number of views lines that can be seen.
const ROWS: &str = "[[...document.querySelectorAll('.pages > li')].map(row => row.offsetHeight),
    [...document.querySelectorAll('.pages svg')].filter(line => line.clientWidth > 40).length,
    document.documentElement.scrollWidth]";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_of_a_page_has_two_lines_at_most_and_shows_its_views_on_every_screen() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let session = at_a_visited_account(&world).await;
    for width in [320, 360, 390, 480, 600, 767, 768, 959, 960, 1280] {
        session.browser.show_in(width, HEIGHT).await;
        let seen = session.browser.evaluate(ROWS).await;
        let heights: Vec<u64> = serde_json::from_value(seen[0].clone()).expect("heights");
        // Two lines of 26 pixels and the padding.
        let is_short = |height: &u64| *height < 2 * 26 + 24;
        assert!(heights.len() == PAGES.len() && heights.iter().all(is_short), "{width}: {heights:?}");
        assert_eq!(seen[1], json!(PAGES.len() - 1), "every visited page shows its views at {width}");
        assert!(seen[2].as_u64() <= Some(width.into()), "{width}: {}", seen[2]);
    }
    session.browser.show_in(1200, HEIGHT).await;
    session.browser.keep_window("readme-dashboard").await;
}

/// A signed-in person with the pages of the README, which were visited on several days.
async fn at_a_visited_account(world: &World) -> BrowserSession {
    // All days are in one month.
    let now = Time::from_millis(world.now_seconds() * 1000);
    world.advance(now.month().next().start().plus(9 * DAY).since(now));
    let agent = world.agent().await;
    let owner = sign_up(world, "mara").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    for (slug, title, visibility, _) in PAGES {
        let page = if title.is_empty() {
            REPORT.to_owned()
        } else {
            format!("<title>{title}</title><h1>{title}</h1>")
        };
        agent.publish(slug, page).await.expect(201);
        if visibility != "public" {
            agent.set_visibility(slug, visibility).paying("dev:0.5").await.expect(200);
        }
    }
    let (mut views, days) = (0, PAGES[0].3.len());
    for day in 0..days {
        for (slug, _, _, on_days) in PAGES {
            let url = agent.artifact(slug).await.expect(200).string("url");
            for _ in 0..on_days[day] {
                world.visitor().open(&url).await.expect(200);
            }
            views += on_days[day];
        }
        eventually(PATIENCE, "the views are counted", async || {
            let list = agent.artifacts().await.expect(200).json();
            let counts = list.as_array()?.iter().filter_map(|page| page["views_month"].as_u64());
            (counts.sum::<u64>() == views as u64).then_some(())
        })
        .await;
        if day + 1 < days {
            world.advance(DAY);
        }
    }
    BrowserSession::take(world, "mara", Scripts::Run).await
}

/// The height of each queue's summary, what of it is seen, and what is seen in part.
const QUEUES: &str = "[...document.querySelectorAll('.queues-narrow summary')].map(summary => {
    const { bottom, right } = summary.getBoundingClientRect();
    const parts = [...summary.children].map(part => [part.textContent, part.getBoundingClientRect()]);
    const isSeen = ([, box]) => box.top < bottom;
    return [summary.offsetHeight, parts.filter(isSeen).map(([text]) => text),
        parts.filter(isSeen).filter(([, box]) => box.bottom > bottom || box.right > right + 1).length];
})";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_takes_one_line_on_a_phone_and_shows_what_needs_attention() {
    let (server, browser) = (serve().await, Browser::start().await);
    browser.open(&format!("{server}/admin-queues")).await;
    for (width, of_publish) in [
        (320, vec!["publish", "3 dead", "1,252 open"]),
        (360, vec!["publish", "3 dead", "1,252 open"]),
        (600, vec!["publish", "3 dead", "1,252 open", "2,400 in 60 s"]),
    ] {
        browser.show_in(width, HEIGHT).await;
        let queues = browser.evaluate(QUEUES).await;
        let queues = queues.as_array().expect("queues");
        assert_eq!((queues.len(), &queues[0][1]), (5, &json!(of_publish)), "{width}");
        let are_whole = queues.iter().all(|queue| queue[0] == json!(44) && queue[2] == json!(0));
        assert!(are_whole, "{width}: {queues:?}");
        assert_eq!(queues[1][1][1], json!("paused"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn published_report_of_the_readme_fits_every_screen() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let owner = sign_up(&world, "mara").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let url = agent.publish("bike-counter", REPORT).await.expect(201).string("url");
    let browser = Browser::start().await;
    browser.open(&url).await;
    assert_eq!(browser.title().await, "Harbour Bridge bike counter");
    for width in [320, 1200] {
        browser.show_in(width, HEIGHT).await;
        let is_whole =
            "[document.documentElement.scrollWidth, document.querySelectorAll('.bars rect').length]";
        assert_eq!(browser.evaluate(is_whole).await, json!([width, 31]));
    }
    browser.keep_window("readme-published-page").await;
}
