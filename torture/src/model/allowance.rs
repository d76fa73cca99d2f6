//! How much of the allowance may have been used, and how much must have been charged, when some publishes had
//! no response and a claim reset the count at an unknown moment.

use std::collections::BTreeSet;

use super::Moment;
use super::site::Use;

/// The free publishes of an account: few, so that most publishes are paid.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    pub provisional: u64,
    pub claimed: u64,
}

/// The used allowance and the charges of an account at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelAllowance {
    pub is_claimed: bool,
    /// Publishes counted against the allowance of the current status.
    pub used: u64,
    /// Publishes charged so far.
    pub charged: u64,
}

/// When an account was claimed, as far as responses show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub began: Moment,
    pub ended: Option<Moment>,
}

/// Every standing that may follow from the one before.
pub fn possible(
    before: ModelAllowance,
    claim: Option<Claim>,
    uses: &[Use],
    free: Allowance,
) -> BTreeSet<ModelAllowance> {
    let mut standings = BTreeSet::new();
    let is_unclaimed_possible = !before.is_claimed && claim.is_none_or(|claim| claim.ended.is_none());
    if before.is_claimed || is_unclaimed_possible {
        let sure = uses.iter().filter(|one| one.is_sure).count() as u64;
        let limit = if before.is_claimed { free.claimed } else { free.provisional };
        for more in sure..=uses.len() as u64 {
            standings.insert(advanced(before, more, limit));
        }
    }
    if let (false, Some(claim)) = (before.is_claimed, claim) {
        standings.extend(claimed_meanwhile(before, claim, uses, free));
    }
    standings
}

fn advanced(before: ModelAllowance, more: u64, limit: u64) -> ModelAllowance {
    let used = before.used + more;
    let charged = before.charged + used.saturating_sub(limit) - before.used.saturating_sub(limit);
    ModelAllowance { used, charged, ..before }
}

/// Each use counts before the claim, after it, or (if it is uncertain) not at all.
fn claimed_meanwhile(
    before: ModelAllowance,
    claim: Claim,
    uses: &[Use],
    free: Allowance,
) -> BTreeSet<ModelAllowance> {
    // The possible numbers of uses before and after.
    let mut splits = BTreeSet::from([(0, 0)]);
    for one in uses {
        let may_be_old = claim.ended.is_none_or(|ended| one.began < ended);
        let may_be_new = one.ended.is_none_or(|ended| ended > claim.began);
        let mut next = BTreeSet::new();
        for (old, new) in splits {
            if may_be_old {
                next.insert((old + 1, new));
            }
            if may_be_new {
                next.insert((old, new + 1));
            }
            if !one.is_sure {
                next.insert((old, new));
            }
        }
        splits = next;
    }
    let standing = |(old, new): (u64, u64)| {
        let at_the_claim = advanced(before, old, free.provisional);
        let reset = ModelAllowance { is_claimed: true, used: 0, charged: at_the_claim.charged };
        advanced(reset, new, free.claimed)
    };
    splits.into_iter().map(standing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Allowance = Allowance { provisional: 2, claimed: 3 };

    fn used(began: u64, ended: Option<u64>, is_sure: bool) -> Use {
        Use { began: Moment::at(began), ended: ended.map(Moment::at), is_sure }
    }

    fn standing(is_claimed: bool, used: u64, charged: u64) -> ModelAllowance {
        ModelAllowance { is_claimed, used, charged }
    }

    #[test]
    fn certain_uses_are_counted_exactly() {
        let uses = [used(1, Some(2), true), used(3, Some(4), true), used(5, Some(6), true)];
        let possible = possible(ModelAllowance::default(), None, &uses, FREE);
        assert_eq!(Vec::from_iter(possible), [standing(false, 3, 1)]);
    }

    #[test]
    fn uncertain_uses_are_counted_once_or_not_at_all() {
        let uses = [used(1, Some(2), true), used(3, None, false)];
        let possible = possible(standing(true, 3, 7), None, &uses, FREE);
        assert_eq!(Vec::from_iter(possible), [standing(true, 4, 8), standing(true, 5, 9)]);
    }

    #[test]
    fn claim_starts_a_new_allowance_count() {
        let claim = Claim { began: Moment::at(10), ended: Some(Moment::at(20)) };
        let uses = [used(1, Some(2), true), used(15, Some(16), true), used(21, Some(22), true)];
        let possible = possible(standing(false, 1, 0), Some(claim), &uses, FREE);
        assert_eq!(Vec::from_iter(possible), [standing(true, 1, 1), standing(true, 2, 0)]);
    }

    #[test]
    fn claim_without_a_response_may_or_may_not_have_happened() {
        let claim = Claim { began: Moment::at(10), ended: None };
        let uses = [used(1, Some(2), true)];
        let possible = possible(ModelAllowance::default(), Some(claim), &uses, FREE);
        assert_eq!(Vec::from_iter(possible), [standing(false, 1, 0), standing(true, 0, 0)]);
    }
}
