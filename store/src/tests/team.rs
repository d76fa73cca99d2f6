//! What people and tokens of an account may do to each other, where the account's lock decides.

use domain::{
    Account, Invite, InviteCode, Maker, Missing, PasswordHash, Refusal, Rights, Role, Scope, Scopes, TokenId,
    TokenName, UserId,
};
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::*;
use crate::{
    AlsoRevoked, Change, ChangeError, Claimer, JoiningAgent, JoiningPerson, NewSession, Reach,
    RevocationScope, TokenRotation, TokenUse, User,
};

/// A claimed account with its owner.
struct Team<'a> {
    harness: &'a StoreHarness,
    account: AccountId,
    owner: UserId,
}

impl<'a> Team<'a> {
    async fn of(harness: &'a StoreHarness) -> Self {
        let owner = user(harness, "olga").await;
        let account = Account::provisional(START, HOUR, &harness.chance);
        let token = NewToken::first_of(&account, harness.chance.base36(64), &harness.chance);
        harness.store.accounts().create(&account, &token).await.unwrap();
        let claimer = Claimer { user: owner, origin: ORIGIN, accounts_max: None, tokens: TokenFate::Keep };
        harness.store.accounts().claim(&account.claim_code, &claimer, START, &harness.chance).await.unwrap();
        Self { harness, account: account.id, owner }
    }

    fn change_by(&self, by: Maker) -> Change<'a> {
        Change { account: self.account, by, origin: ORIGIN, now: START, chance: &self.harness.chance }
    }

    fn by_owner(&self) -> Change<'a> {
        self.change_by(person(self.owner))
    }

    fn token(&self, made_by: Maker) -> NewToken {
        NewToken {
            id: TokenId::new(START, &self.harness.chance),
            account: self.account,
            secret_hash: self.harness.chance.base36(64),
            secret_start: None,
            name: TokenName::unnamed(),
            rights: Rights::all(),
            made_by,
            created_at: START,
        }
    }

    fn invite(&self, role: Role, max_uses: u32) -> Invite {
        Invite {
            code: InviteCode::generate(&self.harness.chance),
            account: self.account,
            role,
            max_uses,
            uses: 0,
            expires_at: START.plus(HOUR),
            revoked_at: None,
            created_at: START,
            made_by: person(self.owner),
        }
    }

    async fn joined(&self, name: &str, role: Role) -> UserId {
        let (user, invite) = (user(self.harness, name).await, self.invite(role, 1));
        self.harness.store.invites().create(&self.by_owner(), &invite).await.unwrap();
        let joining = JoiningPerson { code: invite.code, user, origin: ORIGIN, now: START };
        self.harness.store.invites().join_as_person(&joining, &self.harness.chance).await.unwrap();
        user
    }

    async fn active(&self) -> usize {
        let page = Page::whole();
        self.harness.store.tokens().list(self.account, Reach::All, START, &page).await.unwrap().rows.len()
    }
}

/// A signed-in person.
pub(super) async fn user(harness: &StoreHarness, name: &str) -> UserId {
    let id = UserId::new(START, &harness.chance);
    let username = name.parse().unwrap();
    let user = User { id, username, password_hash: PasswordHash::unusable(), created_at: START };
    assert!(harness.store.users().create(&user, &session(harness, id), &harness.chance).await.unwrap());
    id
}

fn session(harness: &StoreHarness, user: UserId) -> NewSession {
    let secret_hash = harness.chance.alphanumeric(43);
    let (origin, user_agent) = (ORIGIN, None);
    NewSession { secret_hash, user, created_at: START, expires_at: START, origin, user_agent }
}

fn person(user: UserId) -> Maker {
    Maker { user: Some(user), token: None }
}

#[track_caller]
fn refusal<T: std::fmt::Debug>(decided: Result<T, ChangeError>) -> Refusal {
    match decided {
        Err(ChangeError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

on_both_databases! {
    async fn sign_in_with_a_password_changed_meanwhile_gets_no_session(harness: &StoreHarness) {
        let id = user(harness, "olga").await;
        let name: domain::Username = "olga".parse().unwrap();
        let known = harness.store.users().find(&name).await.unwrap().unwrap().password_hash;
        let (before, kept, after) = (session(harness, id), session(harness, id), session(harness, id));
        assert!(
            harness.store.sessions().create_with_password(&known, &before, &harness.chance).await.unwrap()
        );
        let new = PasswordHash::kept("another".into());
        let change = crate::PasswordChange { known: known.clone(), new: new.clone(), session: kept.clone() };
        assert!(harness.store.users().change_password(&change, &harness.chance).await.unwrap());
        assert!(
            !harness.store.sessions().create_with_password(&known, &after, &harness.chance).await.unwrap()
        );
        assert!(
            !harness.store.users().change_password(&change, &harness.chance).await.unwrap(),
            "the same change is made once"
        );
        for (session, is_there) in [(&before, false), (&kept, true), (&after, false)] {
            let found = harness.store.sessions().find(&session.secret_hash).await.unwrap();
            assert_eq!(found.is_some(), is_there);
        }
        assert!(harness.store.sessions().create_with_password(&new, &after, &harness.chance).await.unwrap());
    }

    async fn removed_members_and_revoked_tokens_change_nothing_after_the_lock(harness: &StoreHarness) {
        let team = Team::of(harness).await;
        let admin = team.joined("adam", Role::Admin).await;
        let of_admin = team.token(person(admin));
        harness.store.tokens().create(&team.change_by(person(admin)), &of_admin).await.unwrap();
        assert_eq!(harness.store.members().remove(&team.by_owner(), admin).await.unwrap(), 1);

        let by_admin = team.change_by(person(admin));
        let by_token = team.change_by(Maker { user: Some(admin), token: Some(of_admin.id) });
        let invite = team.invite(Role::Member, 1);
        assert_eq!(
            refusal(harness.store.tokens().create(&by_admin, &team.token(person(admin))).await).code(),
            "forbidden"
        );
        assert_eq!(refusal(harness.store.invites().create(&by_admin, &invite).await).code(), "forbidden");
        assert_eq!(refusal(harness.store.members().remove(&by_admin, team.owner).await).code(), "forbidden");
        assert_eq!(
            refusal(harness.store.tokens().create(&by_token, &team.token(person(admin))).await),
            Refusal::Unauthorized
        );
        assert_eq!(refusal(harness.store.invites().create(&by_token, &invite).await), Refusal::Unauthorized);
        assert_eq!(team.active().await, 1);
        assert!(harness.store.invites().open(&invite.code).await.unwrap().is_none());
    }

    async fn two_admins_who_remove_each_other_do_not_both_succeed(harness: &StoreHarness) {
        let team = Team::of(harness).await;
        let (one, other) = (team.joined("ada", Role::Admin).await, team.joined("bea", Role::Admin).await);
        let (by_one, by_other) = (team.change_by(person(one)), team.change_by(person(other)));
        let (first, second) = tokio::join!(
            harness.store.members().remove(&by_one, other),
            harness.store.members().remove(&by_other, one)
        );
        assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
        assert_eq!(harness.store.members().list(team.account, &Page::whole()).await.unwrap().rows.len(), 2);
    }

    async fn token_use_is_recorded_without_waiting_for_locked_rows(harness: &StoreHarness) {
        let team = Team::of(harness).await;
        let tokens = [team.token(person(team.owner)), team.token(person(team.owner))];
        for token in &tokens {
            harness.store.tokens().create(&team.by_owner(), token).await.unwrap();
        }
        let uses = tokens.each_ref().map(|token| TokenUse { token: token.id, at: START.plus(HOUR), from: None });
        let noted = async |token: &NewToken| {
            harness.store.tokens().find_grant(&token.secret_hash).await.unwrap().unwrap().last_used_at
        };
        let is_postgres =
            harness.store.database.writer.get_database_backend() == sea_orm::DbBackend::Postgres;
        if is_postgres {
            let busy = harness.store.database.begin().await.unwrap();
            entity::token::Entity::find_by_id(tokens[0].id.to_string())
                .lock(LockType::NoKeyUpdate)
                .one(&busy)
                .await
                .unwrap();
            tokio::time::timeout(Duration::from_secs(5), harness.store.tokens().record_uses(&uses))
                .await
                .unwrap()
                .unwrap();
            assert_eq!((noted(&tokens[0]).await, noted(&tokens[1]).await), (None, Some(START.plus(HOUR))));
            busy.commit().await.unwrap();
        }
        harness.store.tokens().record_uses(&uses).await.unwrap();
        assert_eq!(
            (noted(&tokens[0]).await, noted(&tokens[1]).await),
            (Some(START.plus(HOUR)), Some(START.plus(HOUR)))
        );
    }

    async fn a_refused_join_leaves_no_token_and_spends_nothing(harness: &StoreHarness) {
        let team = Team::of(harness).await;
        let invite = team.invite(Role::Member, 1);
        harness.store.invites().create(&team.by_owner(), &invite).await.unwrap();
        let join_at = async |now| {
            let joining = JoiningAgent {
                code: invite.code.clone(),
                token: TokenId::new(now, &harness.chance),
                secret_hash: harness.chance.base36(64),
                secret_start: "svc_sk_a1B2".into(),
                origin: ORIGIN,
                now,
            };
            harness.store.invites().join_as_agent(&joining, &harness.chance).await
        };
        assert_eq!(refusal(join_at(START.plus(HOUR)).await), Refusal::InviteExpired);
        assert_eq!(harness.store.invites().list(team.account, &Page::whole()).await.unwrap().rows[0].uses, 0);
        assert_eq!(join_at(START).await.unwrap().scopes, Scopes::of_invited_agent());
        assert_eq!(refusal(join_at(START).await), Refusal::InviteUsedUp);
        assert_eq!(
            (
                team.active().await,
                harness.store.invites().list(team.account, &Page::whole()).await.unwrap().rows[0].uses
            ),
            (2, 1)
        );
    }

    async fn token_is_revoked_with_its_descendants_and_each_is_in_the_audit_log(harness: &StoreHarness) {
        let team = Team::of(harness).await;
        let minted_by = async |minter: TokenId| {
            let token = team.token(Maker { user: Some(team.owner), token: Some(minter) });
            harness.store.tokens().create(&team.by_owner(), &token).await.unwrap();
            token.id
        };
        let root = team.token(person(team.owner));
        harness.store.tokens().create(&team.by_owner(), &root).await.unwrap();
        let child = minted_by(root.id).await;
        let grandchild = minted_by(child).await;
        let invite =
            Invite { made_by: Maker { user: None, token: Some(grandchild) }, ..team.invite(Role::Admin, 1) };
        harness.store.invites().create(&team.by_owner(), &invite).await.unwrap();
        let revoke = async |id, along| {
            harness.store.tokens().revoke(&team.by_owner(), id, Reach::All, along).await.unwrap()
        };
        assert_eq!(revoke(child, RevocationScope::Nothing).await, AlsoRevoked::default());
        assert_eq!(team.active().await, 3, "that of the signup, the root and the grandchild");

        // Revoking a token between the two does not hide the tokens that it minted.
        assert_eq!(revoke(root.id, RevocationScope::Tokens).await, AlsoRevoked { tokens: 1, invites: 0 });
        assert_eq!(
            revoke(root.id, RevocationScope::TokensAndInvites).await,
            AlsoRevoked { tokens: 0, invites: 1 }
        );
        assert_eq!(revoke(root.id, RevocationScope::TokensAndInvites).await, AlsoRevoked::default());
        assert_eq!(team.active().await, 1);
        let revocation = entity::audit::Column::Action.is_in(["token.revoked", "invite.revoked"]);
        let trail = entity::audit::Entity::find()
            .filter(revocation)
            .all(&harness.store.database.reader)
            .await
            .unwrap();
        let mut subjects: Vec<_> = trail.into_iter().map(|entry| entry.subject).collect();
        let mut expected = vec![root.id.to_string(), child.to_string(), grandchild.to_string()];
        expected.push(invite.code.mark().to_owned());
        subjects.sort();
        expected.sort();
        assert_eq!(subjects, expected);
    }

    async fn token_with_a_new_secret_keeps_its_rights_and_belongs_to_whoever_replaced_it(
        harness: &StoreHarness,
    ) {
        let team = Team::of(harness).await;
        let (mia, adam) = (team.joined("mia", Role::Member).await, team.joined("adam", Role::Admin).await);
        let rights = Rights { scopes: Scopes::of_invited_agent(), ..Rights::all() };
        let old = NewToken { rights, ..team.token(person(mia)) };
        harness.store.tokens().create(&team.change_by(person(mia)), &old).await.unwrap();
        let used = [TokenUse { token: old.id, at: START, from: None }];
        harness.store.tokens().record_uses(&used).await.unwrap();
        let rotate = async |by, reach, rights| {
            let secret_hash = harness.chance.base36(64);
            let rotation = TokenRotation {
                token: old.id,
                secret_hash: secret_hash.clone(),
                secret_start: "svc_sk_c3D4".into(),
                reach,
                rights,
            };
            harness
                .store
                .tokens()
                .rotate(&team.change_by(person(by)), &rotation)
                .await
                .map(|token| (token, secret_hash))
        };
        let foreign = rotate(adam, Reach::Of(adam), Rights::all()).await;
        assert!(matches!(refusal(foreign), Refusal::Forbidden { .. }));
        let less = Rights { scopes: Scopes::none().with(Scope::ArtifactsRead), ..Rights::all() };
        assert!(matches!(refusal(rotate(mia, Reach::Of(mia), less).await), Refusal::InsufficientScope(_)));
        assert!(
            harness.store.tokens().find_grant(&old.secret_hash).await.unwrap().is_some(),
            "nothing has changed"
        );

        let (token, secret_hash) = rotate(adam, Reach::All, rights).await.unwrap();
        assert_eq!(
            (token.id, token.rights, token.made_by.user, token.last_used_at),
            (old.id, rights, Some(adam), None)
        );
        assert!(harness.store.tokens().find_grant(&old.secret_hash).await.unwrap().is_none());
        let grant = harness.store.tokens().find_grant(&secret_hash).await.unwrap().unwrap();
        assert_eq!((grant.token, grant.created_by_user, grant.last_used_at), (old.id, Some(adam), None));

        harness
            .store
            .tokens()
            .revoke(&team.by_owner(), old.id, Reach::All, RevocationScope::Nothing)
            .await
            .unwrap();
        assert_eq!(refusal(rotate(adam, Reach::All, rights).await), Refusal::NotFound(Missing::Token));
    }

    async fn audit_log_names_the_maker_of_team_changes_and_contains_no_codes(harness: &StoreHarness) {
        let team = Team::of(harness).await;
        let member = team.joined("mia", Role::Member).await;
        let invite = team.invite(Role::Member, 1);
        harness.store.invites().create(&team.by_owner(), &invite).await.unwrap();
        harness.store.invites().revoke(&team.by_owner(), &invite.code).await.unwrap();
        harness.store.members().remove(&team.by_owner(), member).await.unwrap();
        let mut trail = entity::audit::Entity::find().all(&harness.store.database.reader).await.unwrap();
        trail.sort_by(|one, other| one.action.cmp(&other.action));
        let actions: Vec<_> = trail.iter().map(|entry| entry.action.as_str()).collect();
        let expected_actions = [
            "account.claimed",
            "invite.made",
            "invite.made",
            "invite.revoked",
            "member.joined",
            "member.removed",
            "person.registered",
            "person.registered",
        ];
        assert_eq!(actions, expected_actions);
        let removal = trail.iter().find(|entry| entry.action == "member.removed").unwrap();
        assert_eq!((&removal.actor, &removal.subject), (&team.owner.to_string(), &member.to_string()));
        assert!(trail.iter().all(|entry| !format!("{entry:?}").contains(invite.code.as_str())));
    }
}
