//! What the changes do to a real database, one after the other: a column that was there stays as it was, and
//! a new one asks nothing of who does not know it.

use std::collections::BTreeMap;

use migration::Migrator;
use sea_orm_migration::MigratorTrait;
use sea_orm_migration::sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};

/// Table and column.
type ColumnName = (String, String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    kind: String,
    is_required: bool,
    default: Option<String>,
    in_key: i32,
}

const COLUMNS: &str = "SELECT found.name AS of_table, known.name AS name, known.type AS kind,
    known.\"notnull\" AS is_required, known.dflt_value AS default_value, known.pk AS in_key
    FROM sqlite_master AS found JOIN pragma_table_info(found.name) AS known WHERE found.type = 'table'";

#[tokio::test]
async fn no_migration_drops_or_alters_a_column_and_new_columns_are_optional() {
    // Each connection to memory is a database of its own.
    let mut one = ConnectOptions::new("sqlite::memory:");
    one.max_connections(1).sqlx_logging(false);
    let database = Database::connect(one).await.unwrap();
    let mut before = BTreeMap::new();
    for change in Migrator::migrations() {
        Migrator::up(&database, Some(1)).await.unwrap();
        let after = columns(&database).await;
        let name = change.name();
        for (place, column) in &before {
            assert_eq!(after.get(place), Some(column), "{name} takes or alters {place:?}");
        }
        let tables: Vec<&String> = before.keys().map(|(table, _): &ColumnName| table).collect();
        for (place, column) in after.iter().filter(|(place, _)| !before.contains_key(*place)) {
            let may_be_left_out = !column.is_required || column.default.is_some();
            assert!(may_be_left_out || !tables.contains(&&place.0), "{name} requires {place:?}");
        }
        assert!(after.len() >= before.len());
        before = after;
    }
    assert!(before.len() > 100, "the schema was not read: {before:?}");
}

async fn columns(database: &DatabaseConnection) -> BTreeMap<ColumnName, Column> {
    let query = Statement::from_string(database.get_database_backend(), COLUMNS);
    let rows = database.query_all_raw(query).await.unwrap();
    let read = rows.iter().map(|row| {
        let column = Column {
            kind: row.try_get("", "kind").unwrap(),
            is_required: row.try_get::<i32>("", "is_required").unwrap() != 0,
            default: row.try_get("", "default_value").unwrap(),
            in_key: row.try_get("", "in_key").unwrap(),
        };
        ((row.try_get("", "of_table").unwrap(), row.try_get("", "name").unwrap()), column)
    });
    read.collect()
}
