//! How much the doors of a process take on, as the settings say.

use api::{BodyTerms, LoadTerms, TurnTerms};
use config::Settings;
use domain::Refusal;
use ipnet::IpNet;
use serde_json::json;

use crate::doors::{DoorTerms, TurnedAway};

const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

pub(crate) fn api(settings: &Settings) -> LoadTerms {
    let load = &settings.api.load;
    LoadTerms {
        turns: TurnTerms {
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

/// What is streamed over one connection among others is held to the same pace as a connection.
pub(crate) fn edge(settings: &Settings) -> edge::LoadTerms {
    let edge = &settings.edge;
    edge::LoadTerms {
        route_reads_max: edge.route_reads_max,
        content_reads_max: edge.content_reads_max,
        streamed_answers_max: edge.streamed_answers_max,
        wait_max: edge.wait_max,
        rest_max: edge.connections.idle_timeout,
        bytes_per_second_min: edge.connections.answer_bytes_per_second_min,
    }
}

pub(crate) fn api_door(settings: &Settings) -> DoorTerms {
    let full = Refusal::overloaded("as many connections are open as may be");
    let body = json!({ "code": full.code(), "message": full.message(), "hint": full.hint() });
    DoorTerms {
        key: "api.listen",
        role: "api",
        limits: settings.api.connections.clone(),
        proxies: with_this_machine(&settings.api.trusted_proxies),
        turned_away: TurnedAway::told(JSON, &body.to_string()),
    }
}

pub(crate) fn edge_door(settings: &Settings) -> DoorTerms {
    DoorTerms {
        key: "edge.listen",
        role: "edge",
        limits: settings.edge.connections.clone(),
        proxies: with_this_machine(&settings.edge.trusted_proxies),
        turned_away: TurnedAway::told(
            TEXT,
            "Too many want to read just now. Please try again in a moment.\n",
        ),
    }
}

/// A proxy is often on the machine itself, and a program there could do worse than to open connections.
fn with_this_machine(proxies: &[IpNet]) -> Vec<IpNet> {
    let loopback = [[127, 0, 0, 0].into(), std::net::Ipv6Addr::LOCALHOST.into()];
    let loopback = loopback.into_iter().zip([8, 128]);
    let this_machine = loopback.filter_map(|(address, bits)| IpNet::new(address, bits).ok());
    proxies.iter().copied().chain(this_machine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_trusted_with_connections_like_a_proxy() {
        let networks = with_this_machine(&["10.0.0.0/8".parse().unwrap()]);
        let told: Vec<_> = networks.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["10.0.0.0/8", "127.0.0.0/8", "::1/128"]);
    }
}
