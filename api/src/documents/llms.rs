//! `/llms.txt`: what is here to be read, in the form that <https://llmstxt.org> proposes. Its lists hold links to
//! documents only, each of which answers a plain `GET`.

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

    /// `HANDBILL_TEST_UPDATE=1 cargo test -p api` writes the file anew.
    #[test]
    fn the_committed_list_of_documents_is_the_one_that_is_served() {
        let text = Llms { facts: Facts::sample() }.render().unwrap();
        crate::documents::tests::assert_committed("llms.txt", &text);
    }
}
