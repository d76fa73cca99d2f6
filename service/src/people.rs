//! People who sign in: by a password, or unasked in dev mode. Neither an answer nor the time that it takes may tell
//! whether a name exists, but for a registration, which has to; so those are few a minute.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Context;
use bus::{Budget, RateLimit};
use domain::{Missing, Password, PasswordHash, Refusal, UserId, Username, hash_secret};
use store::{Membership, NewSession, PasswordChange, User};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::caller::SESSION_KEPT;
use crate::{Answer, Failure, Person, Service};

/// About 256 bits.
const SESSION_SECRET_LENGTH: usize = 43;
/// How long a sign-in waits for its turn to be hashed.
const HASHING_WAIT_MAX: Duration = Duration::from_secs(10);

/// Passwords that are hashed at a time: half of the processors, so that people who sign in do not stop the rest.
static HASHING: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))));

/// What somebody typed to sign in.
pub struct Credentials {
    pub username: String,
    pub password: Password,
}

/// What somebody typed to have another password.
pub struct PasswordWish {
    pub current: Password,
    pub new: Password,
}

/// A person who has just signed in, with the secret of the session: it is shown this once.
pub struct SignedIn {
    pub person: Person,
    pub session: String,
}

/// A session that is about to be written, with its secret.
struct Opened {
    secret: String,
    session: NewSession,
}

impl Opened {
    fn signed_in(self, user: UserId, username: &Username) -> SignedIn {
        SignedIn { person: Person { user, username: username.to_string() }, session: self.secret }
    }
}

impl Service {
    /// Makes a person who can sign in, and signs them in (spec 4.6).
    pub async fn register(&self, credentials: Credentials, from: IpAddr) -> Answer<SignedIn> {
        let username = credentials.username.parse::<Username>().map_err(Refusal::from)?;
        self.add_person(username, credentials.password, from).await
    }

    /// Signs a person in. Whatever is wrong, a name that is none included, gets one answer after one time.
    pub async fn log_in(&self, credentials: Credentials, from: IpAddr) -> Answer<SignedIn> {
        let username = credentials.username.parse::<Username>().ok();
        self.take_login(from, username.as_ref()).await?;
        let user = match &username {
            Some(username) => self.0.store.user(username).await?,
            None => None,
        };
        self.enter(user, credentials.password).await
    }

    /// Signs in who has the name, or registers it when nobody has: what a claim does on the way. It counts as a login
    /// in either case, because the answer tells whether the name exists.
    pub async fn log_in_or_register(&self, credentials: Credentials, from: IpAddr) -> Answer<SignedIn> {
        let username = credentials.username.parse::<Username>().map_err(Refusal::from)?;
        self.take_login(from, Some(&username)).await?;
        if let Some(user) = self.0.store.user(&username).await? {
            return self.enter(Some(user), credentials.password).await;
        }
        match self.add_person(username.clone(), credentials.password.clone(), from).await {
            // Somebody took the name in the same moment: this very form, perhaps, sent twice.
            Err(Failure::Refused(refusal)) if matches!(*refusal, Refusal::UsernameTaken { .. }) => {
                self.enter(self.0.store.user(&username).await?, credentials.password).await
            }
            added => added,
        }
    }

    /// Dev mode only: signs in as anybody, who comes into being if need be and has no password.
    pub async fn log_in_unasked(&self, username: &str) -> Answer<SignedIn> {
        if !self.is_dev_mode() {
            return Err(Refusal::NotFound(Missing::Endpoint).into());
        }
        let username = username.parse::<Username>().map_err(Refusal::from)?;
        let fresh = self.new_user(username, PasswordHash::unusable());
        let opened = self.new_session(fresh.id);
        if self.0.store.insert_user(&fresh, &opened.session).await? {
            return Ok(opened.signed_in(fresh.id, &fresh.username));
        }
        let known = self.0.store.user(&fresh.username).await?.context("a user who is known is not there")?;
        self.open_session(known.id, &known.username).await
    }

    /// Ends a session on the server. One that is unknown or over is no error.
    pub async fn log_out(&self, session: &str) -> Answer<()> {
        self.0.store.delete_session(&hash_secret(session)).await?;
        Ok(())
    }

    /// Changes a person's password. Every session ends with the old one, also the one that asks, which somebody else may
    /// have a copy of: what is left is a session of its own. It counts as a login, because it tries a password.
    pub async fn change_password(
        &self,
        person: &Person,
        wish: PasswordWish,
        from: IpAddr,
    ) -> Answer<SignedIn> {
        let username = person.username.parse::<Username>().context("the name of who is signed in")?;
        let PasswordWish { current, new } = wish;
        new.must_suit(&username)?;
        self.take_login(from, Some(&username)).await?;
        // Who bears the name is looked up anew: it must still be whom the session is of.
        let user = self.0.store.user(&username).await?.filter(|user| user.id == person.user);
        let user = user.ok_or(Refusal::NotSignedIn)?;
        let (known, chance) = (user.password_hash.clone(), self.0.chance.clone());
        let hash = hashing(move || {
            PasswordHash::verifies(Some(&known), &current).then(|| PasswordHash::of(&new, &chance))
        });
        let new = hash.await?.ok_or(Refusal::InvalidCredentials)?.context("hash a password")?;
        let opened = self.new_session(user.id);
        let change = PasswordChange { known: user.password_hash, new, session: opened.session.clone() };
        if !self.0.store.change_password(&change).await? {
            return Err(Refusal::InvalidCredentials.into());
        }
        tracing::info!(user.id = %user.id, "person changed their password");
        Ok(opened.signed_in(user.id, &username))
    }

    /// Ends all sessions of a person, the one that asks among them.
    pub async fn log_out_everywhere(&self, person: &Person) -> Answer<()> {
        self.0.store.delete_sessions(person.user).await?;
        tracing::info!(user.id = %person.user, "person signed out everywhere");
        Ok(())
    }

    /// The accounts that a person stands for: the highest role first, then the oldest.
    pub async fn memberships(&self, person: &Person) -> Answer<Vec<Membership>> {
        Ok(self.0.store.memberships(person.user).await?)
    }

    async fn add_person(&self, username: Username, password: Password, from: IpAddr) -> Answer<SignedIn> {
        password.must_suit(&username)?;
        self.take_by_address("register", from, self.0.rules.registrations_per_minute).await?;
        let taken = Refusal::UsernameTaken { username: username.to_string() };
        if self.0.store.user(&username).await?.is_some() {
            return Err(taken.into());
        }
        let chance = self.0.chance.clone();
        let hash = hashing(move || PasswordHash::of(&password, &chance)).await?;
        let user = self.new_user(username, hash.context("hash a password")?);
        let opened = self.new_session(user.id);
        if !self.0.store.insert_user(&user, &opened.session).await? {
            return Err(taken.into());
        }
        tracing::info!(user.id = %user.id, "person registered");
        Ok(opened.signed_in(user.id, &user.username))
    }

    async fn enter(&self, user: Option<User>, password: Password) -> Answer<SignedIn> {
        let kept = user.as_ref().map(|user| user.password_hash.clone());
        let fits = hashing(move || PasswordHash::verifies(kept.as_ref(), &password)).await?;
        let user = user.filter(|_| fits).ok_or(Refusal::InvalidCredentials)?;
        let opened = self.new_session(user.id);
        if !self.0.store.insert_session_by(&user.password_hash, &opened.session).await? {
            return Err(Refusal::InvalidCredentials.into());
        }
        tracing::info!(user.id = %user.id, "person signed in");
        Ok(opened.signed_in(user.id, &user.username))
    }

    /// Always a session of its own, never one that the browser had before.
    async fn open_session(&self, user: UserId, username: &Username) -> Answer<SignedIn> {
        let opened = self.new_session(user);
        self.0.store.insert_session(&opened.session).await?;
        tracing::info!(user.id = %user, "person signed in");
        Ok(opened.signed_in(user, username))
    }

    fn new_session(&self, user: UserId) -> Opened {
        let now = self.0.clock.now();
        let secret = self.0.chance.alphanumeric(SESSION_SECRET_LENGTH);
        let session = NewSession {
            secret_hash: hash_secret(&secret),
            user,
            created_at: now,
            expires_at: now.plus(SESSION_KEPT),
        };
        Opened { secret, session }
    }

    fn new_user(&self, username: Username, password_hash: PasswordHash) -> User {
        let now = self.0.clock.now();
        User { id: UserId::new(now, &self.0.chance), username, password_hash, created_at: now }
    }

    // Spec 5.6. The address comes first: who has used theirs up cannot use up anybody's name.
    async fn take_login(&self, from: IpAddr, username: Option<&Username>) -> Answer<()> {
        let per_minute = self.0.rules.logins_per_minute;
        self.take_by_address("login-address", from, per_minute).await?;
        if let Some(username) = username {
            let (key, budget) = (username.to_string(), Budget::per_minute(per_minute));
            self.take(RateLimit { name: "login-username", key, budget }).await?;
        }
        Ok(())
    }
}

/// Runs slow work on passwords where it holds nobody up, a few at a time.
async fn hashing<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    let turn = timeout(HASHING_WAIT_MAX, HASHING.acquire())
        .await
        .map_err(|_| {
            telemetry::shed("api", "hashing");
            Refusal::overloaded("too many people sign in at present")
        })?
        .context("the hashing of passwords is closed")?;
    let done = spawn_blocking(move || {
        let done = work();
        // Given back here, not by a caller who may have gone: the work goes on without them.
        drop(turn);
        done
    });
    Ok(done.await.context("hash a password")?)
}
