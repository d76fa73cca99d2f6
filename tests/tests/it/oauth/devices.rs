//! The sign-in of a device: a code that a person enters elsewhere.

use std::time::Duration;

use handbill_tests::{Reply, World, in_both_modes};

use super::app::{App, Owner, refused};

const CLIENT: &str = "handbill-cli";

async fn begun(world: &World) -> Reply {
    let fields = [("client_id", CLIENT), ("scope", "artifacts:read tokens:manage")];
    let begun = world.stranger().post("/oauth/device_authorization").form(&fields).await.expect(200);
    assert_eq!((begun.integer("expires_in"), begun.integer("interval")), (900, 5));
    begun
}

async fn poll(world: &World, begun: &Reply) -> Reply {
    poll_as(world, begun, CLIENT).await
}

async fn poll_as(world: &World, begun: &Reply, client: &str) -> Reply {
    let device_code = begun.string("device_code");
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", client),
        ("device_code", device_code.as_str()),
    ];
    world.stranger().post("/oauth/token").form(&fields).await
}

fn page(begun: &Reply) -> String {
    format!("/device?user_code={}", begun.string("user_code"))
}

in_both_modes! {
    async fn a_person_signs_in_a_device(world: World) {
        let (owner, begun) = (Owner::new(&world, "ada").await, begun(&world).await);
        assert_eq!(begun.string("verification_uri"), format!("{}/device", world.base_url()));
        refused(&poll(&world, &begun).await, "authorization_pending");
        refused(&poll(&world, &begun).await, "slow_down");
        world.advance(Duration::from_secs(5));
        refused(&poll(&world, &begun).await, "authorization_pending");
        owner.human.get("/device").await.expect(200);
        let shown = owner.human.get(&page(&begun).to_lowercase()).await.expect(200).text();
        assert!(shown.contains(&begun.string("user_code")) && shown.contains(&owner.handle), "{shown}");
        let allow = [("decision", "allow"), ("account", owner.handle.as_str())];
        owner.human.post(&page(&begun)).form(&allow).await.expect(200);
        owner.human.post(&page(&begun)).form(&allow).await.expect(404);
        let another = App::register(&world).await;
        refused(&poll_as(&world, &begun, &another.id).await, "invalid_grant");
        let tokens = poll(&world, &begun).await.expect(200);
        assert_eq!(tokens.string("scope"), "artifacts:read tokens:manage");
        let device = world.stranger().with_token(&tokens.string("access_token"));
        assert!(device.tokens().await.expect(200).text().contains("oauth:Handbill command line"));
        // The device code is used up, and its reuse ends the grant.
        refused(&poll(&world, &begun).await, "invalid_grant");
        device.account().await.refused(401, "unauthorized");
    }

    async fn a_device_is_denied_expires_or_gets_a_new_account(world: World) {
        let (human, denied) = (world.human(), begun(&world).await);
        human.post(&page(&denied)).form(&[("decision", "deny")]).await.expect(200);
        refused(&poll(&world, &denied).await, "access_denied");
        let new = begun(&world).await;
        let account = human.post(&page(&new)).form(&[("decision", "new_account")]).await.expect(200).text();
        assert!(account.contains("/claim/") && account.contains("Go back to it"), "{account}");
        let tokens = poll(&world, &new).await.expect(200);
        world.stranger().with_token(&tokens.string("access_token")).account().await.expect(200);
        let late = begun(&world).await;
        world.advance(Duration::from_secs(901));
        refused(&poll(&world, &late).await, "expired_token");
        human.get(&page(&late)).await.expect(404);
    }

    async fn codes_of_devices_cannot_be_guessed(world: World) {
        let human = world.human();
        for bad in ["nonsense", "BCDF-GHJK"] {
            let text = human.get(&format!("/device?user_code={bad}")).await.expect(404).text();
            assert!(text.contains("No device waits for this code"), "{text}");
        }
        let mut last = 0;
        for _ in 0..30 {
            last = human.get("/device?user_code=BCDF-GHJK").await.status;
        }
        assert_eq!(last, 429);
        let evil = human.on_a_page_of("https://evil.example");
        let refused = evil.post("/device?user_code=BCDF-GHJK").form(&[("decision", "new_account")]).await;
        refused.refused(403, "forbidden");
    }
}
