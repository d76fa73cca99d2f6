//! Claims, tokens and invites: granted access works, revoked access does not, and no code is used too often.

use handbill_tests::Value;
use rand::rngs::StdRng;

use super::reply_to;
use crate::client::response::body;
use crate::model::Moment;
use crate::model::account::Account;
use crate::model::team::Validity;
use crate::scene::Scene;

pub async fn check(scene: &Scene, account: &Account, is_claimed: bool, rng: &mut StdRng) {
    check_claim(scene, account, is_claimed);
    check_tokens(scene, account, rng).await;
    if is_claimed {
        check_invites(scene, account, rng).await;
    }
}

fn check_claim(scene: &Scene, account: &Account, is_claimed: bool) {
    let mut claim = account.claim.lock().unwrap();
    match claim.as_mut() {
        None if is_claimed => scene.journal.violation(&account.name, "it is claimed without a claim"),
        Some(claim) if claim.ended.is_some() && !is_claimed => {
            scene.journal.violation(&account.name, "its claim was acknowledged, and it is not claimed");
        }
        Some(claim) if is_claimed => {
            claim.ended.get_or_insert(Moment::now());
        }
        // The claim without a response did not happen. The next one starts from the beginning.
        Some(_) => *claim = None,
        None => {}
    }
}

async fn check_tokens(scene: &Scene, account: &Account, rng: &mut StdRng) {
    let tokens = account.team.lock().unwrap().tokens.clone();
    let mut valid = 0;
    for token in tokens {
        let call = || scene.agent(&token.secret, rng).account();
        let Some(reply) = reply_to(scene, &account.name, call).await else { return };
        let found = match reply.status {
            200 => Validity::Valid,
            401 => Validity::Revoked,
            _ => Validity::Unknown,
        };
        if found == Validity::Unknown || (token.validity != Validity::Unknown && token.validity != found) {
            let text = format!("a token that is {:?} is answered {}", token.validity, reply.text());
            scene.journal.violation(&account.name, text);
        }
        valid += u64::from(found == Validity::Valid);
        if let Some(token) = account.team.lock().unwrap().token_mut(&token.secret) {
            token.validity = found;
        }
    }
    let Some(list) = reply_to(scene, &account.name, || scene.agent(&account.owner_token, rng).tokens()).await
    else {
        return;
    };
    let listed = body(&list).as_array().map_or(0, |list| list.len() as u64);
    let mut team = account.team.lock().unwrap();
    let unknown = u64::from(team.unknown_tokens);
    if !(valid..=valid + unknown).contains(&listed) {
        let text = format!("{listed} tokens are listed, {valid} are known and {unknown} more are possible");
        scene.journal.violation(&account.name, text);
    }
    team.unknown_tokens = u32::try_from(listed.saturating_sub(valid)).unwrap_or(u32::MAX);
}

async fn check_invites(scene: &Scene, account: &Account, rng: &mut StdRng) {
    let Some(list) =
        reply_to(scene, &account.name, || scene.agent(&account.owner_token, rng).invites()).await
    else {
        return;
    };
    let listed = body(&list);
    let mut team = account.team.lock().unwrap();
    for invite in &mut team.invites {
        let found = listed.as_array().into_iter().flatten().find(|one| one["code"] == invite.code.as_str());
        let Some(found) = found else {
            scene.journal.violation(&account.name, format!("the invite {} is not listed", invite.code));
            continue;
        };
        let uses = found["uses"].as_u64().and_then(|uses| u32::try_from(uses).ok()).unwrap_or(u32::MAX);
        let is_revoked = found["revoked_at"] != Value::Null;
        let possible = invite.joined..=(invite.joined + invite.joined_perhaps).min(invite.uses_max);
        let is_otherwise = match invite.validity {
            Validity::Valid => is_revoked,
            Validity::Revoked => !is_revoked,
            Validity::Unknown => false,
        };
        if !possible.contains(&uses) || is_otherwise {
            scene.journal.violation(&account.name, format!("the invite {invite:?} is listed as {found}"));
        }
        (invite.joined, invite.joined_perhaps) = (uses, 0);
        invite.validity = if is_revoked { Validity::Revoked } else { Validity::Valid };
    }
}
