//! Migration from one machine to many, after which everything that was given out still works.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use handbill_tests::{Agent, Mode, PATIENCE, Reply, Visitor, World, eventually, json, program};

use super::{failed, keeper, large_page, succeeded};
use crate::expectations::{front_page, page_saying};

/// Its files share an object.
const SITE: [(&str, &[u8]); 3] =
    [("index.html", b"<p>a site"), ("a.css", b"p{color:teal}"), ("b.js", b"let b = 1")];
/// The wait for a retry after several failures.
const RETRY_WAIT: Duration = Duration::from_secs(60);

/// The settings of a world in a file, as an operator has them.
fn settings_file(world: &World) -> PathBuf {
    let value = |name: &str| json!(world.setting(name));
    let text = format!(
        "data_dir = {}\n[database]\nurl = {}\n[redis]\nurl = {}\n[storage]\nurl = {}\nendpoint = {}\n\
         access_key_id = {}\nsecret_access_key = {}\n[secrets]\nsigning = {}\n",
        value("HANDBILL_DATA_DIR"),
        value("HANDBILL_DATABASE__URL"),
        value("HANDBILL_REDIS__URL"),
        value("HANDBILL_STORAGE__URL"),
        value("HANDBILL_STORAGE__ENDPOINT"),
        value("HANDBILL_STORAGE__ACCESS_KEY_ID"),
        value("HANDBILL_STORAGE__SECRET_ACCESS_KEY"),
        value("HANDBILL_SECRETS__SIGNING"),
    );
    let path = world.folder().join("settings.toml");
    fs::write(&path, text).unwrap();
    path
}

async fn assert_serves_the_site(visitor: &Visitor, site: &Reply) {
    for (path, content) in SITE {
        let file = visitor.open_site(site, path.trim_end_matches("index.html")).await.expect(200);
        assert_eq!(file.text().as_bytes(), content, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_embedded_installation_moves_to_production_with_nothing_lost() {
    let old = World::with(Mode::Embedded, program!()).start().await;
    let (agent, owner) = keeper(&old).await;
    agent.buy_credit(5.0).paying("dev:5").await.expect(200);
    let html = page_saying("the first");
    let page = agent.publish("my-page", html.clone()).await.expect(201);
    agent.add_version("my-page", page_saying("the second")).await.expect(201);
    agent.publish("secret-page", large_page("for few")).await.expect(201);
    let site = agent.publish_files("a-site", &SITE).await.expect(201);
    let private = agent.set_visibility("secret-page", "private").await.expect(200);
    let member = agent.minted(&json!({ "name": "of a machine" })).await;
    // One publish is in progress, with its content in the spool.
    let holding = "publish.before_blob_put:fail,answer.wait_ms:instead=600000";
    let dying = format!("{holding},publish.after_push:kill");
    old.api().restart_with(&[("HANDBILL_TEST_FAULTS", &dying)]).await;
    assert!(agent.publish("on-its-way", large_page("on its way")).try_send().await.is_err());
    old.api().exit_within(PATIENCE).await;
    old.api().restart_with(&[("HANDBILL_TEST_FAULTS", holding)]).await;
    eventually(PATIENCE, "a publish that waits", async || {
        old.jobs("publish").await.iter().any(|job| job.status != "Done").then_some(())
    })
    .await;

    let new = World::with(Mode::Production, program!()).prepare().await;
    let (from, to) = (old.folder().join("data"), settings_file(&new));
    let args = ["migrate-data", "--from", from.to_str().unwrap(), "--to", to.to_str().unwrap()];
    let running = failed(new.command(&args, &[]).await);
    assert!(running.contains("is running") && running.contains("handbill serve"), "{running}");
    old.api().terminate().await;
    // The killed process counts as running until it has missed its heartbeats for some seconds.
    let output = eventually(PATIENCE * 2, "the killed process counts as stopped", async || {
        let moved = new.command(&args, &[]).await;
        (!moved.output.contains("is running")).then_some(moved)
    })
    .await;
    let output = succeeded(output);
    assert!(output.contains("balances of $4.5 in total, which the entries add up to exactly"), "{output}");
    assert!(output.contains("HANDBILL_SECRETS__SIGNING"), "{output}");
    let again = failed(new.command(&args, &[]).await);
    assert!(again.contains("is not empty: choose another target"), "{again}");

    let (api, edge) = (new.start_api().await, new.start_edge().await);
    new.start_worker(&[]).await;
    let moved = |agent: &Agent| agent.at(&api);
    let visitor = new.visitor().at(&edge);
    let usage = moved(&agent).usage().await.expect(200);
    assert_eq!(usage.number("credits_usd"), 4.5);
    moved(&agent).activate("my-page", 1).await.expect(200);
    assert_eq!(front_page(&visitor, &page).await.expect(200).text(), html);
    assert_serves_the_site(&visitor, &site).await;
    let opened = visitor.open(&private.string("signed_url")).await.expect(200);
    assert_eq!(opened.text(), large_page("for few"));
    moved(&member).account().await.expect(200);
    owner.at(&api).me().await.expect(200);
    let done = eventually(RETRY_WAIT, "the pending publish", async || {
        Some(moved(&agent).artifact("on-its-way").await).filter(|reply| reply.status == 200)
    })
    .await;
    assert_eq!(front_page(&visitor, &done).await.expect(200).text(), large_page("on its way"));
    moved(&agent).publish("my-page", page_saying("the third")).await.expect(201);
    succeeded(new.command(&["scrub"], &[]).await);
    succeeded(new.command(&["ledger", "check"], &[]).await);

    back_again(&new, &agent, &to).await;
}

/// The other direction: the production world moves to a directory again.
async fn back_again(production: &World, agent: &Agent, settings: &std::path::Path) {
    let folder = production.folder().join("one-machine");
    let env = [("HANDBILL_DATA_DIR", folder.to_str().unwrap())];
    let embedded = World::with(Mode::Embedded, program!()).prepare().await;
    succeeded(embedded.command(&["migrate"], &env).await);
    for process in [production.api(), production.edge(), production.worker()] {
        process.terminate().await;
    }
    let args = ["migrate-data", "--from", settings.to_str().unwrap(), "--to", folder.to_str().unwrap()];
    succeeded(embedded.command(&args, &[]).await);
    succeeded(embedded.command(&["scrub"], &env).await);
    succeeded(embedded.command(&["ledger", "check"], &env).await);
    let shown = succeeded(embedded.command(&["ledger", "show", &agent.handle()], &env).await);
    assert!(shown.contains("visibility:"), "{shown}");
}
