//! Evaluates the conditions of at-rules for a desktop screen of a common size in light mode.

const WIDTH_PX: f32 = 1280.0;
const HEIGHT_PX: f32 = 800.0;
const CONDITIONS_MAX: usize = 100;

/// Evaluates an at-rule without its `@`.
pub(super) fn holds(at_rule: &str) -> bool {
    let lower = at_rule.to_ascii_lowercase();
    let name_end = lower.find(|end: char| !end.is_ascii_alphanumeric() && end != '-').unwrap_or(lower.len());
    let (name, condition) = lower.split_at(name_end);
    match name {
        "media" => queries_hold(condition),
        "supports" => !condition.trim_start().starts_with("not"),
        "layer" | "container" | "scope" | "document" | "-moz-document" => true,
        _ => false,
    }
}

fn queries_hold(queries: &str) -> bool {
    queries.trim().is_empty() || queries.split(',').take(CONDITIONS_MAX).any(query_holds)
}

fn query_holds(query: &str) -> bool {
    let query = query.trim();
    let (is_negated, query) = match query.strip_prefix("not") {
        Some(rest) if rest.starts_with([' ', '(']) => (true, rest.trim_start()),
        _ => (false, query.strip_prefix("only ").unwrap_or(query).trim_start()),
    };
    let mut alternatives = query.split(" or ").take(CONDITIONS_MAX);
    alternatives.any(|all| all.split(" and ").take(CONDITIONS_MAX).all(term_holds)) != is_negated
}

fn term_holds(term: &str) -> bool {
    let term = term.trim();
    if let Some(negated) = term.strip_prefix("not ") {
        return !term_holds_plainly(negated);
    }
    term_holds_plainly(term)
}

fn term_holds_plainly(term: &str) -> bool {
    let inside = term.trim().trim_start_matches('(').trim_end_matches(')').trim();
    if !term.trim().starts_with('(') {
        return matches!(inside, "screen" | "all");
    }
    match inside.split_once(':') {
        Some((feature, value)) => feature_holds(feature.trim(), value.trim()),
        None if inside.contains(['<', '>', '=']) => range_holds(inside),
        None => !matches!(inside, "monochrome" | "grid" | "inverted-colors"),
    }
}

fn feature_holds(feature: &str, value: &str) -> bool {
    let compared =
        |size: f32, fits: fn(f32, f32) -> bool| pixels(value).is_none_or(|value| fits(size, value));
    match feature {
        "min-width" | "min-device-width" => compared(WIDTH_PX, |size, value| size >= value),
        "max-width" | "max-device-width" => compared(WIDTH_PX, |size, value| size <= value),
        "min-height" | "min-device-height" => compared(HEIGHT_PX, |size, value| size >= value),
        "max-height" | "max-device-height" => compared(HEIGHT_PX, |size, value| size <= value),
        "width" | "device-width" => compared(WIDTH_PX, |size, value| (size - value).abs() < 1.0),
        "orientation" => value == "landscape",
        "prefers-color-scheme" => value == "light",
        "prefers-reduced-motion"
        | "prefers-contrast"
        | "prefers-reduced-data"
        | "prefers-reduced-transparency" => value == "no-preference",
        "hover" | "any-hover" => value == "hover",
        "pointer" | "any-pointer" => value == "fine",
        "display-mode" => value == "browser",
        "forced-colors" | "inverted-colors" => value == "none",
        "scripting" => value == "enabled",
        _ => true,
    }
}

/// `width >= 600px`, `400px < width <= 900px`.
fn range_holds(range: &str) -> bool {
    let spaced = range.replace('<', " < ").replace('>', " > ").replace('=', " = ");
    let words: Vec<&str> = spaced.split_whitespace().filter(|word| *word != "=").take(5).collect();
    words.windows(3).step_by(2).all(|three| {
        let (Some(left), Some(right)) = (size_of(three.first()), size_of(three.get(2))) else { return true };
        match three.get(1).copied() {
            Some("<") => left <= right,
            Some(">") => left >= right,
            _ => true,
        }
    })
}

fn size_of(word: Option<&&str>) -> Option<f32> {
    match *word? {
        "width" | "device-width" => Some(WIDTH_PX),
        "height" | "device-height" => Some(HEIGHT_PX),
        value => pixels(value),
    }
}

fn pixels(value: &str) -> Option<f32> {
    let unit = value.find(|unit: char| unit.is_ascii_alphabetic()).unwrap_or(value.len());
    let (number, unit) = value.split_at(unit);
    let number: f32 = number.trim().parse().ok()?;
    match unit.trim() {
        "px" | "" => Some(number),
        "em" | "rem" => Some(number * 16.0),
        "cm" => Some(number * 37.8),
        "in" => Some(number * 96.0),
        "pt" => Some(number * 1.333),
        _ => None,
    }
}
