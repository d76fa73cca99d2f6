//! Limits the cost of reading a script: tokens that are read again, and bytes that are copied. Both are
//! proportional to the script's size.

use crate::budget::{Budget, steps as scan_steps};

/// Tokens that may be read again for calls and loops, in proportion to the script, and in addition.
const REPLAYED_FACTOR: usize = 1;
const REPLAYED_TOKENS_MORE: usize = 100_000;
/// This many bytes of a long literal count as a token, because scripts decode literals piece by piece.
const LITERAL_BYTES: usize = 4;
/// Bytes that may be copied and decoded, likewise.
const COPIED_FACTOR: usize = 4;
const COPIED_BYTES_MORE: usize = 4 << 20;
/// The additional amount is at most this many times the script's size, because a page may have many small
/// scripts.
const MORE_FACTOR: usize = 64;
/// The cost in bytes of one more list item.
const ITEM_BYTES: usize = 32;

/// The allowance for an input of a size.
pub(crate) fn allowance(size: usize, factor: usize, more: usize) -> usize {
    size.saturating_mul(factor).saturating_add(size.saturating_mul(MORE_FACTOR).min(more))
}

/// The budget of one script, within that of the scan.
pub(crate) struct ScriptBudget<'s> {
    scan: &'s Budget<'s>,
    steps: usize,
    furthest: usize,
    replayed_max: usize,
    copied_bytes_left: usize,
}

impl<'s> ScriptBudget<'s> {
    pub(crate) fn new(source_bytes: usize, tokens: usize, scan: &'s Budget<'s>) -> Self {
        // A script of few tokens may contain a long literal that it decodes character by character.
        let replayed_size = tokens.max(source_bytes / LITERAL_BYTES);
        Self {
            scan,
            steps: 0,
            furthest: 0,
            replayed_max: allowance(replayed_size, REPLAYED_FACTOR, REPLAYED_TOKENS_MORE),
            copied_bytes_left: allowance(source_bytes, COPIED_FACTOR, COPIED_BYTES_MORE),
        }
    }

    /// Counts a token before it is read. A token that is read again costs as much as its length. Returns
    /// whether the budget of the scan allows reading it.
    pub(crate) fn count_step(&mut self, at: usize, token_bytes: usize) -> bool {
        let steps = if self.is_replayed(at) { 1 + token_bytes / LITERAL_BYTES } else { 1 };
        self.steps += steps;
        self.furthest = self.furthest.max(at + 1);
        self.scan.take(steps * scan_steps::TOKEN)
    }

    /// The budget of the scan, for scripts inside of this one.
    pub(crate) fn scan(&self) -> &'s Budget<'s> {
        self.scan
    }

    /// Whether the token at this position was read before.
    pub(crate) fn is_replayed(&self, at: usize) -> bool {
        self.furthest > at
    }

    fn replayed(&self) -> usize {
        self.steps - self.furthest.min(self.steps)
    }

    /// Whether a part of the script may be read again.
    pub(crate) fn may_replay(&self) -> bool {
        self.replayed() < self.replayed_max
    }

    /// Whether enough is left for code whose effects visitors rarely see.
    pub(crate) fn may_replay_more(&self) -> bool {
        self.replayed() < self.replayed_max / 2
    }

    pub(crate) fn stop_replaying(&mut self) {
        self.replayed_max = 0;
    }

    /// Takes bytes from the allowance for copying, if it has that many left.
    pub(crate) fn may_copy(&mut self, bytes: usize) -> bool {
        let left = self.copied_bytes_left.checked_sub(bytes);
        self.copied_bytes_left = left.unwrap_or(self.copied_bytes_left);
        left.is_some()
    }

    pub(crate) fn may_copy_items(&mut self, count: usize) -> bool {
        self.may_copy(count.saturating_mul(ITEM_BYTES))
    }

    pub(crate) fn has_left(&self, bytes: usize) -> bool {
        bytes <= self.copied_bytes_left
    }
}
