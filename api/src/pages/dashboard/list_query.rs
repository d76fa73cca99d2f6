//! The search, filters and order of the list of pages, as its query has them. All of it is in the links, so
//! the list works without a script.

use domain::{ArtifactFilter, ArtifactOrder, ArtifactState, Visibility};
use poem::Request;
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use super::visibility::visibility_named;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Query {
    q: String,
    visibility: String,
    state: String,
    sort: String,
}

/// What the list shows, and the form in which it is chosen.
pub struct ListQuery {
    /// As it was typed.
    pub search: String,
    pub filter: ArtifactFilter,
}

/// A choice of the form.
pub struct Choice {
    pub value: &'static str,
    pub text: &'static str,
    pub is_chosen: bool,
}

impl ListQuery {
    /// Unknown values choose nothing.
    pub fn of(request: &Request) -> Self {
        let query: Query = request.params().unwrap_or_default();
        let filter = ArtifactFilter {
            words: ArtifactFilter::words_in(&query.q),
            visibility: visibility_named(&query.visibility),
            state: ArtifactState::ALL.into_iter().find(|state| state.as_str() == query.state),
            order: order_named(&query.sort),
        };
        Self { search: filter.words.join(" "), filter }
    }

    /// The path of the list with this query.
    pub fn path(&self, list: &str) -> String {
        let mut query = Serializer::new(String::new());
        let ArtifactFilter { visibility, state, order, .. } = &self.filter;
        if !self.search.is_empty() {
            query.append_pair("q", &self.search);
        }
        if let Some(visibility) = visibility {
            query.append_pair("visibility", visibility.as_str());
        }
        if let Some(state) = state {
            query.append_pair("state", state.as_str());
        }
        if *order != ArtifactOrder::default() {
            query.append_pair("sort", order.as_str());
        }
        let query = query.finish();
        if query.is_empty() { list.to_owned() } else { format!("{list}?{query}") }
    }

    /// Whether a filter or another order than usual is chosen.
    pub fn has_choices(&self) -> bool {
        let ArtifactFilter { visibility, state, order, .. } = &self.filter;
        visibility.is_some() || state.is_some() || *order != ArtifactOrder::default()
    }

    pub fn visibilities(&self) -> Vec<Choice> {
        let all = [Visibility::Public, Visibility::Unlisted, Visibility::Private];
        let choice = |one: Visibility| Choice {
            value: one.as_str(),
            text: match one {
                Visibility::Public => "Public",
                Visibility::Unlisted => "Unlisted",
                Visibility::Private => "Private",
            },
            is_chosen: self.filter.visibility == Some(one),
        };
        all.into_iter().map(choice).collect()
    }

    pub fn states(&self) -> Vec<Choice> {
        let choice = |one: ArtifactState| Choice {
            value: one.as_str(),
            text: match one {
                ArtifactState::Live => "Live",
                ArtifactState::InReview => "In review",
                ArtifactState::Blocked => "Blocked",
                ArtifactState::NotLive => "Not live",
            },
            is_chosen: self.filter.state == Some(one),
        };
        ArtifactState::ALL.into_iter().map(choice).collect()
    }

    pub fn orders(&self) -> Vec<Choice> {
        let choice = |one: ArtifactOrder| Choice {
            value: one.as_str(),
            text: match one {
                ArtifactOrder::Changed => "Last change",
                ArtifactOrder::Name => "Name",
                ArtifactOrder::Views => "Views this month",
                ArtifactOrder::Created => "Newest",
            },
            is_chosen: self.filter.order == one,
        };
        ArtifactOrder::ALL.into_iter().map(choice).collect()
    }
}

fn order_named(name: &str) -> ArtifactOrder {
    ArtifactOrder::ALL.into_iter().find(|order| order.as_str() == name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(query: &str) -> ListQuery {
        ListQuery::of(&Request::builder().uri_str(format!("/dashboard/x?{query}")).finish())
    }

    #[test]
    fn list_path_has_the_search_filters_and_order() {
        let all = query("q=+Tom+%26+May+&visibility=private&state=blocked&sort=views&after=w7.x");
        assert_eq!(all.filter.words, ["Tom", "&", "May"]);
        assert_eq!(all.path("/x"), "/x?q=Tom+%26+May&visibility=private&state=blocked&sort=views");
        assert_eq!(query(&all.path("")[1..]).filter, all.filter);
        for plain in ["", "q=++&visibility=&state=gone&sort=changed", "sort=size"] {
            assert_eq!((query(plain).path("/x"), query(plain).filter.is_narrow()), ("/x".to_owned(), false));
        }
    }

    #[test]
    fn form_shows_what_is_chosen() {
        let chosen = |choices: Vec<Choice>| -> Vec<&str> {
            choices.into_iter().filter(|one| one.is_chosen).map(|one| one.value).collect()
        };
        let list = query("visibility=unlisted&state=review");
        assert_eq!(chosen(list.visibilities()), ["unlisted"]);
        assert_eq!(chosen(list.states()), ["review"]);
        assert_eq!(chosen(list.orders()), ["changed"]);
    }
}
