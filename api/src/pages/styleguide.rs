//! The style guide: every component of the pages with its class names. It is for developers, so it exists in
//! dev mode only.

use askama::Template;
use poem::http::StatusCode;
use poem::{Response, handler};

use crate::html::page;
use crate::http::dev_mode::DevMode;
use crate::http::refusal::RefusedCall;

pub const PATH: &str = "/styleguide";

#[derive(Template)]
#[template(path = "styleguide.html")]
struct StyleGuide;

#[handler]
pub fn show(_: DevMode) -> Result<Response, RefusedCall> {
    page(StatusCode::OK, &StyleGuide)
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    vec![("styleguide".into(), StyleGuide.render().unwrap())]
}

#[cfg(test)]
mod tests {
    /// The frame of every page, which the guide has as any page has it.
    const OF_THE_FRAME: [&str; 4] = ["skip", "masthead", "colophon", "wordmark"];

    #[test]
    fn style_guide_shows_every_component_of_the_style_sheet() {
        let (guide, css) =
            (include_str!("../../templates/styleguide.html"), include_str!("../../templates/page.css"));
        let components =
            css.split("@layer components {").nth(1).and_then(|rest| rest.split("@layer pages").next());
        let components = components.unwrap();
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let mut classes: Vec<&str> = components
            .lines()
            .filter_map(|line| line.split('{').next())
            .flat_map(|selectors| selectors.split('.').skip(1))
            .map(|rest| rest.split(|letter| !is_name(letter)).next().unwrap_or_default())
            .filter(|class| !class.is_empty() && !OF_THE_FRAME.contains(class))
            .collect();
        classes.sort_unstable();
        classes.dedup();
        assert!(classes.len() > 25, "{classes:?}");
        let is_shown = |class: &str| {
            guide.split("class=\"").skip(1).any(|rest| {
                rest.split('"').next().is_some_and(|names| names.split_whitespace().any(|name| name == class))
            })
        };
        let missing: Vec<_> = classes.into_iter().filter(|class| !is_shown(class)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
