//! The pages in each of their states.

use std::time::Duration;

use askama::Template;
use domain::{Missing, Refusal, Scopes};

use super::device::{CodePage, faults_of};
use super::*;
use crate::html::faults::Faults;

fn consent() -> ConsentPage {
    ConsentPage {
        client: "Claude".into(),
        from: ClientOrigin::Named { target: "claude.ai".into() },
        abilities: abilities(domain::oauth::default_scopes()),
        accounts: Vec::new(),
        signed_in_as: None,
        action: "/oauth/authorize?client_id=abc&state=x".into(),
        error: None,
    }
}

fn with_accounts() -> ConsentPage {
    let choice =
        |handle: &str, label: &str, role| AccountChoice { handle: handle.into(), label: label.into(), role };
    ConsentPage {
        accounts: vec![
            choice("acct_k3x9m2", "Design team", "owner"),
            choice("acct_b7p1q4", "acct_b7p1q4", "member"),
        ],
        signed_in_as: Some("ada".into()),
        ..consent()
    }
}

pub fn samples() -> Vec<(String, String)> {
    let time_left = || TimeLeft(Duration::from_secs(1_754));
    let account = |onward: Option<&str>| NewAccountPage {
        client: "Claude".into(),
        claim_url: "http://127.0.0.1:8080/claim/abc".into(),
        time_left: time_left(),
        onward: onward.map(str::to_owned),
    };
    let described = ClientOrigin::Described { host: "app.example".into(), target: "app.example".into() };
    let device = || ClientOrigin::Device { code: "BCDF-GHJK".into() };
    let code = |user_code, faults| CodePage { user_code, faults }.render().unwrap();
    let limited = Refusal::RateLimited { retry_after_seconds: 7 };
    let error = Some(ErrorText::of(&limited, "/oauth/authorize"));
    let onward = |to: &str| Some((to.to_owned(), "app.example".to_owned()));
    let end =
        |onward| EndPage { title: "This app cannot be connected", text: "It is faulty.".into(), onward };
    vec![
        ("oauth".into(), consent().render().unwrap()),
        ("oauth-signed-in".into(), with_accounts().render().unwrap()),
        (
            "oauth-described".into(),
            ConsentPage { from: described, abilities: abilities(Scopes::all()), ..with_accounts() }
                .render()
                .unwrap(),
        ),
        (
            "oauth-no-account".into(),
            ConsentPage { accounts: Vec::new(), ..with_accounts() }.render().unwrap(),
        ),
        ("oauth-rate_limited".into(), ConsentPage { error, ..with_accounts() }.render().unwrap()),
        ("oauth-account".into(), account(Some("https://claude.ai/cb?code=a&state=b")).render().unwrap()),
        ("oauth-faulty".into(), end(onward("https://app.example/cb?error=a")).render().unwrap()),
        ("device".into(), code("", Faults::default())),
        ("device-not_found".into(), code("BCDF", faults_of(&Refusal::NotFound(Missing::DeviceCode)))),
        ("device-rate_limited".into(), code("BCDF", faults_of(&limited))),
        ("device-consent".into(), ConsentPage { from: device(), ..consent() }.render().unwrap()),
        (
            "device-consent-signed-in".into(),
            ConsentPage { from: device(), ..with_accounts() }.render().unwrap(),
        ),
        ("device-account".into(), account(None).render().unwrap()),
        ("device-end".into(), end(None).render().unwrap()),
    ]
}
