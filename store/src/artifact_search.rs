//! The list of an account's artifacts as the dashboard shows it: searched, filtered and ordered.
//!
//! A page of positions is read first, from indexes alone, and then the rows at these positions.

use std::collections::HashMap;

use domain::{
    AccountId, Artifact, ArtifactFilter, ArtifactId, ArtifactOrder, ArtifactState, Cursor, Month, Page,
    Paged, Slug,
};
use sea_orm::sea_query::{Expr, ExprTrait, Func, IntoCondition, LikeExpr};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, FromQueryResult, IntoSimpleExpr, JoinType, QueryFilter, QuerySelect,
    RelationDef, Select,
};

use crate::handles::ArtifactStore;
use crate::pages::Keys;
use crate::rows;
use crate::rows::artifact::{live, live_versions};

const ESCAPE: char = '!';

/// The artifacts that a search looks through.
#[derive(Clone, Copy, Debug)]
pub struct Searched {
    pub account: AccountId,
    /// A pinned token finds only its own artifact.
    pub pinned_to: Option<ArtifactId>,
    /// Views are those of this month.
    pub views_in: Month,
}

/// A position in the list.
#[derive(FromQueryResult)]
struct Position {
    id: String,
    slug: String,
    rank: i64,
}

/// What the list is ordered by.
#[derive(Clone, Copy)]
enum ListColumn {
    Of(entity::artifact::Column),
    /// The same, but as an expression that no index has.
    Unindexed(entity::artifact::Column),
    Views,
}

impl ArtifactStore<'_> {
    /// The artifacts that the filter asks for, in its order. Their number is that of all such artifacts.
    pub async fn search(
        self,
        searched: Searched,
        filter: &ArtifactFilter,
        page: &Page,
    ) -> anyhow::Result<Paged<Artifact>> {
        let reader = &self.0.database.reader;
        let found = matching(searched, filter);
        let mut positions = found
            .clone()
            .select_only()
            .columns([entity::artifact::Column::Id, entity::artifact::Column::Slug])
            .expr_as(rank(filter.order), "rank");
        if filter.order == ArtifactOrder::Views {
            positions = positions.join(JoinType::LeftJoin, views(searched));
        }
        let positions = keys(filter).cut(positions, page).into_model::<Position>();
        // A search reads the titles of all pages for either of them, so they run at the same time.
        let (total, positions) = tokio::try_join!(
            async { if page.is_counted { self.count_found(found).await.map(Some) } else { Ok(None) } },
            async { Ok(positions.all(reader).await?) }
        )?;
        let paged = page.of(positions, |position| position.cursor(filter.order));
        let mut artifacts = self.at(searched.account, &paged.rows).await?;
        // An artifact that was deleted in the meantime is left out.
        let rows = paged.rows.iter().filter_map(|position| artifacts.remove(&position.id)).collect();
        Ok(Paged { rows, next: paged.next, previous: paged.previous, total })
    }

    /// Those of the account's artifacts that have one of these slugs.
    pub async fn list_of(self, account: AccountId, slugs: &[Slug]) -> anyhow::Result<Vec<Artifact>> {
        let named = entity::artifact::Column::Slug.is_in(slugs.iter().map(Slug::as_str));
        Ok(self.read(live(account).filter(named)).await?.into_values().collect())
    }

    async fn count_found(self, found: Select<entity::artifact::Entity>) -> anyhow::Result<u64> {
        let count: Option<i64> = found
            .select_only()
            .expr_as(entity::artifact::Column::Id.count(), "found")
            .into_tuple()
            .one(&self.0.database.reader)
            .await?;
        Ok(rows::count(count.unwrap_or_default()))
    }

    async fn at(
        self,
        account: AccountId,
        positions: &[Position],
    ) -> anyhow::Result<HashMap<String, Artifact>> {
        let ids = positions.iter().map(|position| position.id.as_str());
        self.read(live(account).filter(entity::artifact::Column::Id.is_in(ids))).await
    }

    /// Artifacts by their ids.
    async fn read(
        self,
        query: Select<entity::artifact::Entity>,
    ) -> anyhow::Result<HashMap<String, Artifact>> {
        let reader = &self.0.database.reader;
        let found = query.all(reader).await?;
        let shown =
            live_versions(reader, found.iter().filter_map(|row| row.live_version_id.clone()).collect());
        let mut shown = shown.await?;
        found
            .into_iter()
            .map(|row| {
                let version = row.live_version_id.as_ref().and_then(|id| shown.remove(id));
                Ok((row.id.clone(), rows::artifact(row, version)?))
            })
            .collect()
    }
}

fn matching(searched: Searched, filter: &ArtifactFilter) -> Select<entity::artifact::Entity> {
    use entity::artifact::Column;
    let mut found = live(searched.account);
    if let Some(pin) = searched.pinned_to {
        found = found.filter(Column::Id.eq(pin.to_string()));
    }
    if let Some(visibility) = filter.visibility {
        found = found.filter(Column::Visibility.eq(visibility.as_str()));
    }
    if filter.state.is_some() || !filter.words.is_empty() {
        let version: RelationDef = entity::artifact::Entity::belongs_to(entity::version::Entity)
            .from(Column::LiveVersionId)
            .to(entity::version::Column::Id)
            .into();
        found = found.join(JoinType::LeftJoin, version);
    }
    if let Some(state) = filter.state {
        found = found.filter(in_state(state));
    }
    filter.words.iter().fold(found, |found, word| found.filter(contains(word)))
}

fn in_state(state: ArtifactState) -> Expr {
    use entity::version::Column::ModerationStatus;
    match state {
        ArtifactState::Live => ModerationStatus.is_in(["pending", "pass"]),
        ArtifactState::InReview => ModerationStatus.eq("review"),
        ArtifactState::Blocked => ModerationStatus.eq("blocked"),
        ArtifactState::NotLive => entity::artifact::Column::LiveVersionId.is_null(),
    }
}

/// Whether the word is in the slug or the title. SQLite lowers only ASCII letters, so there other letters
/// must also be found as they were typed.
fn contains(word: &str) -> Condition {
    let title = || entity::version::Column::Title.into_simple_expr();
    let slug = entity::artifact::Column::Slug.into_simple_expr();
    let lowered = pattern(&word.to_lowercase());
    let found =
        Condition::any().add(slug.like(lowered.clone())).add(Expr::from(Func::lower(title())).like(lowered));
    if word.is_ascii() { found } else { found.add(title().like(pattern(word))) }
}

fn pattern(word: &str) -> LikeExpr {
    let mut pattern = String::from("%");
    for letter in word.chars() {
        if matches!(letter, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(letter);
    }
    pattern.push('%');
    LikeExpr::new(pattern).escape(ESCAPE)
}

/// A search for words reads every page. Databases would read them one by one in the order of an index, in the
/// hope of finding enough soon, which takes several times longer if few pages are found.
fn keys(filter: &ArtifactFilter) -> Keys<ListColumn> {
    use entity::artifact::Column;
    let column = if filter.words.is_empty() { ListColumn::Of } else { ListColumn::Unindexed };
    let id = ListColumn::Of(Column::Id);
    match filter.order {
        ArtifactOrder::Changed => Keys::NewestFirst(column(Column::UpdatedAt), id),
        ArtifactOrder::Created => Keys::NewestFirst(column(Column::CreatedAt), id),
        ArtifactOrder::Views => Keys::NewestFirst(ListColumn::Views, id),
        ArtifactOrder::Name => Keys::Named(column(Column::Slug)),
    }
}

fn rank(order: ArtifactOrder) -> Expr {
    use entity::artifact::Column;
    match order {
        ArtifactOrder::Changed => Column::UpdatedAt.into_simple_expr(),
        ArtifactOrder::Created => Column::CreatedAt.into_simple_expr(),
        ArtifactOrder::Views => ListColumn::Views.into_simple_expr(),
        // A bound parameter would have no type in PostgreSQL.
        ArtifactOrder::Name => Expr::cust("CAST(0 AS BIGINT)"),
    }
}

/// An artifact's views.
fn views(searched: Searched) -> RelationDef {
    use entity::monthly_view::{Column, Entity};
    let (account, month) = (searched.account.to_string(), searched.views_in.to_string());
    let same_host: RelationDef = entity::artifact::Entity::belongs_to(Entity)
        .from(entity::artifact::Column::Host)
        .to(Column::Host)
        .into();
    same_host.on_condition(move |_, _| {
        Column::AccountId.eq(account.as_str()).and(Column::Month.eq(month.as_str())).into_condition()
    })
}

impl IntoSimpleExpr for ListColumn {
    fn into_simple_expr(self) -> Expr {
        match self {
            ListColumn::Of(column) => column.into_simple_expr(),
            ListColumn::Unindexed(column) => {
                Func::coalesce([column.into_simple_expr(), column.into_simple_expr()]).into()
            }
            ListColumn::Views => {
                let views = entity::monthly_view::Column::Views.into_simple_expr();
                Func::coalesce([views, Expr::cust("CAST(0 AS BIGINT)")]).into()
            }
        }
    }
}

impl Position {
    fn cursor(&self, order: ArtifactOrder) -> Cursor {
        match order {
            ArtifactOrder::Name => Cursor::new(order.list(), 0, &self.slug),
            _ => Cursor::new(order.list(), self.rank, &self.id),
        }
    }
}
