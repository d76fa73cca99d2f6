//! Payments: nothing is paid without consent, and everything is paid once.

use handbill_tests::{Mode, World, program};

use super::shell::{Shell, world};
use crate::expectations::{PAGE, assert_serves, page_saying};

/// A world in which the second publish costs money.
async fn dear_world() -> World {
    let world = World::with(Mode::Embedded, program!());
    world.env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "1").start().await
}

/// A user whose free publishes are used up.
async fn used_up(world: &World) -> Shell {
    let shell = Shell::signed_up(world).await;
    shell.write("page.html", PAGE);
    shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
    shell
}

const PUBLISH: [&str; 4] = ["publish", "page.html", "--slug", "my-page"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    PUBLISH.iter().chain(more).copied().collect()
}

#[tokio::test]
async fn payment_required_is_paid_only_after_confirmation() {
    let world = dear_world().await;
    let shell = used_up(&world).await;
    let refused = shell.run(&PUBLISH).await.failed(5);
    assert!(refused.err.contains("$0.005") && refused.err.contains("--max-price"), "{refused:?}");
    let challenge = shell.run(&with(&["--json"])).await.failed(5).error();
    assert_eq!((&challenge["code"], &challenge["amount_usd"]), (&"payment_required".into(), &0.005.into()));
    let dear = shell.run(&with(&["--max-price", "0.004"])).await.failed(5);
    assert!(dear.err.contains("$0.004"), "{dear:?}");
    shell.run(&with(&["--max-price", "0.004", "--yes"])).await.failed(5);
    assert_eq!(shell.versions_of("my-page").await, 1);
    assert!(world.ledger().await.is_empty(), "nothing was paid");

    let paid = shell.run(&with(&["--max-price", "0.50"])).await.ok();
    assert!(paid.err.contains("$0.005") && paid.err.contains("receipt"), "{paid:?}");
    shell.run(&with(&["--yes"])).await.ok();
    assert_eq!(shell.versions_of("my-page").await, 3);
    // Each inline payment is credited and spent.
    let deltas: Vec<i64> = world.ledger().await.iter().map(|entry| entry.delta_micro).collect();
    assert_eq!(deltas.iter().filter(|delta| **delta == -5_000).count(), 2, "{deltas:?}");
    assert_eq!(deltas.iter().sum::<i64>(), 0, "{deltas:?}");
}

#[tokio::test]
async fn large_upload_refused_midway_can_still_be_paid() {
    let world = dear_world().await;
    let shell = used_up(&world).await;
    shell.write("page.html", PAGE.replace("</body>", &format!("{}</body>", "word ".repeat(1_500_000))));
    let refused = shell.run(&PUBLISH).await.failed(5);
    assert!(!refused.err.contains("retrying in"), "{refused:?}");
    shell.run(&with(&["--yes"])).await.ok();
    assert_eq!(shell.versions_of("my-page").await, 2);
}

#[tokio::test]
async fn price_is_confirmed_at_a_terminal() {
    let world = dear_world().await;
    let shell = used_up(&world).await;
    let line = "\"$handbill\" publish page.html --slug my-page";
    let declined = shell.at_terminal(line, &[("[y/N]", "n\n")]).await;
    assert_eq!(declined.code, Some(5), "{declined:?}");
    assert!(
        declined.out.contains("Pay $0.005 now?") && declined.out.contains("nothing was paid"),
        "{declined:?}"
    );
    assert_eq!(shell.versions_of("my-page").await, 1);
    let agreed = shell.at_terminal(line, &[("[y/N]", "y\n")]).await;
    assert_eq!(agreed.code, Some(0), "{agreed:?}");
    assert_eq!(shell.versions_of("my-page").await, 2);
}

#[tokio::test]
async fn paid_private_visibility_prints_the_signed_link() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let url = shell.run(&PUBLISH).await.ok().line();
    let private = ["visibility", "my-page", "private"];
    shell.run(&private).await.failed(5);
    shell.run(&[&private[..], &["--max-price", "0.49"]].concat()).await.failed(5);
    let signed = shell.run(&[&private[..], &["--max-price", "$0.50"]].concat()).await.ok();
    assert!(signed.line().contains("?sig="), "{signed:?}");
    assert_serves(&world.visitor().open(&signed.line()).await, PAGE);
    assert_eq!(world.visitor().open(&url).await.status, 403);
    let shown = shell.run(&["show", "my-page"]).await.ok();
    assert!(shown.out.contains("?sig="), "{shown:?}");
    let public = shell.run(&["visibility", "my-page", "public", "--json"]).await.ok().json();
    assert_eq!(public["visibility"], "public");
    assert_serves(&world.visitor().open(&url).await, PAGE);
}

#[tokio::test]
async fn confirmed_credit_purchase_pays_later_publishes() {
    let world = dear_world().await;
    let shell = used_up(&world).await;
    assert_eq!(shell.run(&["credits"]).await.ok().line(), "$0.00");
    let unasked = shell.run(&["credits", "buy", "5"]).await.failed(5);
    assert!(
        unasked.err.contains("pay $5.00 with --yes") && !unasked.err.contains("`handbill credits"),
        "{unasked:?}"
    );
    shell.run(&["credits", "5", "--max-price", "4"]).await.failed(5);
    shell.run(&["credits", "500", "--yes"]).await.failed(2);
    assert_eq!(shell.run(&["credits", "5", "--yes"]).await.ok().line(), "$5.00", "the form without a verb");
    let published = shell.run(&PUBLISH).await.ok();
    assert!(published.err.contains("spent $0.005 of credit"), "{published:?}");
    assert_eq!(shell.run(&["credits", "--json"]).await.ok().json()["credits_usd"], 4.995);
    assert_eq!(shell.run(&["credits", "show"]).await.ok().line(), "$4.995");
    let help = shell.run(&["publish", "--help"]).await.ok().out;
    assert!(help.contains("spends credit without asking"), "{help}");
}

#[tokio::test]
async fn free_and_inline_paid_operations_are_not_reported_as_spent_credit() {
    let world = dear_world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let last_free = shell.run(&PUBLISH).await.ok();
    assert!(last_free.err.contains("0 free publishes left"), "{last_free:?}");
    let paid = shell.run(&with(&["--yes"])).await.ok();
    for reported in [last_free, paid] {
        assert!(!reported.err.contains("of credit"), "{reported:?}");
    }
}

#[tokio::test]
async fn credit_pays_for_hiding_a_page_only_after_confirmation() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    shell.run(&PUBLISH).await.ok();
    shell.run(&["credits", "5", "--yes"]).await.ok();
    let private = ["visibility", "my-page", "private"];
    let unasked = shell.run(&private).await.failed(5);
    assert!(unasked.err.contains("$0.50") && unasked.err.contains("--max-price 0.5"), "{unasked:?}");
    let dear = shell.run(&[&private[..], &["--max-price", "0.10", "--yes"]].concat()).await.failed(5);
    assert!(dear.err.contains("exceeds --max-price $0.10"), "{dear:?}");
    let error = shell.run(&[&private[..], &["--json"]].concat()).await.failed(5).error();
    assert_eq!(error["code"], "payment_required");
    let line = "\"$handbill\" visibility my-page private";
    let declined = shell.at_terminal(line, &[("Pay $0.50 now?", "n\n")]).await;
    assert_eq!(declined.code, Some(5), "{declined:?}");
    assert_eq!(shell.run(&["credits"]).await.ok().line(), "$5.00");

    let agreed = shell.at_terminal(line, &[("Pay $0.50 now?", "y\n")]).await;
    assert_eq!(agreed.code, Some(0), "{agreed:?}");
    assert!(agreed.out.contains("Spent $0.50 of credit, $4.50 left"), "{agreed:?}");
    // A free change asks for no consent: between restrictions, and back to public.
    shell.run(&["visibility", "my-page", "unlisted"]).await.ok();
    shell.run(&["visibility", "my-page", "public"]).await.ok();
    assert_eq!(shell.run(&["credits"]).await.ok().line(), "$4.50");
}

#[tokio::test]
async fn terminal_asks_once_for_confirmation_even_without_credit() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let url = shell.run(&PUBLISH).await.ok().line();
    let line = "\"$handbill\" visibility my-page private";
    let agreed = shell.at_terminal(line, &[("Pay $0.50 now?", "y\n")]).await;
    assert_eq!(agreed.code, Some(0), "{agreed:?}");
    assert_eq!(agreed.out.matches("[y/N]").count(), 1, "{agreed:?}");
    assert!(agreed.out.contains("receipt"), "{agreed:?}");

    // Publishing again and activating a version print the current signed link.
    shell.write("page.html", page_saying("second"));
    let signed = shell.run(&PUBLISH).await.ok().line();
    let list = shell.run(&["list"]).await.ok();
    assert!(list.out.contains("see `handbill show`"), "{list:?}");
    assert_eq!(world.visitor().open(&url).await.status, 403);
    assert_serves(&world.visitor().open(&signed).await, &page_saying("second"));
    let signed = shell.run(&["rollback", "my-page"]).await.ok().line();
    assert_serves(&world.visitor().open(&signed).await, PAGE);
    shell.write("notes.txt", "some notes");
    let lone = shell.run(&["publish", "notes.txt", "--slug", "my-page"]).await.ok().line();
    assert_eq!(world.visitor().open(&lone).await.expect(200).text(), "some notes");
}

#[tokio::test]
async fn no_payment_is_attempted_without_an_open_payment_method() {
    let setup = World::with(Mode::Embedded, program!()).env("HANDBILL_DEV_MODE", "false");
    let world = setup.env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "1").start().await;
    let shell = used_up(&world).await;
    let refused = shell.run(&with(&["--yes"])).await.failed(5);
    assert!(refused.err.contains("no payment method here pays"), "{refused:?}");
}

#[tokio::test]
async fn an_update_is_paid_once_although_only_changes_are_sent() {
    let world = dear_world().await;
    let shell = used_up(&world).await;
    for (path, content) in [("site/index.html", PAGE), ("site/a.txt", "a"), ("site/b.txt", "b")] {
        shell.write(path, content);
    }
    shell.run(&["publish", "site", "--slug", "my-site", "--yes"]).await.ok();
    shell.write("site/b.txt", "changed");
    let second = shell.run(&["publish", "site", "--slug", "my-site", "--yes"]).await.ok();
    assert!(second.err.contains("1 of 3 files sent") && second.err.contains("Paid $0.005"), "{second:?}");
}
