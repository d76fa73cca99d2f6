//! The client's address and the route class of a request, for the audit log and for sessions.

use domain::{Origin, Via};
use poem::http::header;
use poem::{FromRequest, Request, RequestBody};

use crate::http::client_ip::client_of;
use crate::http::terms::{Area, Terms};

/// The user agent of our own command line, before its version.
const COMMAND_LINE: &str = "handbill/";

/// The client of a person who signs in, as an argument of a handler.
pub struct Client(pub service::Client);

pub fn origin_of(request: &Request) -> Origin {
    Origin { via: via_of(request), address: Some(client_of(request)) }
}

fn via_of(request: &Request) -> Via {
    via(Terms::of(request).area, user_agent(request))
}

fn via(area: Area, user_agent: Option<&str>) -> Via {
    match area {
        Area::Mcp => Via::Mcp,
        Area::Page => Via::Web,
        Area::Api if user_agent.is_some_and(|name| name.starts_with(COMMAND_LINE)) => Via::Cli,
        Area::Api | Area::Netlify => Via::Api,
    }
}

fn user_agent(request: &Request) -> Option<&str> {
    request.headers().get(header::USER_AGENT)?.to_str().ok()
}

impl<'a> FromRequest<'a> for Client {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(service::Client {
            via: via_of(request),
            address: client_of(request),
            user_agent: user_agent(request).map(str::to_owned),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_is_detected_by_route_and_cli_user_agent() {
        let via = |area, agent: &str| via(area, Some(agent));
        assert_eq!(via(Area::Api, "curl/8.5"), Via::Api);
        assert_eq!(via(Area::Api, "handbill/0.1.0"), Via::Cli);
        assert_eq!(via(Area::Mcp, "handbill/0.1.0"), Via::Mcp);
        assert_eq!(via(Area::Page, "Mozilla/5.0"), Via::Web);
    }
}
