//! `handbill account`, `handbill usage` and `handbill claim-link`.

use domain::Time;

use crate::context::Context;
use crate::failure::Failure;
use crate::request::Request;
use crate::show::{bytes, facts, grouped, has_passed, usd, when};
use crate::wire::{AccountDetail, ClaimLink, Usage};

pub async fn account(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get("/v1/account").await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |account| account_facts(account, now))
}

fn account_facts(detail: AccountDetail, now: Time) -> String {
    let expires_at = detail.account.expires_at.as_deref();
    let is_expired = expires_at.is_some_and(|moment| has_passed(moment, now));
    let status = detail.account.status;
    let status = if is_expired { format!("{status}, expired") } else { status };
    let mut rows = vec![("account", detail.account.handle), ("status", status)];
    if let Some(suspension) = detail.suspended {
        rows.push(("suspended", format!("{}: {}", when(&suspension.at, now), suspension.reason)));
    }
    if let Some(expires_at) = expires_at {
        rows.push((if is_expired { "expired" } else { "expires" }, when(expires_at, now)));
    }
    let free = format!("{} of {} left", detail.free_publishes_left, detail.limits.free_publishes);
    rows.extend([
        ("free publishes", free),
        ("credit", usd(detail.credits_usd)),
        ("storage", bytes(detail.usage.storage_bytes)),
        ("views", format!("{} in {}", detail.usage.views, detail.usage.month)),
        ("agents may join", if detail.allow_agent_join { "yes" } else { "no" }.to_owned()),
    ]);
    // An expired account can no longer be claimed, so its link is useless.
    rows.extend(match detail.claim_url {
        Some(_) if is_expired => Some(("next", "run `handbill signup --yes` for a new account".to_owned())),
        link => link.map(|link| ("claim link", link)),
    });
    facts(rows)
}

pub async fn usage(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get("/v1/usage").await?;
    context.console.print_reply(&reply, usage_facts)
}

fn usage_facts(usage: Usage) -> String {
    let Usage { month, publishes, storage, traffic, private_artifacts, credits_usd, status } = usage;
    facts([
        ("month", month),
        ("status", status),
        (
            "publishes",
            format!(
                "{} ({} of {} free publishes left)",
                grouped(publishes.used),
                grouped(publishes.free_left),
                grouped(publishes.free_limit)
            ),
        ),
        ("storage", format!("{}, {} a month", bytes(storage.bytes), usd(storage.est_monthly_cost_usd))),
        (
            "views",
            format!(
                "{} ({} free, {} charged)",
                grouped(traffic.views),
                grouped(traffic.free_limit),
                grouped(traffic.overage_views)
            ),
        ),
        (
            "unlisted or private",
            format!("{}, {} a month", private_artifacts.count, usd(private_artifacts.monthly_cost_usd)),
        ),
        ("credit", usd(credits_usd)),
    ])
}

pub async fn claim_link(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.call(&Request::make("/v1/account/claim-link")).await?;
    context.console.print_reply(&reply, |link: ClaimLink| link.claim_url)?;
    let link: ClaimLink = reply.read()?;
    if let Some(expires_at) = &link.expires_at {
        let expires = when(expires_at, context.clock.now());
        context.console.note(&format!(
            "The account expires {expires} unless a person opens this link. Earlier links no longer work."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expired_account_is_shown_without_its_claim_link() {
        let detail = |expires_at: &str| {
            serde_json::from_value(json!({
                "account": { "handle": "acct-1", "status": "provisional", "expires_at": expires_at },
                "limits": { "free_publishes": 5 }, "credits_usd": 0.0, "free_publishes_left": 5,
                "usage": { "month": "2026-01", "storage_bytes": 0, "views": 0 }, "allow_agent_join": true,
                "claim_url": "http://127.0.0.1:8080/claim/abc",
            }))
            .unwrap()
        };
        let now = Time::parse_rfc3339("2026-01-31T12:00:00Z").unwrap();
        let alive = account_facts(detail("2026-01-31T12:24:00Z"), now);
        assert!(alive.contains("in 24 min") && alive.contains("/claim/abc"), "{alive}");
        assert!(!alive.contains("expired"), "{alive}");
        for end in ["2026-01-31T12:00:00Z", "2026-01-31T11:30:00Z"] {
            let expired = account_facts(detail(end), now);
            assert!(expired.contains("provisional, expired") && !expired.contains("/claim/"), "{expired}");
            assert!(expired.contains("handbill signup") && !expired.contains("expires"), "{expired}");
        }
    }
}
