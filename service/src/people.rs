//! User accounts: people who sign in with a password, or without one in dev mode. Neither a response nor its
//! duration may reveal whether a username exists. Registration has to reveal it, so it is rate limited.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Context;
use bus::{Budget, RateLimit};
use domain::{
    AuditEntry, Missing, Origin, Password, PasswordHash, Refusal, UserId, Username, Via, hash_secret,
};
use store::{Ending, Membership, NewSession, PasswordChange, Sessions, User};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::caller::SESSION_KEPT;
use crate::{Failure, Person, Service, ServiceDependencies, ServiceResult};

/// About 256 bits.
const SESSION_SECRET_LENGTH: usize = 43;
/// How long a sign-in waits for password hashing.
const HASHING_WAIT_MAX: Duration = Duration::from_secs(10);
/// Characters of a client's user agent that are stored with a session.
const USER_AGENT_CHARS_MAX: usize = 200;
/// Entries of their own audit log that a person sees.
const OWN_TRAIL_MAX: u64 = 20;

/// Passwords that are hashed concurrently: on half of the cores, so that sign-ins do not starve other work.
static HASHING: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))));

/// The client of a sign-in.
#[derive(Clone, Debug)]
pub struct Client {
    pub via: Via,
    pub address: IpAddr,
    pub user_agent: Option<String>,
}

impl Client {
    pub fn origin(&self) -> Origin {
        Origin { via: self.via, address: Some(self.address) }
    }

    /// The user agent, bounded and on one line.
    fn name(&self) -> Option<String> {
        let name: String = self
            .user_agent
            .as_ref()?
            .chars()
            .filter(|one| !one.is_control())
            .take(USER_AGENT_CHARS_MAX)
            .collect();
        (!name.is_empty()).then_some(name)
    }
}

/// A username and password, as entered.
pub struct Credentials {
    pub username: String,
    pub password: Password,
}

/// The passwords entered to change one.
pub struct PasswordUpdate {
    pub current: Password,
    pub new: Password,
}

/// A person who has just signed in, with the secret of the session, which is shown only once.
pub struct SignedIn {
    pub person: Person,
    pub session: String,
}

/// A new session that is not stored yet, with its secret.
struct Opened {
    secret: String,
    session: NewSession,
}

impl Opened {
    fn signed_in(self, user: UserId, username: &Username) -> SignedIn {
        let person = Person { user, username: username.to_string(), origin: self.session.origin };
        SignedIn { person, session: self.secret }
    }
}

impl Service {
    /// Registers a person and signs them in (spec 4.6).
    pub async fn register(&self, credentials: Credentials, from: &Client) -> ServiceResult<SignedIn> {
        let username = credentials.username.parse::<Username>().map_err(Refusal::from)?;
        self.add_person(username, credentials.password, from).await
    }

    /// Signs a person in. Every failure, even a malformed username, gets the same response in the same time.
    /// This prevents user enumeration.
    pub async fn log_in(&self, credentials: Credentials, from: &Client) -> ServiceResult<SignedIn> {
        let username = credentials.username.parse::<Username>().ok();
        self.take_login(from.address, username.as_ref()).await?;
        let user = match &username {
            Some(username) => self.0.store.users().find(username).await?,
            None => None,
        };
        self.sign_in(user, credentials.password, from).await
    }

    /// Signs a person in, or registers the username if it is free. The claim page uses this. It always counts
    /// as a login, because the response reveals whether the username exists.
    pub async fn log_in_or_register(
        &self,
        credentials: Credentials,
        from: &Client,
    ) -> ServiceResult<SignedIn> {
        let username = credentials.username.parse::<Username>().map_err(Refusal::from)?;
        self.take_login(from.address, Some(&username)).await?;
        if let Some(user) = self.0.store.users().find(&username).await? {
            return self.sign_in(Some(user), credentials.password, from).await;
        }
        match self.add_person(username.clone(), credentials.password.clone(), from).await {
            // The username was taken at the same moment, perhaps by this form sent twice.
            Err(Failure::Refused(refusal)) if matches!(*refusal, Refusal::UsernameTaken { .. }) => {
                self.sign_in(self.0.store.users().find(&username).await?, credentials.password, from).await
            }
            added => added,
        }
    }

    /// Dev mode only: signs in as anybody without a password, and creates the person if needed.
    pub async fn log_in_without_password(&self, username: &str, from: &Client) -> ServiceResult<SignedIn> {
        if !self.is_dev_mode() {
            return Err(Refusal::NotFound(Missing::Endpoint).into());
        }
        let username = username.parse::<Username>().map_err(Refusal::from)?;
        let fresh = self.new_user(username, PasswordHash::unusable());
        let opened = self.new_session(fresh.id, from);
        if self.0.store.users().create(&fresh, &opened.session, &self.0.chance).await? {
            return Ok(opened.signed_in(fresh.id, &fresh.username));
        }
        let known =
            self.0.store.users().find(&fresh.username).await?.context("an existing user was not found")?;
        self.open_session(known.id, &known.username, from).await
    }

    /// Ends a session on the server. An unknown or expired session is no error.
    pub async fn log_out(&self, session: &str) -> ServiceResult<()> {
        self.0.store.sessions().delete(&hash_secret(session)).await?;
        Ok(())
    }

    /// Changes a person's password. It ends every session, including the caller's, of which somebody else may
    /// have a copy, and starts a new one. It counts as a login, because it checks a password.
    pub async fn change_password(
        &self,
        person: &Person,
        update: PasswordUpdate,
        from: &Client,
    ) -> ServiceResult<SignedIn> {
        let username = person.username.parse::<Username>().context("the username of a session")?;
        let PasswordUpdate { current, new } = update;
        new.must_suit(&username)?;
        self.take_login(from.address, Some(&username)).await?;
        // Read again, because the username must still belong to the person of the session.
        let user = self.0.store.users().find(&username).await?.filter(|user| user.id == person.user);
        let user = user.ok_or(Refusal::NotSignedIn)?;
        let (known, chance) = (user.password_hash.clone(), self.0.chance.clone());
        let hash = hashing(move || {
            PasswordHash::verifies(Some(&known), &current).then(|| PasswordHash::of(&new, &chance))
        });
        let Some(new) = hash.await? else {
            self.note_failed_sign_in(user.id, from.origin());
            return Err(Refusal::InvalidCredentials.into());
        };
        let new = new.context("hash a password")?;
        let opened = self.new_session(user.id, from);
        let change = PasswordChange { known: user.password_hash, new, session: opened.session.clone() };
        if !self.0.store.users().change_password(&change, &self.0.chance).await? {
            return Err(Refusal::InvalidCredentials.into());
        }
        tracing::info!(user.id = %user.id, "person changed their password");
        Ok(opened.signed_in(user.id, &username))
    }

    /// Ends all sessions of a person, including the caller's.
    pub async fn log_out_everywhere(&self, person: &Person) -> ServiceResult<()> {
        self.0.store.sessions().end_all(person.user, self.ending_by(person)).await?;
        tracing::info!(user.id = %person.user, "person signed out everywhere");
        Ok(())
    }

    /// The person's sessions, the last used first. `session` is the secret of the caller's.
    pub async fn sessions(&self, person: &Person, session: &str) -> ServiceResult<Sessions> {
        let now = self.0.clock.now();
        Ok(self.0.store.sessions().list(person.user, &hash_secret(session), now).await?)
    }

    /// Ends one of the person's sessions, by the id in the list. An ended session is no error.
    pub async fn end_session(&self, person: &Person, id: &str) -> ServiceResult<()> {
        if self.0.store.sessions().end(person.user, id, self.ending_by(person)).await? {
            tracing::info!(user.id = %person.user, "person ended a session");
        }
        Ok(())
    }

    /// The newest entries of the person's own audit log, such as sign-ins.
    pub async fn own_trail(&self, person: &Person) -> ServiceResult<Vec<AuditEntry>> {
        Ok(self.0.store.audit().list_of_person(person.user, OWN_TRAIL_MAX).await?)
    }

    fn ending_by(&self, person: &Person) -> Ending<'_> {
        Ending { origin: person.origin, now: self.0.clock.now(), chance: &self.0.chance }
    }

    /// The accounts that a person belongs to: highest role first, then oldest.
    pub async fn memberships(&self, person: &Person) -> ServiceResult<Vec<Membership>> {
        Ok(self.0.store.members().list_memberships(person.user).await?)
    }

    async fn add_person(
        &self,
        username: Username,
        password: Password,
        from: &Client,
    ) -> ServiceResult<SignedIn> {
        password.must_suit(&username)?;
        self.take_by_address("register", from.address, self.0.rules.registrations_per_minute).await?;
        let taken = Refusal::UsernameTaken { username: username.to_string() };
        if self.0.store.users().find(&username).await?.is_some() {
            return Err(taken.into());
        }
        let chance = self.0.chance.clone();
        let hash = hashing(move || PasswordHash::of(&password, &chance)).await?;
        let user = self.new_user(username, hash.context("hash a password")?);
        let opened = self.new_session(user.id, from);
        if !self.0.store.users().create(&user, &opened.session, &self.0.chance).await? {
            return Err(taken.into());
        }
        tracing::info!(user.id = %user.id, "person registered");
        Ok(opened.signed_in(user.id, &user.username))
    }

    async fn sign_in(
        &self,
        user: Option<User>,
        password: Password,
        from: &Client,
    ) -> ServiceResult<SignedIn> {
        let kept = user.as_ref().map(|user| user.password_hash.clone());
        let fits = hashing(move || PasswordHash::verifies(kept.as_ref(), &password)).await?;
        let user = user.ok_or(Refusal::InvalidCredentials)?;
        if !fits {
            self.note_failed_sign_in(user.id, from.origin());
            return Err(Refusal::InvalidCredentials.into());
        }
        let opened = self.new_session(user.id, from);
        if !self
            .0
            .store
            .sessions()
            .create_with_password(&user.password_hash, &opened.session, &self.0.chance)
            .await?
        {
            return Err(Refusal::InvalidCredentials.into());
        }
        tracing::info!(user.id = %user.id, "person signed in");
        Ok(opened.signed_in(user.id, &user.username))
    }

    /// Written without delaying the response, which must take as long for an unknown username. If the process
    /// is killed at that moment, one entry of the audit log is lost.
    fn note_failed_sign_in(&self, user: UserId, origin: Origin) {
        let service = self.clone();
        tokio::spawn(async move {
            let ServiceDependencies { store, clock, chance, .. } = &*service.0;
            if let Err(error) = store.audit().record_failed_sign_in(user, origin, clock.now(), chance).await {
                tracing::warn!(error = format!("{error:#}"), user.id = %user, "a failed sign-in could not be added to the audit log");
            }
        });
    }

    /// Always a new session, never one that the browser had before.
    async fn open_session(
        &self,
        user: UserId,
        username: &Username,
        from: &Client,
    ) -> ServiceResult<SignedIn> {
        let opened = self.new_session(user, from);
        self.0.store.sessions().create(&opened.session, &self.0.chance).await?;
        tracing::info!(user.id = %user, "person signed in");
        Ok(opened.signed_in(user, username))
    }

    fn new_session(&self, user: UserId, from: &Client) -> Opened {
        let now = self.0.clock.now();
        let secret = self.0.chance.alphanumeric(SESSION_SECRET_LENGTH);
        let session = NewSession {
            secret_hash: hash_secret(&secret),
            user,
            created_at: now,
            expires_at: now.plus(SESSION_KEPT),
            origin: from.origin(),
            user_agent: from.name(),
        };
        Opened { secret, session }
    }

    fn new_user(&self, username: Username, password_hash: PasswordHash) -> User {
        let now = self.0.clock.now();
        User { id: UserId::new(now, &self.0.chance), username, password_hash, created_at: now }
    }

    // Spec 5.6. The address comes first, so that a client over its own limit cannot use up the limit of a
    // username.
    async fn take_login(&self, from: IpAddr, username: Option<&Username>) -> ServiceResult<()> {
        let per_minute = self.0.rules.logins_per_minute;
        self.take_by_address("login-address", from, per_minute).await?;
        if let Some(username) = username {
            let (key, budget) = (username.to_string(), Budget::per_minute(per_minute));
            self.take(RateLimit { name: "login-username", key, budget }).await?;
        }
        Ok(())
    }
}

/// Runs slow password work on blocking threads, a few at a time.
pub(crate) async fn hashing<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> ServiceResult<T> {
    let permit = timeout(HASHING_WAIT_MAX, HASHING.acquire())
        .await
        .map_err(|_| {
            telemetry::shed("api", "hashing");
            Refusal::overloaded("too many people are signing in")
        })?
        .context("the hashing of passwords is closed")?;
    let done = spawn_blocking(move || {
        let done = work();
        // Released here and not by the caller, which may have stopped waiting while the work goes on.
        drop(permit);
        done
    });
    Ok(done.await.context("hash a password")?)
}
