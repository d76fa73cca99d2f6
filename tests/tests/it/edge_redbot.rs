//! Spec 4.12, by a third-party validator: REDbot requests pages and their parts in every way that HTTP
//! defines, and reports faults.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Mode, Value, World, program};
use tokio::process::Command;

use crate::moderation::becomes;

const PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>A page</title></head><body>";

/// Accepted warnings, by their names in REDbot.
const ACCEPTED: [&str; 2] = [
    // The specification requires it: `Cache-Control: public, max-age=60`.
    "STORE_PUBLIC_UNNECESSARY",
    // The specification allows inline scripts and styles, because published pages contain them.
    "CSP_UNSAFE_INLINE",
];

/// Checks of REDbot that must have passed, which proves that it ran them.
const VALIDATED: [&str; 4] = ["DATE_CORRECT", "CL_CORRECT", "INM_304", "IMS_304"];
const IN_PARTS: &str = "RANGE_CORRECT";
const COMPRESSED: &str = "CONNEG_GZIP_GOOD";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redbot_finds_no_faults_in_edge_responses() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let url = publish_site(&world).await;
    // From then on the edge sends the time of the last change.
    world.advance(Duration::from_secs(3));
    let whole = [&VALIDATED[..], &[IN_PARTS]].concat();
    let compressed = [&whole[..], &[COMPRESSED]].concat();
    let expected = [
        ("", 200, compressed.clone()),
        ("css/app.css", 200, compressed),
        ("img/noise.png", 200, whole),
        ("docs", 301, vec!["DATE_CORRECT"]),
        ("nothing", 404, vec!["DATE_CORRECT", "CL_CORRECT"]),
    ];
    let asked = expected.iter().map(|(path, ..)| ask_redbot(format!("{url}{path}")));
    for ((path, status, good), answers) in expected.iter().zip(join_all(asked).await) {
        assert_eq!(answers[0]["status"], *status, "{path}: {answers:#}");
        assert_sound(path, &answers);
        let found = notes(&answers);
        for name in good {
            assert!(found.iter().any(|note| note["id"] == *name), "{path} lacks {name}: {answers:#}");
        }
    }
}

async fn publish_site(world: &World) -> String {
    let page = format!("{PAGE}{}</body></html>", "<p>Hello there, reader.</p>\n".repeat(200));
    let style = "p { color: teal; }\n".repeat(200);
    // The content of the image does not matter here.
    let noise: Vec<u8> = (0..5_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let image = [b"\x89PNG\r\n\x1a\n", &noise[..]].concat();
    let files: [(&str, &[u8]); 4] = [
        ("index.html", page.as_bytes()),
        ("css/app.css", style.as_bytes()),
        ("img/noise.png", &image),
        ("docs/index.html", page.as_bytes()),
    ];
    let agent = world.agent().await;
    let published = agent.publish_files("my-site", &files).await.expect(201);
    becomes(&agent, "my-site", "pass").await;
    published.string("url")
}

/// No request failed, no check is bad, and no warning is new.
#[track_caller]
fn assert_sound(path: &str, answers: &Value) {
    for answer in answers.as_array().expect("a list of answers") {
        assert!(answer["error"].is_null(), "{path}: {answer:#}");
    }
    let faults: Vec<_> = notes(answers)
        .into_iter()
        .filter(|note| match note["level"].as_str().expect("a level") {
            "GOOD" | "INFO" => false,
            "WARN" => !ACCEPTED.iter().any(|name| note["id"] == *name),
            _ => true,
        })
        .collect();
    assert!(faults.is_empty(), "{path}: {faults:#?}\n{answers:#}");
}

fn notes(answers: &Value) -> Vec<&Value> {
    let answers = answers.as_array().expect("a list of answers").iter();
    answers.flat_map(|answer| answer["notes"].as_array().expect("a list of notes")).collect()
}

async fn ask_redbot(url: String) -> Value {
    let python = std::env::var_os("HANDBILL_TEST_REDBOT")
        .expect("HANDBILL_TEST_REDBOT names no program: run the tests by scripts/test");
    let asked = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/redbot/check.py"))
        .arg(&url)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .expect("REDbot runs");
    assert!(asked.status.success(), "{url}: {}", String::from_utf8_lossy(&asked.stderr));
    serde_json::from_slice(&asked.stdout).expect("JSON from check.py")
}
