//! The style guide: every component of the pages with its class names. It is for developers, so it exists in
//! dev mode only.

use std::time::Duration;

use askama::Template;
use domain::{Day, Time};
use poem::http::StatusCode;
use poem::{Response, handler};

use super::dashboard::chart::{Chart, OnDay};
use super::dashboard::pager::Pager;
use super::dashboard::question::Question;
use crate::html::ago::Ago;
use crate::html::{page, sparkline};
use crate::http::dev_mode::DevMode;
use crate::http::refusal::RefusedCall;

pub const PATH: &str = "/styleguide";

#[derive(Template)]
#[template(path = "styleguide.html")]
struct StyleGuide {
    times: [Ago; 3],
    line: String,
    chart: Chart,
    pager: Option<Pager>,
    question: Question,
}

/// The views of some days.
const VIEWS: [u64; 7] = [3, 8, 0, 21, 13, 5, 34];

impl StyleGuide {
    /// The areas whose style sheets have components, other than the one of every page.
    const AREAS: [&'static str; 4] = ["home", "dashboard", "artifact", "board"];
    /// In the order of a job's life.
    const PARTS_OF_A_LANE: [&'static str; 5] = ["waiting", "backoff", "done", "interrupted", "failed"];

    /// The components with data that is always the same.
    fn new() -> Self {
        let now = Time::from_millis(1_790_000_000_000);
        let (minutes, days) = (Duration::from_secs(20 * 60), Duration::from_secs(40 * 24 * 3600));
        let first = now.day().number() - VIEWS.len() as i64 + 1;
        let on_day = |(at, count): (i64, u64)| OnDay { day: Day::from_number(first + at), count };
        let views: Vec<_> = (0..).zip(VIEWS).map(on_day).collect();
        let link = || Some(format!("{PATH}#navigation"));
        Self {
            times: [
                Ago::new(now, now.plus(minutes)),
                Ago::new(now.plus(minutes), now),
                Ago::new(now, now.plus(days)),
            ],
            line: sparkline::points(&VIEWS).unwrap_or_default(),
            chart: Chart::new("Views", &views, now.day()),
            pager: Some(Pager {
                text: "100 of 1,205 pages".to_owned(),
                first: link(),
                previous: link(),
                next: link(),
            }),
            question: Question {
                id: "ask".to_owned(),
                path: PATH.to_owned(),
                verb: "Delete",
                subject: "roadmap".to_owned(),
                title: "Delete roadmap?".to_owned(),
                text: "Its address stops working at once.".to_owned(),
                keep: "Cancel",
                option: None,
            },
        }
    }
}

#[handler]
pub fn show(_: DevMode) -> Result<Response, RefusedCall> {
    page(StatusCode::OK, &StyleGuide::new())
}

#[cfg(test)]
pub fn samples() -> Vec<(String, String)> {
    vec![("styleguide".into(), StyleGuide::new().render().unwrap())]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use askama::Template;

    use super::StyleGuide;

    const STYLES: [&str; 4] = [
        include_str!("../../templates/page.css"),
        include_str!("../../templates/dashboard.css"),
        include_str!("../../templates/artifact.css"),
        include_str!("../../templates/board.css"),
    ];

    /// The frame of every page, which the guide has as any page has it, and the layout of a single page.
    const NO_COMPONENTS: [&str; 31] = [
        "account",
        "changes",
        "charted",
        "choose",
        "colophon",
        "drop-here",
        "either",
        "end",
        "filters",
        "has-charts",
        "health",
        "invite",
        "jobs",
        "masthead",
        "narrow",
        "of-custom",
        "of-other",
        "over-list",
        "peek",
        "queues-narrow",
        "queues-wide",
        "reason",
        "refused",
        "scopes",
        "skip",
        "switcher",
        "time-left",
        "via",
        "who",
        "wordmark",
        "written",
    ];

    /// The classes in the selectors of a style sheet.
    fn classes_of(css: &str) -> BTreeSet<&str> {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let selectors = css.lines().filter(|line| !line.trim_start().starts_with("/*"));
        let selectors = selectors.filter_map(|line| line.split_once('{')).map(|(selectors, _)| selectors);
        let classes = selectors.flat_map(|selectors| selectors.split('.').skip(1));
        let names = classes.map(|rest| rest.split(|letter| !is_name(letter)).next().unwrap_or_default());
        names.filter(|name| !name.is_empty()).collect()
    }

    #[test]
    fn style_guide_shows_every_component_of_the_style_sheets() {
        let guide = StyleGuide::new().render().unwrap();
        let main = guide.split_once("<main").unwrap().1.split_once("</main>").unwrap().0;
        let attributes = main.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let shown: BTreeSet<&str> = attributes.flat_map(str::split_whitespace).collect();
        let classes: BTreeSet<&str> = STYLES.into_iter().flat_map(classes_of).collect();
        assert!(classes.len() > 80, "{classes:?}");
        let missing: Vec<_> = classes.difference(&shown).copied().collect();
        assert_eq!(missing, NO_COMPONENTS);
    }
}
