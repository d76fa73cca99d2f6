//! The sign-in of a device that has no browser, or whose browser cannot return to it (RFC 8628). A person
//! opens a page elsewhere and compares a short code.

use std::net::IpAddr;
use std::time::Duration;

use bus::{Budget, RateLimit};
use domain::oauth::{ClientName, UserCode, requested_scopes};
use domain::{Account, Missing, Refusal, Scopes, hash_secret};
use store::{Device, DeviceDecision, GrantPath, NewDevice};

use super::CODE_LENGTH;
use super::authorize::GrantTerms;
use super::error::{OAuthCode, OAuthFailure, OAuthResult};
use super::grants::needed;
use crate::{Person, Service, ServiceResult};

const DEVICE_KEPT: Duration = Duration::from_secs(15 * 60);
const POLLED_EVERY: Duration = Duration::from_secs(5);
/// A device's clock and the network are not exact.
const POLL_TOLERANCE: Duration = Duration::from_secs(1);
/// Devices that wait at any time.
const WAITING_MAX: u64 = 10_000;
/// Sign-ins that an address begins per minute, and while a device waits at most.
const DEVICES_PER_MINUTE: u32 = 10;
const WAITING_PER_ADDRESS: u32 = 60;
/// Codes that an address tries per minute. There are 25 billion, which live for minutes.
const USER_CODES_PER_MINUTE: u32 = 20;

/// What a device sends.
#[derive(Clone, Debug, Default)]
pub struct DeviceParameters {
    pub client_id: Option<String>,
    pub scope: Option<String>,
    pub resource: Option<String>,
}

/// A sign-in that has begun.
pub struct DeviceSignIn {
    /// The device's own secret.
    pub device_code: String,
    pub user_code: UserCode,
    pub page: String,
    pub expires_in: Duration,
    pub interval: Duration,
}

/// A device that waits, as the person sees it.
#[derive(Clone, Debug)]
pub struct WaitingDevice {
    pub user_code: UserCode,
    pub client: ClientName,
    pub scopes: Scopes,
    device: Device,
}

impl Service {
    /// Begins the sign-in of a device.
    pub async fn begin_device(&self, sent: DeviceParameters, from: IpAddr) -> OAuthResult<DeviceSignIn> {
        self.take_by_address("oauth-device", from, DEVICES_PER_MINUTE).await?;
        let waiting = Budget::Window { takes: WAITING_PER_ADDRESS, length: DEVICE_KEPT };
        self.take_each(&RateLimit::of_address("oauth-devices-waiting", from, waiting)).await?;
        let client = self.find_client(needed(sent.client_id.as_deref(), "client_id")?, from).await?;
        let scopes = requested_scopes(sent.scope.as_deref())
            .ok_or_else(|| OAuthCode::InvalidScope.because("scope: has no known scope"))?;
        let resource = self.requested_resource(sent.resource.as_deref())?;
        let (now, chance) = (self.0.clock.now(), &self.0.chance);
        let (device_code, user_code) = (chance.alphanumeric(CODE_LENGTH), UserCode::generate(chance));
        let device = NewDevice {
            device_hash: hash_secret(&device_code),
            user_code_hash: user_code.hash(),
            client_hash: hash_secret(&client.id),
            client_name: client.metadata.name.to_string(),
            scopes,
            resource,
            expires_at: now.plus(DEVICE_KEPT),
        };
        if !self.0.store.oauth().create_device(&device, WAITING_MAX, now).await? {
            return Err(Refusal::overloaded("too many devices wait for a sign-in").into());
        }
        let page = self.addresses().api("/device");
        Ok(DeviceSignIn { device_code, user_code, page, expires_in: DEVICE_KEPT, interval: POLLED_EVERY })
    }

    /// The device that shows this code. Every attempt counts.
    pub async fn waiting_device(&self, typed: &str, from: IpAddr) -> ServiceResult<WaitingDevice> {
        self.take_by_address("oauth-user-code", from, USER_CODES_PER_MINUTE).await?;
        let missing = || Refusal::NotFound(Missing::DeviceCode);
        let user_code: UserCode = typed.parse().map_err(|()| missing())?;
        let now = self.0.clock.now();
        let found = self.0.store.oauth().find_waiting_device(&user_code.hash(), now).await?;
        let device = found.ok_or_else(missing)?;
        let client = ClientName::tidied(&device.client_name).ok_or_else(missing)?;
        Ok(WaitingDevice { user_code, client, scopes: device.scopes, device })
    }

    /// Signs the device in to an account of the person.
    pub async fn allow_device(
        &self,
        waiting: &WaitingDevice,
        person: &Person,
        account: &str,
    ) -> ServiceResult<()> {
        let caller = self.caller_of(person, Some(account)).await?;
        self.grant(&caller, waiting.scopes, waiting.terms()).await
    }

    /// Signs the device in to a new account.
    pub async fn allow_device_with_new_account(
        &self,
        waiting: &WaitingDevice,
        from: IpAddr,
    ) -> ServiceResult<Account> {
        self.grant_new_account(waiting.scopes, waiting.terms(), from).await
    }

    pub async fn deny_device(&self, waiting: &WaitingDevice) -> ServiceResult<()> {
        Ok(self.0.store.oauth().deny_device(&waiting.user_code.hash()).await?)
    }

    /// Fails until a person has allowed the device.
    pub(super) async fn must_be_allowed(&self, device_hash: &str, client_hash: &str) -> OAuthResult<()> {
        let refused = |code: OAuthCode, why: &str| Err::<(), OAuthFailure>(code.because(why).into());
        let store = self.0.store.oauth();
        let device = match store.find_device(device_hash).await? {
            Some(device) if device.client_hash == client_hash => device,
            _ => return refused(OAuthCode::InvalidGrant, "the device code is unknown"),
        };
        let now = self.0.clock.now();
        match device.decision {
            Some(DeviceDecision::Allowed) => Ok(()),
            Some(DeviceDecision::Denied) => refused(OAuthCode::AccessDenied, "the person denied the request"),
            None if device.expires_at <= now => {
                refused(OAuthCode::ExpiredToken, "the device code has expired; start again")
            }
            None => {
                let is_early = |at| now.since(at) + POLL_TOLERANCE < POLLED_EVERY;
                if device.polled_at.is_some_and(is_early) {
                    return refused(OAuthCode::SlowDown, "wait 5 seconds between two requests");
                }
                store.note_poll(device_hash, now).await?;
                refused(OAuthCode::AuthorizationPending, "no person has decided yet")
            }
        }
    }
}

impl WaitingDevice {
    fn terms(&self) -> GrantTerms {
        GrantTerms {
            name: self.client.token_name(),
            client_hash: self.device.client_hash.clone(),
            resource: self.device.resource.clone(),
            code_hash: self.device.device_hash.clone(),
            by: GrantPath::Device { user_code_hash: self.user_code.hash() },
        }
    }
}
