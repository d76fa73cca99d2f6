//! The people and agents of an account: invite, join, list and remove.

use domain::{
    Account, Artifact, Cursor, Invite, InviteCode, InviteTerms, List, Maker, Missing, Page, PageStart, Paged,
    Refusal, Scopes, Token, TokenId, TokenSecret, UserId,
};
use store::{JoiningAgent, JoiningPerson, Member, OpenedInvite, Reach};

use crate::{Caller, Client, Person, Service, ServiceResult};

/// A code is too long to be guessed. This limit keeps clients from trying.
const JOINS_PER_MINUTE: u32 = 60;
/// Pages that an invite names, newest first.
const PAGES_NAMED_MAX: u32 = 3;

/// An agent that has joined, with the token that is shown only once.
#[derive(Clone, Debug)]
pub struct Joined {
    pub handle: String,
    pub token: TokenSecret,
    pub scopes: Scopes,
}

/// The people and tokens that act for an account.
#[derive(Clone, Debug)]
pub struct Team {
    pub members: Vec<Member>,
    /// The active tokens, newest first.
    pub tokens: Vec<Token>,
    /// Set if there are more members or tokens.
    pub next: Option<Cursor>,
}

/// A usable invite, for the person who decides whether to join.
#[derive(Clone, Debug)]
pub struct InviteOffer {
    pub invite: Invite,
    pub account: Account,
    /// The username of the person who created it. `None`: an agent did.
    pub invited_by: Option<String>,
    /// The newest pages of the account, with the total.
    pub artifacts: Paged<Artifact>,
}

impl Service {
    // Spec 4.5. Nobody invites above their own role: only admins and owners invite, and an invite grants
    // admin at most.
    pub async fn invite(&self, caller: &Caller, terms: InviteTerms) -> ServiceResult<Invite> {
        let now = self.0.clock.now();
        caller.may_lead(now)?;
        let invite = Invite {
            code: InviteCode::generate(&self.0.chance),
            account: caller.account,
            role: terms.role,
            max_uses: terms.max_uses,
            uses: 0,
            expires_at: now.plus(terms.ttl),
            revoked_at: None,
            created_at: now,
            made_by: caller.maker(),
        };
        self.0.store.invites().create(&self.change_by(caller), &invite).await?;
        tracing::info!(account.handle = %caller.handle, invite.role = %invite.role, "invite created");
        Ok(invite)
    }

    /// The invites of the account, newest first, including those that can no longer be used.
    pub async fn invites(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<Invite>> {
        caller.may_see_invites()?;
        Ok(self.0.store.invites().list(caller.account, page).await?)
    }

    /// One of the account's invites, usable or not.
    pub async fn invite_of(&self, caller: &Caller, code: &str) -> ServiceResult<Invite> {
        caller.may_see_invites()?;
        let opened = self.0.store.invites().open(&parse_code(code)?).await?;
        let invite = opened.map(|opened| opened.invite).filter(|invite| invite.account == caller.account);
        Ok(invite.ok_or(Refusal::NotFound(Missing::Invite))?)
    }

    /// Revokes an invite, so that its link no longer works.
    pub async fn revoke_invite(&self, caller: &Caller, code: &str) -> ServiceResult<InviteCode> {
        caller.may_lead(self.0.clock.now())?;
        let code = parse_code(code)?;
        self.0.store.invites().revoke(&self.change_by(caller), &code).await?;
        tracing::info!(account.handle = %caller.handle, "invite revoked");
        Ok(code)
    }

    /// Lets an agent join with only the code.
    pub async fn join_as_agent(&self, code: &str, from: &Client) -> ServiceResult<Joined> {
        let now = self.0.clock.now();
        self.take_by_address("join", from.address, JOINS_PER_MINUTE).await?;
        let secret = TokenSecret::generate(&self.0.chance);
        let joining = JoiningAgent {
            code: parse_code(code)?,
            token: TokenId::new(now, &self.0.chance),
            secret_hash: secret.hash(),
            secret_start: secret.start(),
            origin: from.origin(),
            now,
        };
        let joined = self.0.store.invites().join_as_agent(&joining, &self.0.chance).await?;
        tracing::info!(account.handle = %joined.handle, token.id = %joining.token, "agent joined");
        Ok(Joined { handle: joined.handle, token: secret, scopes: joined.scopes })
    }

    /// The invite behind a code, if it can still be used.
    pub async fn open_invite(&self, code: &str) -> ServiceResult<InviteOffer> {
        let opened = self.0.store.invites().open(&parse_code(code)?).await?;
        let OpenedInvite { invite, account } = opened.ok_or(Refusal::NotFound(Missing::Invite))?;
        if account.suspension.is_some() {
            return Err(Refusal::AccountSuspended.into());
        }
        invite.must_be_usable(self.0.clock.now())?;
        let invited_by = match invite.made_by {
            Maker { user: Some(user), token: None } => self.0.store.users().username(user).await?,
            Maker { .. } => None,
        };
        let newest = Page::first(PAGES_NAMED_MAX).counted();
        let artifacts = self.0.store.artifacts().list(account.id, None, &newest).await?;
        Ok(InviteOffer { invite, account, invited_by, artifacts })
    }

    /// Lets a person join an account, and returns its handle. Nothing changes for a member.
    pub async fn join(&self, person: &Person, code: &str) -> ServiceResult<String> {
        let joining = JoiningPerson {
            code: parse_code(code)?,
            user: person.user,
            origin: person.origin,
            now: self.0.clock.now(),
        };
        let handle = self.0.store.invites().join_as_person(&joining, &self.0.chance).await?;
        tracing::info!(user.id = %person.user, account.handle = %handle, "person used an invite");
        Ok(handle)
    }

    /// The members and then the active tokens of the account, as one list. A person of any role may read it.
    pub async fn team(&self, caller: &Caller, page: &Page) -> ServiceResult<Team> {
        let is_past_members = page.start.cursor().is_some_and(|cursor| cursor.list == List::Tokens);
        let members = if is_past_members { Paged::empty() } else { self.members(caller, page).await? };
        if members.next.is_some() {
            return Ok(Team { members: members.rows, tokens: vec![], next: members.next });
        }
        let rows_left = page.rows_max.saturating_sub(u32::try_from(members.rows.len()).unwrap_or(u32::MAX));
        let start = if is_past_members { page.start.clone() } else { PageStart::First };
        let tokens = match rows_left {
            // A page that is full of members says nothing about the tokens, of which there may be none.
            0 => Paged { next: Some(Cursor::of_the_beginning(List::Tokens)), ..Paged::empty() },
            rows_left => self.team_tokens(caller, &Page::new(start, rows_left)).await?,
        };
        Ok(Team { members: members.rows, tokens: tokens.rows, next: tokens.next })
    }

    /// The people of the account, in the order in which they joined.
    pub async fn members(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<Member>> {
        caller.may_see_team()?;
        Ok(self.0.store.members().list(caller.account, page).await?)
    }

    /// The active tokens of the account, newest first, for callers who may see its members.
    pub async fn team_tokens(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<Token>> {
        caller.may_see_team()?;
        self.flush_token_uses().await;
        self.tokens_shown_to(caller, Reach::All, page).await
    }

    /// Removes a person and everything that came from them. Returns the person's id and how many tokens were
    /// revoked. Anyone except the owner may leave.
    pub async fn remove_member(&self, caller: &Caller, user: &str) -> ServiceResult<(UserId, u64)> {
        let user = user.parse::<UserId>().ok();
        if !user.is_some_and(|user| caller.is(user)) {
            caller.may_lead(self.0.clock.now())?;
        }
        // A malformed id belongs to nobody.
        let user = user.ok_or(Refusal::NotFound(Missing::Member))?;
        let tokens_revoked = self.0.store.members().remove(&self.change_by(caller), user).await?;
        tracing::info!(account.handle = %caller.handle, user.id = %user, tokens.revoked = tokens_revoked, "member removed");
        Ok((user, tokens_revoked))
    }
}

/// A malformed code gets the same refusal as an unknown one.
fn parse_code(code: &str) -> Result<InviteCode, Refusal> {
    code.parse().map_err(|_| Refusal::NotFound(Missing::Invite))
}
