//! A small line of counts over time, made on the server. The figure beside it says the same in words.

use std::fmt::Write as _;

const WIDTH: usize = 90;
const HEIGHT: u64 = 20;
/// Keeps the line within the picture.
const MARGIN: u64 = 1;

/// The points of a line through these counts, for `<polyline points>` in a picture of 90 by 20. `None` if all
/// are zero, or there is nothing to connect.
pub fn points(counts: &[u64]) -> Option<String> {
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    let steps = counts.len().checked_sub(1).filter(|steps| *steps > 0)?;
    let mut points = String::new();
    for (at, count) in counts.iter().enumerate() {
        let (x, up) = (at * WIDTH / steps, height_of(*count, most));
        // Writing to a string cannot fail.
        let _ = write!(points, "{}{x},{}", if at > 0 { " " } else { "" }, HEIGHT - MARGIN - up);
    }
    Some(points)
}

fn height_of(count: u64, most: u64) -> u64 {
    let height = u128::from(count) * u128::from(HEIGHT - 2 * MARGIN) / u128::from(most);
    u64::try_from(height).unwrap_or(HEIGHT - 2 * MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_scaled_to_its_highest_count() {
        assert_eq!(points(&[0, 5, 10]).as_deref(), Some("0,19 45,10 90,1"));
        assert_eq!(points(&[u64::MAX, 0]).as_deref(), Some("0,1 90,19"));
        for flat in [&[][..], &[7], &[0, 0, 0]] {
            assert_eq!(points(flat), None);
        }
    }
}
