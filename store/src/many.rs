//! Statements for a whole batch of items. The statement's text is the same for any number of items, because
//! they are passed as one JSON value. With one placeholder per item, each number of items would be another
//! statement to prepare on every connection.

use sea_orm::sea_query::{
    Expr, ExprTrait, Func, Iden, InsertStatement, OnConflict, Query, SimpleExpr, sea_value_to_json_value,
};
use sea_orm::{ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, Iterable, Statement};
use serde_json::Value;

const ROWS: &str = "given";

/// Inserts rows in which every column is set.
pub(crate) async fn insert_rows<E: EntityTrait>(
    connection: &impl ConnectionTrait,
    rows: impl IntoIterator<Item = E::ActiveModel>,
    on_conflict: Option<OnConflict>,
) -> anyhow::Result<()> {
    if let Some(insertion) = insertion::<E>(connection.get_database_backend(), rows, on_conflict)? {
        connection.execute(&insertion).await?;
    }
    Ok(())
}

/// A statement that inserts rows in which every column is set. `None` if there are no rows.
pub(crate) fn insertion<E: EntityTrait>(
    backend: DbBackend,
    rows: impl IntoIterator<Item = E::ActiveModel>,
    on_conflict: Option<OnConflict>,
) -> anyhow::Result<Option<InsertStatement>> {
    let rows: Vec<Value> = rows.into_iter().map(object::<E>).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let table = E::default();
    let rows = serde_json::to_string(&rows)?;
    let given = match backend {
        DbBackend::Postgres => Func::cust("json_populate_recordset")
            .arg(Expr::cust(format!("NULL::{}", table.table_name())))
            .arg(Expr::val(rows).cast_as("json")),
        _ => Func::cust("json_each").arg(rows),
    };
    let column = |column: E::Column| match backend {
        DbBackend::Postgres => Expr::col((ROWS, column)),
        _ => Expr::cust(format!("{ROWS}.value ->> '{}'", column.unquoted())),
    };
    let select = Query::select()
        .exprs(E::Column::iter().map(column))
        .from_function(given, ROWS)
        // Without a WHERE, SQLite would parse the ON of ON CONFLICT as that of a join.
        .and_where(Expr::cust("TRUE"))
        .to_owned();
    let mut insert = Query::insert();
    insert.into_table(table).columns(E::Column::iter()).select_from(select)?;
    if let Some(on_conflict) = on_conflict {
        insert.on_conflict(on_conflict);
    }
    Ok(Some(insert))
}

/// A condition that a column has one of these values.
pub(crate) fn among(
    connection: &impl ConnectionTrait,
    column: impl ColumnTrait,
    texts: impl IntoIterator<Item = String>,
) -> SimpleExpr {
    let texts = Value::from_iter(texts).to_string();
    let column = Expr::col(column.as_column_ref());
    match connection.get_database_backend() {
        DbBackend::Postgres => {
            let any = "$1 = ANY(ARRAY(SELECT json_array_elements_text(CAST($2 AS json))))";
            Expr::cust_with_exprs(any, [column, texts.into()])
        }
        _ => {
            let mut given = Query::select();
            given.expr(Expr::cust("value")).from_function(Func::cust("json_each").arg(texts), ROWS);
            column.in_subquery(given)
        }
    }
}

/// The pairs that a table has in these two columns. Each pair is looked up separately, through the index on
/// the two columns. In one comparison for all pairs PostgreSQL might read all rows of their accounts, based
/// on statistics from when the connection prepared the statement.
pub(crate) async fn known_pairs<E: EntityTrait>(
    connection: &impl ConnectionTrait,
    (one, other): (E::Column, E::Column),
    pairs: impl IntoIterator<Item = (String, String)>,
) -> anyhow::Result<Vec<(String, String)>> {
    let Some(pairs) = json_of(pairs)? else { return Ok(Vec::new()) };
    let backend = connection.get_database_backend();
    let given = match backend {
        DbBackend::Postgres => "json_array_elements(CAST($1 AS json)) AS given(value)",
        _ => "json_each($1) AS given",
    };
    // The OFFSET keeps PostgreSQL from merging the inner query into a join with the whole table.
    let sql = format!(
        "SELECT given.value ->> 0 AS one, given.value ->> 1 AS other FROM {given} WHERE EXISTS (
             SELECT 1 FROM {table} AS known
             WHERE known.{one} = given.value ->> 0 AND known.{other} = given.value ->> 1 LIMIT 1 OFFSET 0)",
        table = E::default().table_name(),
        one = one.unquoted(),
        other = other.unquoted(),
    );
    let statement = Statement::from_sql_and_values(backend, sql, [pairs.into()]);
    let found = connection.query_all_raw(statement).await?;
    found.iter().map(|row| Ok((row.try_get("", "one")?, row.try_get("", "other")?))).collect()
}

/// The rows of a table that have one of the pairs in these two columns and meet a further condition. They are
/// looked up like `known_pairs`.
pub(crate) async fn rows_of_pairs<E: EntityTrait>(
    connection: &impl ConnectionTrait,
    (one, other): (E::Column, E::Column),
    pairs: impl IntoIterator<Item = (String, String)>,
    condition: &str,
) -> anyhow::Result<Vec<E::Model>> {
    let Some(pairs) = json_of(pairs)? else { return Ok(Vec::new()) };
    let backend = connection.get_database_backend();
    // Columns by name: after a column is added, PostgreSQL rejects a prepared statement that selects all
    // columns.
    let columns: Vec<String> =
        E::Column::iter().map(|column| format!("held.{}", column.unquoted())).collect();
    let columns = columns.join(", ");
    let held = format!(
        "{table} AS held
         WHERE held.{one} = given.value ->> 0 AND held.{other} = given.value ->> 1 AND held.{condition}",
        table = E::default().table_name(),
        one = one.unquoted(),
        other = other.unquoted(),
    );
    let sql = match backend {
        DbBackend::Postgres => format!(
            "SELECT {columns} FROM json_array_elements(CAST($1 AS json)) AS given(value)
             CROSS JOIN LATERAL (SELECT * FROM {held} OFFSET 0) AS held"
        ),
        // SQLite joins the tables of a CROSS JOIN in the given order.
        _ => format!("SELECT {columns} FROM json_each($1) AS given CROSS JOIN {held}"),
    };
    let statement = Statement::from_sql_and_values(backend, sql, [pairs.into()]);
    Ok(E::find().from_raw_sql(statement).all(connection).await?)
}

/// The pairs as one JSON value. `None` if there are none.
fn json_of(pairs: impl IntoIterator<Item = (String, String)>) -> anyhow::Result<Option<String>> {
    let pairs: Vec<(String, String)> = pairs.into_iter().collect();
    if pairs.is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::to_string(&pairs)?))
}

/// A row as a JSON object, by column name.
fn object<E: EntityTrait>(row: E::ActiveModel) -> Value {
    let field = |column: E::Column| {
        let value = row.get(column).into_value();
        (column.unquoted().to_owned(), value.as_ref().map_or(Value::Null, sea_value_to_json_value))
    };
    Value::Object(E::Column::iter().map(field).collect())
}
