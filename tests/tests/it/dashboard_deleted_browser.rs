//! Deleted pages in a browser, with and without scripts: a person brings one back, deletes a version, and then
//! deletes the page forever.

use handbill_tests::{Mode, Scripts, World, program};

use crate::dashboard_browser::{BrowserSession, sign_up};
use crate::expectations::{PAGE, front_page, page_saying};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_restores_a_page_and_deletes_it_forever() {
    restore_and_purge(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_person_restores_a_page_and_deletes_it_forever() {
    restore_and_purge(Scripts::Refused).await;
}

async fn restore_and_purge(scripts: Scripts) {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (agent, visitor) = (world.agent().await, world.visitor());
    agent.publish("my-page", page_saying("first")).await.expect(201);
    let page = agent.publish("my-page", PAGE).await.expect(201);
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    agent.delete("my-page").await.expect(200);
    front_page(&visitor, &page).await.expect(404);

    let session = BrowserSession::take(&world, "ada", scripts).await;
    session.browser.follow("main a[href$='/deleted']").await;
    session.inspect("deleted").await;
    assert!(session.browser.text("tbody th").await.contains(&page.string("host")));
    session.browser.follow("form[action$='/restore'] button").await;
    assert!(session.notice().await.contains("restored"), "{}", session.notice().await);
    front_page(&visitor, &page).await.expect(200);

    session.browser.follow("tbody a[href$='/delete/1']").await;
    session.inspect("version-delete").await;
    session.browser.follow("main button.danger").await;
    assert!(session.notice().await.contains("deleted"), "{}", session.notice().await);
    let versions = agent.artifact("my-page").await.expect(200).at("versions");
    assert_eq!(versions.as_array().map(Vec::len), Some(1));

    session.confirm("[data-dialog=delete]", "page-delete").await;
    session.browser.follow("main a[href$='/deleted']").await;
    session.confirm("[data-dialog^=purge]", "purge").await;
    assert!(session.notice().await.contains("forever"), "{}", session.notice().await);
    session.inspect("deleted-none").await;
    assert_eq!(session.browser.text("main .lead").await, "No deleted pages");
    agent.post("/v1/artifacts/my-page/restore").await.refused(404, "not_found");
    assert_eq!(agent.usage().await.expect(200).integer("storage.bytes"), 0);
}
