//! Conditional requests: a validator is valid only as long as its content is current. This holds for ETags
//! always, and for dates because no two changes have the same one.

use std::time::Duration;

use handbill_tests::{Agent, Call, Human, Reply, Visitor, World, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::moderation::becomes;

const SLUG: &str = "my-page";
/// Until then dates may be ahead of the clock, and are not sent.
const SETTLED: Duration = Duration::from_secs(3);
/// More than the changes in this test.
const PUBLISHES: &str = "50";

/// All changes of what visitors see.
#[derive(Clone, Copy, Debug)]
enum Change {
    Publish,
    Activate,
    Hide,
    Show,
    Block,
    Claim,
}

impl Change {
    async fn make(self, agent: &Agent, human: &Human, published: &Reply) {
        match self {
            Self::Publish => {
                agent.publish(SLUG, page_saying("new")).await.expect(201);
                becomes(agent, SLUG, "pass").await;
            }
            Self::Activate => drop(agent.activate(SLUG, 1).await.expect(200)),
            Self::Hide => drop(agent.set_visibility(SLUG, "unlisted").paying("dev:0.5").await.expect(200)),
            Self::Show => drop(agent.set_visibility(SLUG, "public").await.expect(200)),
            Self::Block => {
                for action in ["block", "pass"] {
                    let path = format!("/v1/moderation/{}", published.string("host"));
                    human.post(&path).json(&json!({ "action": action })).await.expect(200);
                }
            }
            Self::Claim => {
                let claim_url = agent.signup.as_ref().unwrap().string("claim_url");
                drop(human.claim(&claim_url).await.expect(200));
            }
        }
    }
}

in_both_modes! {
    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = PUBLISHES)]
    async fn last_modified_is_valid_until_the_next_change(world: World) {
        let (agent, visitor, human) = (world.agent().await, world.visitor(), world.human());
        human.dev_login("ada").await.expect(200);
        let published = agent.publish(SLUG, PAGE).await.expect(201);
        becomes(&agent, SLUG, "pass").await;
        let mut held = settled_date(&world, &visitor, &published).await;
        use Change::{Activate, Block, Claim, Hide, Publish, Show};
        for change in [Publish, Activate, Hide, Show, Block, Claim] {
            since(&visitor, &published, &held).await.expect(304);
            change.make(&agent, &human, &published).await;
            since(&visitor, &published, &held).await.expect(200);
            let date = settled_date(&world, &visitor, &published).await;
            assert_ne!(date, held, "{change:?}");
            since(&visitor, &published, &held).await.expect(200);
            held = date;
        }
        assert_eq!(since(&visitor, &published, "").await.expect(200).text(), PAGE, "without the badge");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = PUBLISHES)]
    async fn two_versions_in_one_second_are_distinguished(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish(SLUG, page_saying("number 0")).await.expect(201);
        for number in 1..=10 {
            let before = front_page(&visitor, &published).await.expect(200);
            let page = page_saying(&format!("number {number}"));
            agent.publish(SLUG, page.clone()).await.expect(201);
            // The visitor's date: that of the version before, or of its response.
            let given = Some(before.header("Last-Modified")).filter(|date| !date.is_empty());
            let date = given.unwrap_or(before.header("Date"));
            assert_serves(&since(&visitor, &published, date).await, &page);
            let part = open(&visitor, &published).header("Range", "bytes=1-").header("If-Range", date).await;
            assert_serves(&part, &page);
        }
    }
}

/// The date of the page, once it is sent.
async fn settled_date(world: &World, visitor: &Visitor, published: &Reply) -> String {
    world.advance(SETTLED);
    front_page(visitor, published).await.expect(200).header("Last-Modified").to_owned()
}

fn since(visitor: &Visitor, published: &Reply, date: &str) -> Call {
    open(visitor, published).header("If-Modified-Since", date)
}

fn open(visitor: &Visitor, published: &Reply) -> Call {
    visitor.open_site(published, "")
}
