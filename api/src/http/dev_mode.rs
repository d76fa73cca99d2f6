//! Access to what only dev mode offers, from its own machine only. Outside dev mode these routes must respond
//! as if they did not exist.
//!
//! Dev mode starts only on loopback, but a proxy or DNS rebinding (a public name that resolves to loopback)
//! can still forward a remote request. Such a request names another host or has a header of a proxy.

use domain::{CardTerms, Missing, Payment, Refusal, is_loopback_host};
use poem::http::uri::Authority;
use poem::http::{HeaderMap, Uri, header};
use poem::{FromRequest, Request, RequestBody};
use service::Service;

use crate::http::client_ip::{is_forwarded, is_from_here};
use crate::http::refusal::RefusedCall;
use crate::http::service_of::service_of;

/// Proof that the service runs in dev mode and that the request may use it. Handlers take it before they
/// authenticate.
pub struct DevMode;

impl<'a> FromRequest<'a> for DevMode {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        let service = service_of(request)?;
        if !service.is_dev_mode() {
            return Err(RefusedCall::from(Refusal::NotFound(Missing::Endpoint)).into());
        }
        demand_local(request, service).map_err(RefusedCall::from)?;
        Ok(Self)
    }
}

/// Refuses a request from another machine, unless the operator has allowed dev mode in public.
pub fn demand_local(request: &Request, service: &Service) -> Result<(), Refusal> {
    if service.is_public_dev_allowed() || is_local(request) {
        return Ok(());
    }
    Err(Refusal::DevModeIsLocal)
}

/// Whether a request may use the dev payment, which moves no money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevPayment {
    /// Decided by the tariff: the payment settles only in dev mode.
    ByTariff,
    /// The service runs in dev mode, and the request comes from another machine.
    Refused(CardTerms),
}

impl DevPayment {
    pub fn of(request: &Request, service: &Service) -> Self {
        if service.is_dev_mode() && demand_local(request, service).is_err() {
            Self::Refused(service.tariff().card_rail)
        } else {
            Self::ByTariff
        }
    }

    pub fn demand(self) -> Result<(), Refusal> {
        match self {
            Self::ByTariff => Ok(()),
            Self::Refused(_) => Err(Refusal::DevModeIsLocal),
        }
    }

    /// The payment that may settle the call. A refused payment settles nothing, and a call that costs nothing
    /// ignores it.
    pub fn settling(self, offered: Option<&Payment>) -> Option<Payment> {
        match (self, offered) {
            (Self::Refused(_), Some(Payment::Dev(_))) => Some(Payment::Unreadable),
            (_, offered) => offered.cloned(),
        }
    }

    /// Adapts a refusal to this request: a challenge must not offer a payment that is refused.
    pub fn explain(self, refusal: Refusal, offered: Option<&Payment>) -> Refusal {
        match (self, refusal) {
            (Self::Refused(_), Refusal::PaymentRequired(_)) if matches!(offered, Some(Payment::Dev(_))) => {
                Refusal::DevModeIsLocal
            }
            (Self::Refused(card), Refusal::PaymentRequired(challenge)) => {
                Refusal::PaymentRequired(Box::new(challenge.without_dev(card)))
            }
            (_, refusal) => refusal,
        }
    }
}

/// Like [`demand_local`], for what is limited to this machine even when dev mode is allowed in public.
pub fn demand_from_here(request: &Request, service: &Service) -> Result<(), Refusal> {
    if is_from_here(request) { demand_local(request, service) } else { Err(Refusal::DevModeIsLocal) }
}

fn is_local(request: &Request) -> bool {
    !is_forwarded(request) && names_this_machine(request.original_uri(), request.headers())
}

/// Whether every host in the request's target and `Host` header is this machine. There must be at least one.
fn names_this_machine(target: &Uri, headers: &HeaderMap) -> bool {
    let target = target.host().map(is_loopback_host);
    let hosts = headers.get_all(header::HOST).iter().map(|host| {
        let authority = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        authority.is_some_and(|authority| is_loopback_host(authority.host()))
    });
    let named: Vec<bool> = target.into_iter().chain(hosts).collect();
    !named.is_empty() && named.into_iter().all(|is_local| is_local)
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use domain::{Challenge, Micro, PaymentMethods};

    use super::*;

    #[test]
    fn a_refused_dev_payment_settles_nothing_and_is_not_offered() {
        let price = Micro::new(5_000);
        let (dev, other) = (Payment::Dev(price), Payment::Unreadable);
        let due =
            || Refusal::PaymentRequired(Box::new(Challenge::new("publish", price, PaymentMethods::DEFAULT)));
        let refused = DevPayment::Refused(CardTerms::Closed);
        assert_eq!(refused.settling(Some(&dev)), Some(Payment::Unreadable));
        assert_eq!(refused.explain(due(), Some(&dev)), Refusal::DevModeIsLocal);
        for offered in [None, Some(&other)] {
            let Refusal::PaymentRequired(challenge) = refused.explain(due(), offered) else { panic!() };
            assert!(challenge.accepts.iter().all(|accept| accept.instructions.is_none()), "{challenge:?}");
        }
        assert_eq!(refused.explain(Refusal::AccountExpired, Some(&dev)), Refusal::AccountExpired);
        assert_eq!(DevPayment::ByTariff.settling(Some(&dev)), Some(dev.clone()));
        assert_eq!(DevPayment::ByTariff.explain(due(), Some(&dev)), due());
    }

    fn names_this_machine_with(target: &str, hosts: &[&str]) -> bool {
        let hosts = hosts.iter().map(|host| (header::HOST, HeaderValue::from_str(host).unwrap()));
        names_this_machine(&target.parse().unwrap(), &hosts.collect())
    }

    #[test]
    fn dev_mode_requests_must_have_a_loopback_host() {
        for host in ["localhost:8080", "127.0.0.1", "[::1]:8080", "handbill.localhost"] {
            assert!(names_this_machine_with("/auth/dev", &[host]), "{host}");
        }
        for hosts in [&[][..], &[""], &["rebound.example:8080"], &["localhost", "api.example.com"]] {
            assert!(!names_this_machine_with("/auth/dev", hosts), "{hosts:?}");
        }
        // HTTP/2 puts the host in the target, and so does a request to a proxy.
        assert!(names_this_machine_with("http://localhost:8080/auth/dev", &[]));
        assert!(!names_this_machine_with("http://rebound.example/auth/dev", &["localhost"]));
        assert!(!names_this_machine_with("http://localhost/auth/dev", &["rebound.example"]));
    }
}
