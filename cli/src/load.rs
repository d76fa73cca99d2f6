//! The load limits of a process's listeners, from the settings.

use std::sync::Arc;

use api::{BodyTerms, LoadTerms, PermitLimits, TrustedProxies};
use config::Settings;
use domain::Refusal;
use ipnet::IpNet;

use crate::listener::{ListenerLimits, OverloadResponse};

const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

pub(crate) fn api(settings: &Settings) -> LoadTerms {
    let load = &settings.api.load;
    LoadTerms {
        permits: PermitLimits {
            requests_max: load.requests_max,
            sign_ins_max: load.sign_ins_max,
            publishes_max: load.publishes_max,
            uploads_max: load.uploads_max,
            waiting_max: load.waiting_max,
            wait_max: load.wait_max,
        },
        bodies: BodyTerms {
            timeout: load.body_timeout,
            bytes_per_second_min: load.body_bytes_per_second_min,
            grace: load.body_grace,
        },
        upload_bytes_max: load.upload_bytes_max,
    }
}

/// Responses that are streamed over one of several HTTP/2 streams have the same minimum rate as a connection.
pub(crate) fn edge(settings: &Settings) -> edge::LoadTerms {
    let edge = &settings.edge;
    edge::LoadTerms {
        route_reads_max: edge.route_reads_max,
        content_reads_max: edge.content_reads_max,
        streamed_answers_max: edge.streamed_answers_max,
        waiting_max: edge.waiting_max,
        wait_max: edge.wait_max,
        rest_max: edge.connections.idle_timeout,
        bytes_per_second_min: edge.connections.answer_bytes_per_second_min,
    }
}

/// The network of a visitor of the edge. A proxy that does not name its client has no share, and no
/// connection limit either.
pub(crate) fn networks_of_visitors(settings: &Settings) -> edge::NetworkOf {
    let named = &settings.edge.trusted_proxies;
    let (proxies, without_share) = (TrustedProxies::new(named.clone()), with_this_machine(named));
    Arc::new(move |request| {
        let client = proxies.client_of(request);
        let has_share = !without_share.iter().any(|network| network.contains(&client));
        has_share.then(|| api::network_of(client))
    })
}

/// The network whose requests are counted. A trusted proxy that does not name its client has none, because a
/// limit would apply to all of its clients together.
pub(crate) fn networks_of_clients(settings: &Settings) -> edge::NetworkOf {
    let trusted = settings.edge.trusted_proxies.clone();
    let proxies = TrustedProxies::new(trusted.clone());
    Arc::new(move |request| {
        let client = proxies.client_of(request);
        let is_proxy = trusted.iter().any(|network| network.contains(&client));
        (!is_proxy).then(|| api::network_of(client))
    })
}

pub(crate) fn api_listener(settings: &Settings) -> ListenerLimits {
    let full = Refusal::overloaded("too many connections are open");
    let body = api::linked_json_of(&full, &settings.api.base_url);
    ListenerLimits {
        key: "api.listen",
        role: "api",
        limits: settings.api.connections.clone(),
        proxies: with_this_machine(&settings.api.trusted_proxies),
        overload_response: OverloadResponse::new(JSON, &body.to_string()),
    }
}

pub(crate) fn edge_listener(settings: &Settings) -> ListenerLimits {
    ListenerLimits {
        key: "edge.listen",
        role: "edge",
        limits: settings.edge.connections.clone(),
        proxies: with_this_machine(&settings.edge.trusted_proxies),
        overload_response: OverloadResponse::new(
            TEXT,
            "The server is overloaded. Please try again in a moment.\n",
        ),
    }
}

/// A proxy often runs on the same machine, and a local program could do worse than open connections.
fn with_this_machine(proxies: &[IpNet]) -> Vec<IpNet> {
    let loopback = [[127, 0, 0, 0].into(), std::net::Ipv6Addr::LOCALHOST.into()];
    let loopback = loopback.into_iter().zip([8, 128]);
    let this_machine = loopback.filter_map(|(address, bits)| IpNet::new(address, bits).ok());
    proxies.iter().copied().chain(this_machine).collect()
}

#[cfg(test)]
mod tests {
    use poem::Addr;
    use poem::http::uri::Scheme;
    use poem::web::{LocalAddr, RemoteAddr};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn overload_response_of_the_api_links_to_its_description() {
        let set = [("HANDBILL_API__BASE_URL", "http://127.0.0.1:8080"), ("HANDBILL_DEV_MODE", "true")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sources = config::Sources { file: Some("/dev/null".into()), env: set.into_iter() };
        let overload = api_listener(&config::load(sources).unwrap()).overload_response;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let server = listener.accept().await.unwrap().0;
        let mut response = String::new();
        tokio::join!(overload.send(server), async {
            client.read_to_string(&mut response).await.unwrap();
            drop(client);
        });
        assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
        let link = r#""doc_url":"http://127.0.0.1:8080/docs/errors#overloaded""#;
        assert!(response.contains(link), "{response}");
    }

    #[test]
    fn loopback_has_no_connection_limit_like_a_trusted_proxy() {
        let networks = with_this_machine(&["10.0.0.0/8".parse().unwrap()]);
        let listed: Vec<_> = networks.iter().map(ToString::to_string).collect();
        assert_eq!(listed, ["10.0.0.0/8", "127.0.0.0/8", "::1/128"]);
    }

    #[test]
    fn visitors_have_separate_shares_and_proxies_without_a_forwarded_address_have_none() {
        let set = [("HANDBILL_EDGE__TRUSTED_PROXIES", "10.0.0.0/8"), ("HANDBILL_DEV_MODE", "false")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sources = config::Sources { file: Some("/dev/null".into()), env: set.into_iter() };
        let network_of = networks_of_visitors(&config::load(sources).unwrap());
        let share = |peer: &str, forwarded: Option<&str>| {
            let peer = Addr::SocketAddr(format!("{peer}:4711").parse().unwrap());
            let mut head = hyper::Request::new(()).into_parts().0;
            if let Some(forwarded) = forwarded {
                head.headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            }
            let head = (head, LocalAddr::default(), RemoteAddr(peer), Scheme::HTTP);
            let request = poem::Request::from_parts(head.into(), poem::Body::empty());
            network_of(&request).map(|network| network.to_string())
        };
        let network = |network: &str| Some(network.to_owned());
        assert_eq!(share("192.0.2.1", Some("198.51.100.7")), network("192.0.2.1"));
        assert_eq!(share("[2001:db8:1:2::3]", None), network("2001:db8:1:2::"));
        assert_eq!(share("10.0.0.1", Some("1.2.3.4, 198.51.100.7")), network("198.51.100.7"));
        for of_all in ["10.0.0.1", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"] {
            assert_eq!(share(of_all, None), None, "{of_all}");
        }
    }
}
