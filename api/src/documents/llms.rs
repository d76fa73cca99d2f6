//! `/llms.txt`, in the format of <https://llmstxt.org>. Its lists link only to documents that a plain `GET`
//! returns.

use askama::Template;

use super::Facts;

#[derive(Template)]
#[template(path = "llms.txt")]
pub struct Llms {
    pub facts: Facts,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `HANDBILL_TEST_UPDATE=1 cargo test -p api` rewrites the file.
    #[test]
    fn committed_llms_txt_matches_the_served_one() {
        let text = Llms { facts: Facts::sample() }.render().unwrap();
        crate::documents::tests::assert_committed("llms.txt", &text);
    }
}
