//! Grants: exchanged once, renewed by their current refresh token only, and ended with their token.

use domain::{Rights, TokenId, TokenName};

use super::*;
use crate::{Device, DeviceDecision, GrantPath, NewDevice, NewGrant, Reach, Renewal, StoredGrant};

/// An account whose only token is that of a grant.
struct Granted<'a> {
    harness: &'a StoreHarness,
    account: AccountId,
    token: TokenId,
}

impl<'a> Granted<'a> {
    async fn of(harness: &'a StoreHarness) -> Self {
        let by = GrantPath::Redirect { uri: "app:/cb".into(), challenge: "challenge".into() };
        Self::by(harness, by).await.unwrap()
    }

    async fn by(harness: &'a StoreHarness, by: GrantPath) -> crate::ChangeResult<Self> {
        let account = Account::provisional(START, HOUR, &harness.chance);
        let token = NewToken {
            id: TokenId::new(START, &harness.chance),
            account: account.id,
            secret_hash: harness.chance.base36(64),
            secret_start: None,
            name: TokenName::unnamed(),
            rights: Rights { expires_at: Some(START.plus(HOUR)), ..Rights::all() },
            made_by: Maker::default(),
            created_at: START,
        };
        let grant = NewGrant {
            client_hash: "client".into(),
            resource: None,
            code_hash: format!("code of {}", token.id),
            code_expires_at: START.plus(HOUR),
            by,
        };
        harness.store.oauth().grant_new_account(&account, &token, &grant).await?;
        Ok(Self { harness, account: account.id, token: token.id })
    }

    fn renewal(&self, name: &str) -> Renewal {
        Renewal {
            secret_hash: format!("secret {name} of {}", self.token),
            expires_at: START.plus(HOUR),
            family_hash: format!("family of {}", self.token),
            refresh_hash: format!("refresh {name}"),
            ends_at: START.plus(HOUR * 24),
        }
    }

    async fn exchange(&self, name: &str) -> bool {
        self.harness.store.oauth().exchange(self.token, &self.renewal(name), START).await.unwrap()
    }

    async fn renew(&self, known: &str, name: &str) -> bool {
        let known = format!("refresh {known}");
        self.harness.store.oauth().renew(self.token, &known, &self.renewal(name)).await.unwrap()
    }

    async fn stored(&self) -> Option<StoredGrant> {
        self.harness.store.oauth().find_by_family(&format!("family of {}", self.token)).await.unwrap()
    }

    async fn is_secret(&self, name: &str) -> bool {
        let hash = format!("secret {name} of {}", self.token);
        self.harness.store.tokens().find_grant(&hash).await.unwrap().is_some()
    }

    async fn revoke(&self) {
        let by = Maker { user: None, token: Some(self.token) };
        let change =
            Change { account: self.account, by, origin: ORIGIN, now: START, chance: &self.harness.chance };
        self.harness
            .store
            .tokens()
            .revoke_leaked(&change, self.token, crate::RevocationScope::Nothing)
            .await
            .unwrap();
    }

    async fn listed(&self, now: Time) -> usize {
        let page = Page::whole();
        self.harness.store.tokens().list(self.account, Reach::All, now, &page).await.unwrap().rows.len()
    }
}

fn device(name: &str) -> NewDevice {
    NewDevice {
        device_hash: format!("device {name}"),
        user_code_hash: format!("user code {name}"),
        client_hash: "client".into(),
        client_name: "An app".into(),
        scopes: domain::Scopes::all(),
        resource: None,
        expires_at: START.plus(HOUR),
    }
}

async fn found(harness: &StoreHarness, name: &str) -> Device {
    harness.store.oauth().find_device(&format!("device {name}")).await.unwrap().unwrap()
}

on_both_databases! {
    async fn a_code_is_exchanged_once_and_each_refresh_token_renews_once(harness: &StoreHarness) {
        let granted = Granted::of(harness).await;
        assert!(granted.exchange("one").await);
        assert!(!granted.exchange("two").await);
        assert!(granted.is_secret("one").await && !granted.is_secret("two").await);
        assert!(granted.renew("one", "three").await);
        assert!(!granted.renew("one", "four").await);
        assert!(granted.is_secret("three").await);
        assert!(!granted.is_secret("one").await && !granted.is_secret("four").await);
        assert_eq!(granted.stored().await.unwrap().refresh_hash.as_deref(), Some("refresh three"));
    }

    async fn the_grant_of_a_revoked_token_cannot_be_used(harness: &StoreHarness) {
        let granted = Granted::of(harness).await;
        granted.revoke().await;
        assert!(!granted.exchange("one").await);
        let granted = Granted::of(harness).await;
        assert!(granted.exchange("one").await);
        granted.revoke().await;
        assert!(!granted.renew("one", "two").await);
        assert_eq!(granted.stored().await.unwrap().revoked_at, Some(START));
    }

    async fn a_token_is_listed_until_its_grant_ends_and_grants_are_swept(harness: &StoreHarness) {
        let granted = Granted::of(harness).await;
        assert!(granted.exchange("one").await);
        assert_eq!(granted.listed(START.plus(HOUR * 2)).await, 1);
        assert_eq!(granted.listed(START.plus(HOUR * 24)).await, 0);
        let upkeep = harness.store.upkeep();
        assert_eq!(upkeep.sweep_oauth(START.plus(HOUR * 24), 10).await.unwrap(), 0);
        assert_eq!(upkeep.sweep_oauth(START.plus(HOUR * 25), 10).await.unwrap(), 1);
        assert!(granted.stored().await.is_none());
    }

    async fn a_device_is_allowed_or_denied_once(harness: &StoreHarness) {
        let store = harness.store.oauth();
        for name in ["a", "b"] {
            assert!(store.create_device(&device(name), 2, START).await.unwrap());
        }
        assert!(!store.create_device(&device("c"), 2, START).await.unwrap(), "two wait");
        assert!(store.create_device(&device("c"), 2, START.plus(HOUR)).await.unwrap(), "none waits");
        let allow = || GrantPath::Device { user_code_hash: "user code a".into() };
        Granted::by(harness, allow()).await.unwrap();
        assert!(Granted::by(harness, allow()).await.is_err());
        store.deny_device("user code a").await.unwrap();
        assert_eq!(found(harness, "a").await.decision, Some(DeviceDecision::Allowed));
        store.deny_device("user code b").await.unwrap();
        assert_eq!(found(harness, "b").await.decision, Some(DeviceDecision::Denied));
        let late = GrantPath::Device { user_code_hash: "user code b".into() };
        assert!(Granted::by(harness, late).await.is_err());
        assert!(store.find_waiting_device("user code a", START).await.unwrap().is_none());
        harness.store.upkeep().sweep_oauth(START.plus(HOUR * 2), 10).await.unwrap();
        assert!(store.find_device("device a").await.unwrap().is_none());
    }
}
