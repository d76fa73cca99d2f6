//! Chooses the encoding of a content that a client prefers, by its `Accept-Encoding`.

use crate::Encoding;

/// In thousandths, because `q` has at most three decimals.
type Weight = u16;

const FULL: Weight = 1000;

/// A client's weight for each encoding. An encoding that is not named has the weight of `*`.
#[derive(Debug, Default, PartialEq)]
struct Preferences {
    named: [Option<Weight>; Encoding::ALL.len()],
    identity: Option<Weight>,
    others: Option<Weight>,
}

/// The best of the offers, or `None` for the plain bytes, which are also used when the client refuses
/// everything. `lines` are the values of the header, which may occur several times.
pub fn choose_encoding<'a>(
    lines: impl Iterator<Item = &'a str>,
    offers: impl Iterator<Item = Encoding>,
) -> Option<Encoding> {
    let preferences = Preferences::of(lines)?;
    let offers = offers.map(|encoding| (preferences.weight(encoding), encoding));
    // Among equal weights, the first in our own order is the smallest.
    let best =
        offers.filter(|(weight, _)| *weight > 0).min_by_key(|(weight, encoding)| (FULL - weight, *encoding));
    best.filter(|(weight, _)| *weight >= preferences.identity.unwrap_or(0)).map(|(_, encoding)| encoding)
}

impl Preferences {
    /// `None` when the client sends no such header.
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut lines = lines.peekable();
        lines.peek()?;
        let mut preferences = Self::default();
        lines.flat_map(|line| line.split(',')).for_each(|entry| preferences.note(entry));
        Some(preferences)
    }

    fn note(&mut self, entry: &str) {
        let (token, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        let Some(weight) = weight_of(parameters) else { return };
        let token = token.trim();
        if token == "*" {
            self.others = Some(weight);
        } else if token.eq_ignore_ascii_case("identity") {
            self.identity = Some(weight);
        } else if let Some(at) = Encoding::ALL.iter().position(|known| is_called(*known, token)) {
            self.named[at] = Some(weight);
        }
    }

    fn weight(&self, encoding: Encoding) -> Weight {
        let at = Encoding::ALL.iter().position(|known| *known == encoding);
        at.and_then(|at| self.named[at]).or(self.others).unwrap_or(0)
    }
}

fn is_called(encoding: Encoding, token: &str) -> bool {
    token.eq_ignore_ascii_case(encoding.token())
        || (encoding == Encoding::Gzip && token.eq_ignore_ascii_case("x-gzip"))
}

/// A malformed weight makes its whole entry invalid.
fn weight_of(parameters: &str) -> Option<Weight> {
    let parameter = parameters.trim();
    if parameter.is_empty() {
        return Some(FULL);
    }
    let (name, value) = parameter.split_once('=')?;
    let value: f32 = value.trim().parse().ok()?;
    let is_weight = name.trim().eq_ignore_ascii_case("q") && (0.0..=1.0).contains(&value);
    is_weight.then(|| (value * f32::from(FULL)).round() as Weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: Option<&str>, stored: &[Encoding]) -> &'static str {
        choose_encoding(accept.into_iter(), stored.iter().copied()).map_or("identity", Encoding::token)
    }

    #[test]
    fn accept_encoding_weights_decide_and_our_order_breaks_ties() {
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", "br"),
            ("gzip, zstd", "zstd"),
            ("gzip;q=1.0, br;q=0.5", "gzip"),
            ("gzip;q=0.001", "gzip"),
            ("GZIP", "gzip"),
            ("x-gzip", "gzip"),
            ("br ; q=0.8 , gzip ; q=0.8", "br"),
            ("*", "br"),
            ("*;q=0.5, gzip", "gzip"),
            ("br;q=0, *", "zstd"),
            ("gzip;q=0", "identity"),
            ("*;q=0", "identity"),
            ("identity", "identity"),
            ("identity, br;q=0.5", "identity"),
            ("identity;q=0.5, br;q=0.5", "br"),
            ("identity;q=0, gzip;q=0.1", "gzip"),
            ("identity;q=0", "identity"),
            ("identity;q=0, *;q=0", "identity"),
            ("deflate", "identity"),
            ("", "identity"),
            ("gzip;q=2", "identity"),
            ("gzip;q=nonsense", "identity"),
            ("gzip;level=9", "identity"),
            (",,gzip,", "gzip"),
        ] {
            assert_eq!(chosen(Some(accept), &Encoding::ALL), expected, "{accept:?}");
        }
    }

    #[test]
    fn only_stored_encodings_are_chosen() {
        assert_eq!(chosen(Some("br, gzip"), &[Encoding::Gzip]), "gzip");
        assert_eq!(chosen(Some("br"), &[Encoding::Gzip]), "identity");
        assert_eq!(chosen(Some("br"), &[]), "identity");
        assert_eq!(chosen(None, &Encoding::ALL), "identity");
    }
}
