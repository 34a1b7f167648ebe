//! The tables that are moved, and what is in their columns.

use crate::StoreError;
use crate::args::{Arg, args};
use crate::columns::selection;
use crate::migrate::Migration;
use crate::row::{Cell, Row};
use crate::session::Session;

/// A table of both databases.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: Vec<Column>,
}

#[derive(Clone)]
struct Column {
    name: String,
    kind: Kind,
}

/// The types that columns have.
#[derive(Clone, Copy)]
enum Kind {
    Int,
    Text,
    Bool,
    Bytes,
}

impl Kind {
    /// A type as PostgreSQL calls it.
    fn of(data_type: &str) -> Option<Self> {
        match data_type {
            "bigint" => Some(Self::Int),
            "text" => Some(Self::Text),
            "boolean" => Some(Self::Bool),
            "bytea" => Some(Self::Bytes),
            _ => None,
        }
    }
}

/// All tables, those first that others refer to.
pub(super) async fn read(session: &mut Session<'_>) -> Result<Vec<Table>, StoreError> {
    selection! {
        struct Described {
            name: String = "column_name::TEXT",
            data_type: String = "data_type::TEXT",
        }
    }
    let mut tables = Vec::new();
    for (name, _) in Migration::ALL.iter().flat_map(|migration| migration.layout) {
        let sql = "FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1
            ORDER BY ordinal_position";
        let described: Vec<Described> = session.select(sql, args![*name]).await?;
        let column = |Described { name: column, data_type }| match Kind::of(&data_type) {
            Some(kind) => Ok(Column { name: column, kind }),
            None => Err(StoreError::corrupt(name, format_args!("`{column}` is of type {data_type}"))),
        };
        tables.push(Table { name, columns: described.into_iter().map(column).collect::<Result<_, _>>()? });
    }
    Ok(tables)
}

impl Table {
    /// The columns, for a statement.
    pub(super) fn list(&self) -> String {
        self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether migrations put rows into it, which those that are moved take the place of.
    pub(super) fn is_seeded(&self) -> bool {
        self.name == "revisions"
    }

    /// The values of a row that has the columns from one on.
    pub(super) fn values(&self, row: &Row, first: usize) -> Result<Vec<Arg>, StoreError> {
        let value = |(column, position): (&Column, usize)| {
            let cell = Cell { row, position, column: self.name };
            Ok(match column.kind {
                Kind::Int => Arg::Int(cell.opt_i64()?),
                Kind::Text => Arg::Text(cell.opt_str()?.map(str::to_owned)),
                Kind::Bool => Arg::Bool(cell.bool()?),
                Kind::Bytes => Arg::Bytes(cell.bytes()?.to_vec()),
            })
        };
        self.columns.iter().zip(first..).map(value).collect()
    }
}
