//! Stolen codes and tokens: what they can be used for, and what ends.

use std::time::Duration;

use handbill_tests::{in_both_modes, json};

use super::app::{App, CHALLENGE, Owner, refused};

const DAY: Duration = Duration::from_secs(24 * 3600);

in_both_modes! {
    async fn a_code_works_once_and_its_reuse_revokes_what_it_gave(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let code = app.code(&owner.human, &owner.handle).await;
        let tokens = app.exchange(&code, &[]).await.expect(200);
        assert!(app.works(&tokens).await);
        refused(&app.exchange(&code, &[]).await, "invalid_grant");
        assert!(!app.works(&tokens).await, "the access token is revoked");
        refused(&app.refresh(&tokens.string("refresh_token")).await, "invalid_grant");
        world.assert_no_secret_was_logged();
    }

    async fn a_stolen_code_is_worth_nothing_without_its_client_and_verifier(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let thief = App::register(&world).await;
        let code = app.code(&owner.human, &owner.handle).await;
        for change in [
            ("code_verifier", "a-verifier-of-somebody-else-that-is-long-enough-0"),
            ("code_verifier", CHALLENGE),
            ("client_id", thief.id.as_str()),
            ("redirect_uri", "https://app.example/cb"),
            ("code", "another"),
        ] {
            refused(&app.exchange(&code, &[change]).await, "invalid_grant");
        }
        refused(&app.exchange(&code, &[("code_verifier", "")]).await, "invalid_request");
        refused(&app.exchange(&code, &[("resource", "https://other.example")]).await, "invalid_target");
        let v1 = format!("{}/v1", world.base_url());
        refused(&app.exchange(&code, &[("resource", &v1)]).await, "invalid_target");
        refused(&app.exchange(&code, &[("grant_type", "password")]).await, "unsupported_grant_type");
        app.exchange(&code, &[]).await.expect(200);
    }

    async fn refresh_tokens_rotate_and_reuse_ends_the_family(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let first = app.exchange(&app.code(&owner.human, &owner.handle).await, &[]).await.expect(200);
        let second = app.refresh(&first.string("refresh_token")).await.expect(200);
        assert_ne!(first.string("refresh_token"), second.string("refresh_token"));
        assert!(app.works(&second).await);
        let third = app.refresh(&second.string("refresh_token")).await.expect(200);
        assert!(app.works(&third).await);
        // The thief or the app uses a token that was used before. The server cannot tell them apart.
        refused(&app.refresh(&first.string("refresh_token")).await, "invalid_grant");
        for tokens in [&first, &second, &third] {
            assert!(!app.works(tokens).await);
            refused(&app.refresh(&tokens.string("refresh_token")).await, "invalid_grant");
        }
        // Another grant of the same app is not affected, and another client cannot use its token.
        let other = app.exchange(&app.code(&owner.human, &owner.handle).await, &[]).await.expect(200);
        refused(&App::register(&world).await.refresh(&other.string("refresh_token")).await, "invalid_grant");
        app.refresh(&other.string("refresh_token")).await.expect(200);
        world.assert_no_secret_was_logged();
    }

    async fn of_simultaneous_uses_only_one_succeeds(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let code = app.code(&owner.human, &owner.handle).await;
        let (one, other) = tokio::join!(app.exchange(&code, &[]), app.exchange(&code, &[]));
        let succeeded = [&one, &other].into_iter().filter(|reply| reply.status == 200).collect::<Vec<_>>();
        assert!(succeeded.len() <= 1, "{one:?} {other:?}");
        for tokens in succeeded {
            assert!(!app.works(tokens).await);
        }
        let tokens = app.exchange(&app.code(&owner.human, &owner.handle).await, &[]).await.expect(200);
        let refresh = tokens.string("refresh_token");
        let (one, other) = tokio::join!(app.refresh(&refresh), app.refresh(&refresh));
        let succeeded = [&one, &other].into_iter().filter(|reply| reply.status == 200).collect::<Vec<_>>();
        assert!(succeeded.len() <= 1, "{one:?} {other:?}");
        for tokens in succeeded {
            assert!(!app.works(tokens).await);
        }
    }

    async fn codes_and_tokens_expire(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let late = app.code(&owner.human, &owner.handle).await;
        world.advance(Duration::from_secs(601));
        refused(&app.exchange(&late, &[]).await, "invalid_grant");
        let tokens = app.exchange(&app.code(&owner.human, &owner.handle).await, &[]).await.expect(200);
        world.advance(Duration::from_secs(3590));
        assert!(app.works(&tokens).await);
        world.advance(Duration::from_secs(11));
        assert!(!app.works(&tokens).await);
        // Between two renewals the grant is still listed, so that it can be revoked.
        let listed = owner.agent.tokens().await.expect(200).text();
        assert!(listed.contains("oauth:Test App"), "{listed}");
        world.advance(DAY * 29);
        let tokens = app.refresh(&tokens.string("refresh_token")).await.expect(200);
        assert!(app.works(&tokens).await);
        world.advance(DAY * 30);
        refused(&app.refresh(&tokens.string("refresh_token")).await, "invalid_grant");
        assert!(!owner.agent.tokens().await.expect(200).text().contains("oauth:Test App"));
    }

    async fn whatever_revokes_the_token_ends_the_grant(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let member = Owner::new(&world, "bob").await;
        owner.admit(&member.human).await;
        let connect = async |human| {
            let code = app.code(human, &owner.handle).await;
            app.exchange(&code, &[]).await.expect(200)
        };
        let ended = async |tokens: &handbill_tests::Reply| {
            assert!(!app.works(tokens).await);
            refused(&app.refresh(&tokens.string("refresh_token")).await, "invalid_grant");
        };

        let of_the_list = connect(&owner.human).await;
        let listed = owner.agent.tokens().await.expect(200).json();
        let own = listed.as_array().unwrap().iter().find(|token| token["name"] == "oauth:Test App").unwrap();
        owner.agent.revoke_token(own["id"].as_str().unwrap()).await.expect(200);
        ended(&of_the_list).await;

        let of_the_member = connect(&member.human).await;
        world.advance(Duration::from_secs(3601));
        owner.human.remove_member(&member.human.user_id().await).await.expect(200);
        ended(&of_the_member).await;

        for secret in ["access_token", "refresh_token"] {
            let tokens = connect(&owner.human).await;
            let secret = tokens.string(secret);
            let revoke = async |client_id: &str| {
                let fields = [("client_id", client_id), ("token", secret.as_str())];
                world.stranger().post("/oauth/revoke").form(&fields).await.expect(200)
            };
            revoke(&App::register(&world).await.id).await;
            assert!(app.works(&tokens).await, "another client cannot revoke it");
            revoke(&app.id).await;
            ended(&tokens).await;
            revoke(&app.id).await;
        }
        for secret in ["access_token", "refresh_token"] {
            let leaked = connect(&owner.human).await;
            let page = format!("<h1>Hello</h1><p>{}", leaked.string(secret));
            owner.agent.publish("my-page", page.clone()).await.refused(400, "secret_in_publish");
            let token = json!({ "token": leaked.string(secret) });
            world.stranger().post("/v1/tokens/revoke").json(&token).await.expect(200);
            ended(&leaked).await;
            owner.agent.publish("my-page", page).await.expect(201);
        }
    }

    async fn a_person_who_was_removed_after_consenting_gets_no_token(world: World) {
        let (app, owner) = (App::register(&world).await, Owner::new(&world, "ada").await);
        let member = Owner::new(&world, "bob").await;
        owner.admit(&member.human).await;
        let code = app.code(&member.human, &owner.handle).await;
        owner.human.remove_member(&member.human.user_id().await).await.expect(200);
        refused(&app.exchange(&code, &[]).await, "invalid_grant");
    }
}
