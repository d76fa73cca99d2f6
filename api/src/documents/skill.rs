//! `/skill`: how an agent publishes a page and gets it claimed, as a skill package. It must stay below 5,000
//! tokens, because an agent reads all of it, and its commands must work as written.

use askama::Template;
use domain::Challenge;
use poem_openapi::types::ToJSON;

use super::Facts;
use crate::wire;

#[derive(Template)]
#[template(path = "skill.md")]
pub struct Skill {
    facts: Facts,
    /// The 402 response to a change of visibility without payment.
    challenge: String,
}

impl Skill {
    pub fn new(facts: Facts) -> Self {
        let challenge = Challenge::new("visibility", facts.visibility_price, facts.rails);
        Self { challenge: wire::Challenge::from(&challenge).to_json_string(), facts }
    }
}

#[cfg(test)]
mod tests {
    use domain::{CardTerms, Tariff};

    use super::*;
    use crate::documents::errors;

    // An estimate without a tokenizer. English and shell have more characters per token than this.
    const CHARACTERS_PER_TOKEN: f64 = 3.5;
    const TOKENS_MAX: f64 = 5_000.0;
    const BYTES_MAX: usize = 8_450;
    /// The limits of the Agent Skills specification.
    const LINES_MAX: usize = 500;
    const DESCRIPTION_LENGTH_MAX: usize = 1_024;

    fn skill(tariff: &Tariff) -> String {
        Skill::new(Facts::of(&Facts::sample_addresses(), tariff)).render().unwrap()
    }

    #[test]
    fn skill_is_short_enough_to_be_read_whole() {
        let skill = skill(&Tariff::default());
        let tokens = skill.chars().count() as f64 / CHARACTERS_PER_TOKEN;
        assert!(tokens < TOKENS_MAX, "about {tokens} tokens");
        assert!(skill.len() <= BYTES_MAX, "{} bytes", skill.len());
        assert!(skill.lines().count() < LINES_MAX);
        let head = skill.split("---").nth(1).unwrap();
        assert!(head.len() < DESCRIPTION_LENGTH_MAX, "{head}");
    }

    #[test]
    fn skill_explains_codes_with_their_statuses() {
        let (skill, entries) = (skill(&Tariff::default()), errors::entries());
        let rows: Vec<_> = skill.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), 6, "{rows:?}");
        for row in rows {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            for code in cells[1].split(", ") {
                let code = code.trim_matches('`');
                let statuses = entries.iter().filter(|entry| entry.code == code);
                let mut statuses: Vec<_> = statuses.map(|entry| entry.status.to_string()).collect();
                statuses.dedup();
                assert_eq!(cells[2], statuses.join(", "), "{code}");
            }
        }
    }

    #[test]
    fn skill_shows_the_configured_limits_and_prices() {
        let tariff = Tariff {
            publish_price: domain::Micro::new(12_345),
            provisional_lifetime: std::time::Duration::from_secs(5_400),
            provisional_free_publishes: 77,
            claimed_free_publishes: 7_777,
            claimed_artifacts_max: 888,
            ..Tariff::default()
        };
        let skill = skill(&tariff);
        for number in
            ["0.012345", "90 minutes", "77 in all", "7,777 a month", "7,777 publishes", "888 artifacts"]
        {
            assert!(skill.contains(number), "{number}");
        }
        assert!(!skill.contains("30 minutes") && !skill.contains("0.005"), "{skill}");
    }

    #[test]
    fn skill_omits_payment_by_call_when_no_payment_method_is_open() {
        const CREDIT: &str = "buy credit on http://127.0.0.1:8080/dashboard";
        let closed = Tariff { dev_rail: domain::DevPaymentTerms::Closed, ..Tariff::default() };
        for (card_rail, is_listed) in [(CardTerms::Open, true), (CardTerms::Closed, false)] {
            let skill = skill(&Tariff { card_rail, ..closed.clone() });
            assert!(!skill.contains("dev:") && skill.contains(CREDIT) == is_listed, "{skill}");
            assert!(skill.contains(r#""scheme":"dev","status":"disabled""#), "{skill}");
        }
    }

    /// `HANDBILL_TEST_UPDATE=1 cargo test -p api` rewrites the file.
    #[test]
    fn committed_skill_matches_the_served_one() {
        crate::documents::tests::assert_committed("skills/handbill/SKILL.md", &skill(&Tariff::default()));
    }
}
