//! A site that Vite built, in a tab of Chromium that stays open across a publish. The tab loads all parts
//! that it has not loaded yet, although the new version has none of them.

use std::fs;
use std::path::Path;

use handbill_tests::{Agent, Browser, Reply, in_both_modes, installed, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::edge_browser::font;

/// Enough for names with every kind of letter that Vite's fingerprints have.
const PARTS: usize = 16;
const INDEX: &str = "<!doctype html><html lang=\"en\"><head><title>Parts</title></head>
    <body><p id=\"said\"></p><script type=\"module\" src=\"./main.js\"></script></body></html>";
/// Loads every part when it is called.
const MAIN: &str = "const parts = import.meta.glob('./parts/*.js');
    document.title = 'version VERSION';
    window.loadAll = () => Promise.all(Object.values(parts).map(async load => (await load()).text));";
const LOADED: &str = "window.loadAll().then(texts => texts.sort(), error => String(error))";
/// Whether the font was loaded, and what the style sheet of the first part has set.
const STYLED: &str = "document.fonts.load('20px Square').then(faces => [faces.length, faces[0]?.status,
    getComputedStyle(document.body).getPropertyValue('--part-0').trim()], error => String(error))";
const FAILED_LOADS: &str = "performance.getEntriesByType('resource')
    .filter(entry => entry.responseStatus >= 400).map(entry => entry.name)";

in_both_modes! {
    async fn open_tab_of_a_vite_site_loses_no_lazy_chunk_across_a_publish(world: World) {
        let (agent, browser) = (world.agent().await, Browser::start().await);
        let (first, second) = (built("one").await, built("two").await);
        let is_new = |path: &str| path.contains("assets/") && !second.iter().any(|(other, _)| other == path);
        assert!(first.iter().filter(|(path, _)| is_new(path)).count() > 2 * PARTS, "the names must differ");
        let page = publish(&agent, &first).await;
        browser.open(&page.string("url")).await;
        assert_eq!(browser.title().await, "version one");
        publish(&agent, &second).await;
        let expected: Vec<String> = texts("one");
        assert_eq!(browser.evaluate(LOADED).await, json!(expected));
        assert_eq!(browser.evaluate(STYLED).await, json!([1, "loaded", "one"]));
        assert_eq!(browser.evaluate(FAILED_LOADS).await, json!([]));
        // The browser keeps the page for a minute.
        browser.open(&format!("{}?again", page.string("url"))).await;
        assert_eq!(browser.title().await, "version two");
        assert_eq!(browser.evaluate(LOADED).await, json!(texts("two")));
    }
}

fn texts(version: &str) -> Vec<String> {
    let mut texts: Vec<_> = (0..PARTS).map(|number| format!("{version} {number}")).collect();
    texts.sort();
    texts
}

async fn publish(agent: &Agent, files: &[(String, Vec<u8>)]) -> Reply {
    let files: Vec<_> = files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    agent.publish_files("my-site", &files).await.expect(201)
}

/// The files of the site, as Vite builds it.
async fn built(version: &str) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    write_sources(&folder, version);
    let vite = installed("HANDBILL_TEST_VITE").join("vite/bin/vite.js");
    let output = Command::new(installed("HANDBILL_TEST_NODE"))
        .arg(vite)
        .arg("build")
        .arg(folder.path())
        .args(["--base", "./", "--assetsInlineLimit", "0", "--logLevel", "warn"])
        .current_dir(folder.path())
        .kill_on_drop(true)
        .output()
        .await
        .expect("Vite runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files = Vec::new();
    collect(&folder.path().join("dist"), "", &mut files);
    files
}

/// Only the first version has the font, which the style sheet of its first part loads.
fn write_sources(folder: &TempDir, version: &str) {
    let root = folder.path();
    fs::create_dir(root.join("parts")).unwrap();
    fs::write(root.join("index.html"), INDEX).unwrap();
    fs::write(root.join("main.js"), MAIN.replace("VERSION", version)).unwrap();
    fs::write(root.join("parts/square.woff2"), font()).unwrap();
    for number in 0..PARTS {
        let script = format!("import './{number}.css'; export const text = '{version} {number}';");
        let face = if number == 0 && version == "one" {
            "@font-face { font-family: Square; src: url(./square.woff2) }"
        } else {
            ""
        };
        let style = format!("{face} body {{ --part-{number}: {version} }}");
        fs::write(root.join(format!("parts/{number}.js")), script).unwrap();
        fs::write(root.join(format!("parts/{number}.css")), style).unwrap();
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push((name, fs::read(entry.path()).unwrap()));
        }
    }
}
