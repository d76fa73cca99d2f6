//! Authorization: every route of the OpenAPI document is called by every kind of caller. The table in
//! [`rules`] determines each response. A route that is missing there fails the test. Responses to outsiders
//! reveal nothing of an account that is not theirs, and leave it unchanged.

mod callers;
mod fixture;
mod rules;

use std::collections::BTreeSet;

use handbill_tests::{Reply, World, in_both_modes};

use callers::Caller;
use fixture::RouteFixture;
use rules::{Mode, Rule, expected, rules};

in_both_modes! {
    #[given(with_card_processor)]
    #[settings(
        "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__REGISTRATIONS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__REPORTS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "1000000",
        "HANDBILL_LIMITS__CLAIMED_ARTIFACTS" = "1000000"
    )]
    async fn dev_mode_route_access_matches_the_rules_for_every_caller(world: World) {
        assert_rules_are_kept(&world, Mode::Dev).await;
    }

    #[given(with_card_processor)]
    #[settings(
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__REGISTRATIONS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__REPORTS_PER_MINUTE" = "1000000",
        "HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "1000000",
        "HANDBILL_LIMITS__CLAIMED_ARTIFACTS" = "1000000"
    )]
    async fn outside_dev_mode_route_access_matches_the_rules_for_every_caller(world: World) {
        assert_rules_are_kept(&world, Mode::Closed).await;
    }
}

async fn assert_rules_are_kept(world: &World, mode: Mode) {
    let (rules, documented) = (rules(), documented(world).await);
    assert_no_route_is_without_a_rule(&documented, &rules);
    let mut fixture = RouteFixture::furnish(world, mode).await;
    for rule in rules.iter().filter(|rule| documented.contains(rule.call)) {
        assert_rule_is_kept(&mut fixture, rule, mode).await;
    }
}

/// `METHOD /path`, as in the document.
async fn documented(world: &World) -> BTreeSet<String> {
    let document = world.stranger().get("/openapi.json").await.expect(200).json();
    let mut calls = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            calls.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    calls
}

fn assert_no_route_is_without_a_rule(documented: &BTreeSet<String>, rules: &[Rule]) {
    let ruled: BTreeSet<String> = rules.iter().map(|rule| rule.call.to_owned()).collect();
    assert_eq!(ruled.len(), rules.len(), "a route has two rules");
    let without: Vec<_> = documented.difference(&ruled).collect();
    assert!(without.is_empty(), "say in route_callers/rules.rs who may call these: {without:#?}");
}

/// Outsiders come first, all with the same object, which must still exist for the others.
async fn assert_rule_is_kept(fixture: &mut RouteFixture<'_>, rule: &Rule, mode: Mode) {
    let (outside, inside): (Vec<_>, Vec<_>) =
        fixture.callers().into_iter().partition(|caller| rule.is_closed_to(caller.kind, mode));
    let target = fixture.target(rule).await;
    let before = fixture.seen_from_inside().await;
    for caller in &outside {
        let called = fixture.call(rule, caller, &target).await;
        assert_answer(&called.reply, rule, caller, mode);
        fixture.assert_nothing_is_revealed(&called, caller);
    }
    assert_eq!(fixture.seen_from_inside().await, before, "{} changed something for a stranger", rule.call);
    for caller in &inside {
        let target = fixture.target(rule).await;
        assert_answer(&fixture.call(rule, caller, &target).await.reply, rule, caller, mode);
    }
}

fn assert_answer(reply: &Reply, rule: &Rule, caller: &Caller, mode: Mode) {
    let (status, code) = expected(rule, caller.kind, mode);
    let who = &caller.name;
    assert_eq!(reply.status, status, "{} by {who}: {reply:?}", rule.call);
    if let Some(code) = code {
        assert_eq!(reply.json()["code"], code, "{} by {who}: {reply:?}", rule.call);
    }
    // No page of another origin may read a response to a request with a cookie, or credentials at all.
    let opened = reply.header("Access-Control-Allow-Origin");
    let is_open = rule.call.contains(" /v1/") || rule.call.ends_with(" /mcp");
    assert!(opened.is_empty() || (is_open && opened == "*"), "{} by {who}: {reply:?}", rule.call);
    assert_eq!(reply.header("Access-Control-Allow-Credentials"), "", "{} by {who}: {reply:?}", rule.call);
}
