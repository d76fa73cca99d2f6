//! Reads lists page by page with keyset paging: a page begins at a position in the list's order. Every page
//! costs the same however far into the list it is, and inserted or deleted rows do not move the others.

use domain::{Cursor, Page, Paged};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ConnectionTrait, EntityTrait, IntoSimpleExpr, Order, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};

/// The columns that a list is ordered by. Together they must be unique within the list.
#[derive(Clone, Copy)]
pub(crate) enum Keys<C> {
    /// By a unique number, highest first.
    Numbered(C),
    /// By a time, then by an id, newest first.
    NewestFirst(C, C),
    /// By a time, then by an id, oldest first.
    OldestFirst(C, C),
    /// By a unique name, which the cursor has as its id.
    Named(C),
}

impl<C: IntoSimpleExpr + Copy> Keys<C> {
    /// Orders the query and limits it to the page and one more row.
    pub(crate) fn cut<Q: QueryFilter + QueryOrder + QuerySelect>(self, query: Q, page: &Page) -> Q {
        let is_descending = !matches!(self, Keys::OldestFirst(..) | Keys::Named(_)) != page.is_backward();
        let order = || if is_descending { Order::Desc } else { Order::Asc };
        let mut query = query.limit(page.rows_to_read());
        for column in self.columns() {
            query = query.order_by(column, order());
        }
        let Some(cursor) = page.start.cursor() else { return query };
        let (row, position) = (self.row(), self.position(cursor));
        query.filter(if is_descending { row.lt(position) } else { row.gt(position) })
    }

    fn columns(self) -> impl Iterator<Item = C> {
        let (first, second) = match self {
            Keys::Numbered(rank) | Keys::Named(rank) => (rank, None),
            Keys::NewestFirst(rank, id) | Keys::OldestFirst(rank, id) => (rank, Some(id)),
        };
        [Some(first), second].into_iter().flatten()
    }

    // A comparison of row values, for which both databases use an index on the columns. For `a < x OR (a = x
    // AND …)` they would read the list from its beginning.
    fn row(self) -> Expr {
        match self {
            Keys::Numbered(rank) | Keys::Named(rank) => rank.into_simple_expr(),
            Keys::NewestFirst(rank, id) | Keys::OldestFirst(rank, id) => {
                Expr::tuple([rank.into_simple_expr(), id.into_simple_expr()])
            }
        }
    }

    fn position(self, cursor: &Cursor) -> Expr {
        match self {
            Keys::Numbered(_) => Expr::val(cursor.rank),
            Keys::Named(_) => Expr::val(cursor.id.as_str()),
            Keys::NewestFirst(..) | Keys::OldestFirst(..) => {
                Expr::tuple([Expr::val(cursor.rank), Expr::val(cursor.id.as_str())])
            }
        }
    }
}

/// A page of a table's rows, with the size of the whole list if the page requests it.
pub(crate) async fn read<E>(
    connection: &impl ConnectionTrait,
    query: Select<E>,
    keys: Keys<E::Column>,
    page: &Page,
    cursor: impl Fn(&E::Model) -> Cursor,
) -> anyhow::Result<Paged<E::Model>>
where
    E: EntityTrait,
    E::Model: Send + Sync,
{
    let total = total(connection, &query, page).await?;
    let rows = keys.cut(query, page).all(connection).await?;
    Ok(Paged { total, ..page.of(rows, cursor) })
}

/// The size of the whole list, if the page requests it.
pub(crate) async fn total<E>(
    connection: &impl ConnectionTrait,
    list: &Select<E>,
    page: &Page,
) -> anyhow::Result<Option<u64>>
where
    E: EntityTrait,
    E::Model: Send + Sync,
{
    if !page.is_counted {
        return Ok(None);
    }
    Ok(Some(list.clone().count(connection).await?))
}
