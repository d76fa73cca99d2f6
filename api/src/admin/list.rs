//! The part of the queue that a moderator works through. The queue's filters choose it, and the URLs of its
//! cases keep it, so that the next case comes from the same list.

use std::time::Duration;

use domain::{Host, Refusal, is_handle};
use poem::Request;
use serde::Deserialize;
use service::{ReviewFilter, WaitingFor};
use url::form_urlencoded;

use super::labels::{RULES, rule_description};

/// The waiting times to choose from: value, label and hours.
const AGES: [(&str, &str, u64); 5] = [
    ("1h", "1 hour", 1),
    ("6h", "6 hours", 6),
    ("24h", "1 day", 24),
    ("72h", "3 days", 72),
    ("168h", "1 week", 168),
];
const HOUR: Duration = Duration::from_secs(3600);
/// Longer than any rule's name.
const RULE_LENGTH_MAX: usize = 64;

/// A list and its filters, as in a query. An empty filter matches every page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct List {
    pub status: ReviewStatusFilter,
    pub rule: String,
    pub account: String,
    pub age: String,
}

/// The status of the listed pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewStatusFilter {
    #[default]
    Review,
    Blocked,
    Pending,
}

/// One value of a filter.
pub struct Choice {
    pub value: String,
    pub label: String,
    pub is_chosen: bool,
}

impl List {
    /// The list in a request's query, or by default all pages to review.
    pub fn of(request: &Request) -> Self {
        request.params().unwrap_or_default()
    }

    pub fn wanted(&self) -> Result<ReviewFilter, Refusal> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let account = given(&self.account);
        if account.as_deref().is_some_and(|account| !is_handle(account)) {
            return Err(Refusal::invalid("account", "is not the handle of an account"));
        }
        let rule = given(&self.rule);
        if rule.as_ref().is_some_and(|rule| rule.len() > RULE_LENGTH_MAX) {
            return Err(Refusal::invalid("rule", "is not the name of a rule"));
        }
        let hours_of = |age: String| AGES.iter().find(|(value, ..)| *value == age).map(|(.., hours)| *hours);
        let age = given(&self.age).map(|age| {
            hours_of(age).ok_or_else(|| Refusal::invalid("age", "is not in the list of waiting times"))
        });
        let waiting_at_least =
            age.transpose()?.and_then(|hours| HOUR.checked_mul(u32::try_from(hours).ok()?));
        Ok(ReviewFilter { waiting_for: self.status.into(), rule, account, waiting_at_least })
    }

    /// Ignores malformed filters, because they must not prevent access to a case.
    pub fn wanted_for_case(&self) -> ReviewFilter {
        self.wanted().unwrap_or_else(|_| WaitingFor::from(self.status).into())
    }

    pub fn is_filtered(&self) -> bool {
        [&self.rule, &self.account, &self.age].iter().any(|filter| !filter.trim().is_empty())
    }

    /// The same filters on another list.
    pub fn on(&self, status: ReviewStatusFilter) -> Self {
        Self { status, ..self.clone() }
    }

    /// The same list without filters.
    pub fn cleared(&self) -> Self {
        Self { status: self.status, ..Self::default() }
    }

    /// The path of the list.
    pub fn path(&self) -> String {
        self.path_with("")
    }

    /// The path of the list, with more in its query.
    pub fn path_with(&self, more: &str) -> String {
        self.address(super::QUEUE.to_owned(), more)
    }

    /// The path of one of its cases.
    pub fn case(&self, host: &Host) -> String {
        self.case_with(host, "")
    }

    pub fn case_with(&self, host: &Host, more: &str) -> String {
        self.address(format!("{}/{host}", super::QUEUE), more)
    }

    pub fn rules(&self) -> Vec<Choice> {
        let choice = |value: &str| Choice {
            value: value.to_owned(),
            label: rule_description(value),
            is_chosen: value == self.rule,
        };
        let mut choices: Vec<_> = RULES.iter().map(|name| choice(name)).collect();
        // The query can name a rule that this release does not know.
        if !self.rule.is_empty() && !choices.iter().any(|one| one.is_chosen) {
            choices.push(choice(&self.rule));
        }
        choices
    }

    pub fn ages(&self) -> Vec<Choice> {
        let choice = |(value, label, _): &(&str, &str, u64)| Choice {
            value: (*value).to_owned(),
            label: (*label).to_owned(),
            is_chosen: *value == self.age,
        };
        AGES.iter().map(choice).collect()
    }

    fn address(&self, path: String, more: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if self.status != ReviewStatusFilter::default() {
            query.append_pair("status", self.status.value());
        }
        for (name, filter) in [("rule", &self.rule), ("account", &self.account), ("age", &self.age)] {
            if !filter.trim().is_empty() {
                query.append_pair(name, filter.trim());
            }
        }
        let mut query = query.finish();
        if !query.is_empty() && !more.is_empty() {
            query.push('&');
        }
        query.push_str(more);
        if query.is_empty() { path } else { format!("{path}?{query}") }
    }
}

impl ReviewStatusFilter {
    pub const ALL: [ReviewStatusFilter; 3] =
        [ReviewStatusFilter::Review, ReviewStatusFilter::Blocked, ReviewStatusFilter::Pending];

    pub fn name(self) -> &'static str {
        match self {
            ReviewStatusFilter::Review => "To review",
            ReviewStatusFilter::Blocked => "Blocked",
            ReviewStatusFilter::Pending => "Not scanned yet",
        }
    }

    pub fn value(self) -> &'static str {
        match self {
            ReviewStatusFilter::Review => "review",
            ReviewStatusFilter::Blocked => "blocked",
            ReviewStatusFilter::Pending => "pending",
        }
    }
}

impl From<ReviewStatusFilter> for WaitingFor {
    fn from(filter: ReviewStatusFilter) -> Self {
        match filter {
            ReviewStatusFilter::Review => WaitingFor::Review,
            ReviewStatusFilter::Blocked => WaitingFor::BlockedAlready,
            ReviewStatusFilter::Pending => WaitingFor::Scan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(query: &str) -> List {
        List::of(&Request::builder().uri_str(format!("/admin/moderation?{query}")).finish())
    }

    #[test]
    fn addresses_keep_the_list_and_its_filters() {
        let host = "my-page-a1b2".parse().unwrap();
        assert_eq!(list("status=review&rule=&account=&age=").path(), "/admin/moderation");
        assert_eq!(list("").case(&host), "/admin/moderation/my-page-a1b2");
        let filtered = list("status=blocked&rule=seed_phrase&account=acct_a1&age=6h");
        let query = "status=blocked&rule=seed_phrase&account=acct_a1&age=6h";
        assert_eq!(filtered.path(), format!("/admin/moderation?{query}"));
        let next = filtered.case_with(&host, "done=passed");
        assert_eq!(next, format!("/admin/moderation/my-page-a1b2?{query}&done=passed"));
        assert_eq!(list("rule=%26done%3Dx").path(), "/admin/moderation?rule=%26done%3Dx");
    }

    #[test]
    fn filters_are_checked() {
        let wanted = list("account=acct_a1&age=6h&rule=seed_phrase").wanted().unwrap();
        assert_eq!((wanted.account.as_deref(), wanted.waiting_at_least), (Some("acct_a1"), Some(HOUR * 6)));
        assert_eq!(list("account=+").wanted().unwrap(), WaitingFor::Review.into());
        for wrong in ["account=my-page-a1b2", "age=5h", &format!("rule={}", "x".repeat(65))] {
            assert!(list(wrong).wanted().is_err(), "{wrong}");
        }
    }
}
