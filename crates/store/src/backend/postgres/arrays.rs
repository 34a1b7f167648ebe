//! Rows as an array for each of their columns. A statement that takes them has the same text for any number of rows, so that
//! it is parsed and planned once for each connection, and its arguments are as few as the columns.

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Postgres};

use super::Borrowed;
use crate::StoreError;
use crate::args::Arg;
use crate::row::Row;
#[cfg(feature = "testing")]
use crate::testing::citus_rules;
#[cfg(feature = "testing")]
use crate::testing::fan_out::{self, EXPLAIN};

/// Rows or keys that one statement takes, so that no message becomes too large.
const ROWS_PER_STATEMENT: usize = 5_000;

/// Rows in parts that one statement takes each.
pub(crate) fn chunks(rows: Vec<Vec<Arg>>) -> impl Iterator<Item = Vec<Vec<Arg>>> {
    let mut rows = rows.into_iter();
    std::iter::from_fn(move || {
        let chunk: Vec<Vec<Arg>> = rows.by_ref().take(ROWS_PER_STATEMENT).collect();
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// The columns of some rows.
#[derive(Clone)]
pub(crate) struct Arrays(Vec<Array>);

/// The values of one column.
#[derive(Clone)]
enum Array {
    Int(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Bool(Vec<bool>),
    Bytes(Vec<Vec<u8>>),
}

impl Array {
    /// An empty one for values like this.
    fn like(value: &Arg, length: usize) -> Self {
        match value {
            Arg::Int(_) => Self::Int(Vec::with_capacity(length)),
            Arg::Text(_) => Self::Text(Vec::with_capacity(length)),
            Arg::Bool(_) => Self::Bool(Vec::with_capacity(length)),
            Arg::Bytes(_) => Self::Bytes(Vec::with_capacity(length)),
        }
    }

    fn push(&mut self, value: Arg) -> Result<(), StoreError> {
        match (self, value) {
            (Self::Int(values), Arg::Int(value)) => values.push(value),
            (Self::Text(values), Arg::Text(value)) => values.push(value),
            (Self::Bool(values), Arg::Bool(value)) => values.push(value),
            (Self::Bytes(values), Arg::Bytes(value)) => values.push(value),
            _ => return Err(StoreError::corrupt("statement", "values of two types in one column")),
        }
        Ok(())
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Int(_) => "BIGINT[]",
            Self::Text(_) => "TEXT[]",
            Self::Bool(_) => "BOOLEAN[]",
            Self::Bytes(_) => "BYTEA[]",
        }
    }

    fn bind(self, query: Query<'_, Postgres, PgArguments>) -> Query<'_, Postgres, PgArguments> {
        match self {
            Self::Int(values) => query.bind(values),
            Self::Text(values) => query.bind(values),
            Self::Bool(values) => query.bind(values),
            Self::Bytes(values) => query.bind(values),
        }
    }
}

impl Arrays {
    /// The columns of rows that have as many values each, of the same types.
    pub(crate) fn of(rows: Vec<Vec<Arg>>) -> Result<Self, StoreError> {
        let length = rows.len();
        let like = |first: &Vec<Arg>| first.iter().map(|value| Array::like(value, length)).collect();
        let mut arrays: Vec<Array> = rows.first().map(like).unwrap_or_default();
        for row in rows {
            if row.len() != arrays.len() {
                return Err(StoreError::corrupt("statement", "rows of two lengths"));
            }
            for (array, value) in arrays.iter_mut().zip(row) {
                array.push(value)?;
            }
        }
        Ok(Self(arrays))
    }

    /// How many arguments they are: those of `rows`, from the first on.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// `UNNEST($1::BIGINT[],$2::TEXT[])`: the rows.
    pub(crate) fn rows(&self) -> String {
        let typed = |(array, number): (&Array, usize)| format!("${number}::{}", array.type_name());
        let arrays: Vec<String> = self.0.iter().zip(1..).map(typed).collect();
        format!("UNNEST({})", arrays.join(","))
    }

    /// Runs a statement whose first arguments these are, and which may have one number more; reads all its rows.
    pub(crate) async fn run(
        self,
        connection: &mut Borrowed<'_>,
        sql: String,
        number: Option<i64>,
    ) -> Result<Vec<Row>, StoreError> {
        #[cfg(feature = "testing")]
        citus_rules::check(&sql)?;
        #[cfg(feature = "testing")]
        if fan_out::is_new(&sql) {
            let explained = self.clone().query(format!("{EXPLAIN} {sql}"), number);
            fan_out::check(connection, &sql, explained).await?;
        }
        let again = connection.is_untried().then(|| self.clone().query(sql.clone(), number));
        let rows = connection.fetch_all(self.query(sql, number), again).await?;
        Ok(rows.into_iter().map(Row::Postgres).collect())
    }

    fn query(self, sql: String, number: Option<i64>) -> Query<'static, Postgres, PgArguments> {
        let query =
            self.0.into_iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, array| array.bind(query));
        number.into_iter().fold(query, Query::bind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::args;

    #[test]
    fn any_number_of_rows_are_as_many_arguments_as_columns() {
        let row = |number: u64| vec![number.into(), "text".into(), true.into(), vec![7_u8].into()];
        let one = Arrays::of(vec![row(1)]).unwrap();
        let three = Arrays::of(vec![row(1), row(2), row(3)]).unwrap();
        assert_eq!(one.rows(), "UNNEST($1::BIGINT[],$2::TEXT[],$3::BOOLEAN[],$4::BYTEA[])");
        assert_eq!((three.rows(), three.len()), (one.rows(), one.len()));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert!(Arrays::of(vec![args![1_u64], args!["one"]]).is_err());
        assert!(Arrays::of(vec![args![1_u64], args![1_u64, 2_u64]]).is_err());
    }
}
