//! Which artifacts of an account a person wants to see, and in which order.

use crate::{List, Visibility};

/// A search in the list of an account's artifacts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Each of these must be in the slug or in the title.
    pub words: Vec<String>,
    pub visibility: Option<Visibility>,
    pub state: Option<ArtifactState>,
    pub order: ArtifactOrder,
}

/// What visitors get at an artifact's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactState {
    /// A version is live, and no moderation decision is against it.
    Live,
    InReview,
    Blocked,
    /// All versions are staged.
    NotLive,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArtifactOrder {
    /// Last changed first.
    #[default]
    Changed,
    /// By slug.
    Name,
    /// Most views this month first.
    Views,
    /// Newest first.
    Created,
}

impl ArtifactFilter {
    /// Longer searches are cut.
    pub const WORDS_MAX: usize = 8;
    pub const SEARCH_LENGTH_MAX: usize = 100;

    /// The words of a search as it was typed.
    pub fn words_in(search: &str) -> Vec<String> {
        // Neither a slug nor a title has control characters, and PostgreSQL refuses texts with some.
        let letters = search.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        let search: String = letters.take(Self::SEARCH_LENGTH_MAX).collect();
        search.split_whitespace().take(Self::WORDS_MAX).map(str::to_owned).collect()
    }

    /// Whether artifacts are left out.
    pub fn is_narrow(&self) -> bool {
        !self.words.is_empty() || self.visibility.is_some() || self.state.is_some()
    }
}

impl ArtifactState {
    pub const ALL: [ArtifactState; 4] =
        [ArtifactState::Live, ArtifactState::InReview, ArtifactState::Blocked, ArtifactState::NotLive];

    pub fn as_str(self) -> &'static str {
        match self {
            ArtifactState::Live => "live",
            ArtifactState::InReview => "review",
            ArtifactState::Blocked => "blocked",
            ArtifactState::NotLive => "staged",
        }
    }
}

impl ArtifactOrder {
    pub const ALL: [ArtifactOrder; 4] =
        [ArtifactOrder::Changed, ArtifactOrder::Name, ArtifactOrder::Views, ArtifactOrder::Created];

    pub fn as_str(self) -> &'static str {
        match self {
            ArtifactOrder::Changed => "changed",
            ArtifactOrder::Name => "name",
            ArtifactOrder::Views => "views",
            ArtifactOrder::Created => "created",
        }
    }

    /// The list whose cursors have positions in this order.
    pub fn list(self) -> List {
        match self {
            ArtifactOrder::Changed => List::ArtifactsByChange,
            ArtifactOrder::Name => List::ArtifactsByName,
            ArtifactOrder::Views => List::ArtifactsByViews,
            ArtifactOrder::Created => List::Artifacts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_is_split_into_a_few_words() {
        assert_eq!(ArtifactFilter::words_in("  plan  May "), ["plan", "May"]);
        assert_eq!(ArtifactFilter::words_in(" "), [""; 0]);
        assert_eq!(ArtifactFilter::words_in("plan\0May\u{1b}"), ["plan", "May"]);
        assert_eq!(ArtifactFilter::words_in(&"a ".repeat(40)).len(), ArtifactFilter::WORDS_MAX);
        assert_eq!(ArtifactFilter::words_in(&"ü".repeat(200))[0].chars().count(), 100);
    }
}
