//! The field for files on the front page in a browser: chosen files, with and without scripts, and what is
//! dropped on it.

use std::fs;
use std::path::{Path, PathBuf};

use handbill_tests::{Browser, Mode, PATIENCE, Scripts, Value, World, eventually, json, program};

use crate::dashboard_list_browser::at_the_list;
use crate::expectations::{PAGE, assert_serves};
use crate::publish_bodies::tar;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chosen_files_are_published() {
    choose(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_chosen_files_are_published() {
    choose(Scripts::Refused).await;
}

async fn choose(scripts: Scripts) {
    let (world, browser, folder) = (world().await, Browser::start().await, tempfile::tempdir().unwrap());
    browser.with_scripts(scripts).await;
    let site = site_in(folder.path());
    let archive = folder.path().join("site.tar");
    fs::write(&archive, tar(&[("site/index.html", PAGE), ("site/css/app.css", "h1 {}")])).unwrap();
    for files in [&[&*site.join("index.html"), &*site.join("notes.txt")][..], &[&*archive]] {
        browser.open(&world.base_url()).await;
        browser.choose("#files", files).await;
        browser.follow("form[data-drop] button").await;
        assert_published(&browser, &world).await;
    }
    browser.open(&world.base_url()).await;
    browser.follow("form[data-drop] button").await;
    assert_eq!(browser.status().await, 400);
    assert!(browser.text("#files-fault").await.contains("Choose a file"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_folder_is_published_without_hidden_files() {
    let (world, browser, folder) = (world().await, Browser::start().await, tempfile::tempdir().unwrap());
    let site = site_in(folder.path());
    browser.open(&world.base_url()).await;
    assert!(browser.text("[data-drop-note]").await.contains("Drop a file, a folder or a zip"));
    drop_and_wait(&browser, &[&site]).await;
    assert_published(&browser, &world).await;
    let token = browser.text("#token").await;
    let agent = world.stranger().with_token(&token);
    let slug = agent.artifacts().await.expect(200).string("0.slug");
    let files = agent.get(&format!("/v1/artifacts/{slug}/files")).await.expect(200).json();
    let paths: Vec<_> = files.as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(
        paths,
        [".well-known/security.txt", "css/app.css", "index.html", "notes.txt"].map(|path| json!(path))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_files_and_archives_are_published() {
    let (world, browser, folder) = (world().await, Browser::start().await, tempfile::tempdir().unwrap());
    let site = site_in(folder.path());
    let archive = folder.path().join("site.tar");
    fs::write(&archive, tar(&[("site/index.html", PAGE)])).unwrap();
    let zip = zip_in(folder.path(), &world).await;
    for files in [&[&*site.join("index.html"), &*site.join("css")][..], &[&*archive], &[&*zip]] {
        browser.open(&world.base_url()).await;
        drop_and_wait(&browser, files).await;
        assert_published(&browser, &world).await;
    }
    for number in 0..60 {
        fs::write(site.join(format!("{number}.txt")), "x").unwrap();
    }
    browser.open(&world.base_url()).await;
    drop_and_wait(&browser, &[&site]).await;
    assert_eq!(browser.status().await, 413);
    assert!(browser.text("#files-fault").await.contains("50 files"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_dropped_beside_the_field_is_published_too() {
    let (world, browser, folder) = (world().await, Browser::start().await, tempfile::tempdir().unwrap());
    let site = site_in(folder.path());
    browser.open(&world.base_url()).await;
    drop_on_and_wait(&browser, "h1", &[&site.join("index.html")]).await;
    assert_published(&browser, &world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_without_visible_files_is_not_published() {
    let (world, browser, folder) = (world().await, Browser::start().await, tempfile::tempdir().unwrap());
    let hidden = folder.path().join("hidden");
    fs::create_dir_all(hidden.join(".git")).unwrap();
    fs::write(hidden.join(".git/config"), "git").unwrap();
    browser.open(&world.base_url()).await;
    browser.drop_on("form[data-drop]", &[&hidden]).await;
    eventually(PATIENCE, "the reason", async || {
        let text = browser.text("[data-drop-none]").await;
        text.contains("There are no files to publish").then_some(())
    })
    .await;
    assert_eq!(browser.path().await, "/");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_dropped_on_the_dashboard_is_published_on_its_account() {
    let (world, folder) = (world().await, tempfile::tempdir().unwrap());
    let site = site_in(folder.path());
    let (agent, browser, list) = at_the_list(&world, Scripts::Run).await;
    browser.open(&list).await;
    drop_on_and_wait(&browser, ".pages", &[&site.join("index.html")]).await;
    assert_eq!(browser.status().await, 200);
    let path = browser.path().await;
    assert!(path.starts_with(&format!("/dashboard/{}/pages/", agent.handle())), "{path}");
    // The pages of a claimed account have no badge.
    let served = world.visitor().open(&browser.text("#url").await).await.expect(200).text();
    assert!(served.contains("<h1>Hello</h1>"), "{served}");
    assert_eq!(agent.artifacts().await.expect(200).json().as_array().unwrap().len(), 3);
}

async fn world() -> World {
    World::with(Mode::Embedded, program!()).start().await
}

/// A site as a person has it on a disk.
fn site_in(folder: &Path) -> PathBuf {
    let site = folder.join("my site");
    for (path, content) in [
        ("index.html", PAGE),
        ("css/app.css", "h1 { color: teal }"),
        ("notes.txt", "notes"),
        (".git/config", "git"),
        (".DS_Store", "mac"),
        (".well-known/security.txt", "Contact: mailto:ada@example.org"),
    ] {
        let file = site.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    site
}

/// A zip archive of a site, as a file.
async fn zip_in(folder: &Path, world: &World) -> PathBuf {
    let agent = world.agent().await;
    agent.publish("my-site", PAGE).await.expect(201);
    let archive = agent.get("/v1/artifacts/my-site/archive?format=zip").await.expect(200);
    let zip = folder.join("site.zip");
    fs::write(&zip, &archive.body).unwrap();
    zip
}

async fn drop_and_wait(browser: &Browser, files: &[&Path]) {
    drop_on_and_wait(browser, "form[data-drop]", files).await;
}

async fn drop_on_and_wait(browser: &Browser, selector: &str, files: &[&Path]) {
    browser.evaluate("void (window.isLeft = true)").await;
    browser.drop_on(selector, files).await;
    eventually(PATIENCE, "what was dropped is published", async || {
        let script = "return window.isLeft === undefined && document.readyState === 'complete'";
        let is_there = browser.client().execute(script, vec![]).await;
        matches!(is_there, Ok(Value::Bool(true))).then_some(())
    })
    .await;
}

/// The browser shows the response to a publish, and its URL has the page.
async fn assert_published(browser: &Browser, world: &World) {
    assert_eq!(browser.status().await, 200);
    assert!(browser.path().await.starts_with("/published/"), "{}", browser.path().await);
    assert!(browser.text("#token").await.starts_with("svc_sk_"));
    assert_serves(&world.visitor().open(&browser.text("#url").await).await, PAGE);
}
