//! Statements that write and that nothing is read of, on their way together.

use crate::StoreError;
use crate::args::Arg;
use crate::columns::Insert;
use crate::session::{Session, list};
#[cfg(feature = "testing")]
use crate::testing::citus_rules;

/// Stands in a statement for the number that is drawn with it.
pub(crate) const DRAWN: &str = "<drawn>";

/// A statement that writes. Those that go together write different rows, and none depends on what another wrote.
pub(crate) struct Statement {
    sql: String,
    args: Vec<Arg>,
}

impl Statement {
    pub(crate) fn new(sql: impl Into<String>, args: Vec<Arg>) -> Self {
        Self { sql: sql.into(), args }
    }

    /// Rows that are not there. They are few: each of their values is an argument.
    pub(crate) fn insert(Insert { into, rows, .. }: Insert) -> Self {
        let values = |(place, row): (usize, &Vec<Arg>)| format!("({})", list(row.len(), place * row.len()));
        let values: Vec<String> = rows.iter().enumerate().map(values).collect();
        let sql = format!("INSERT INTO {into} VALUES {}", values.join(", "));
        Self { sql, args: rows.into_iter().flatten().collect() }
    }

    /// With an argument for the number that was drawn.
    fn with_drawn(mut self, number: u64) -> Self {
        if self.sql.contains(DRAWN) {
            self.args.push(number.into());
            self.sql = self.sql.replace(DRAWN, &format!("${}", self.args.len()));
        }
        self
    }
}

impl Session<'_> {
    /// Runs statements that write. Gives the number that was drawn with them, by which what changes is known again. PostgreSQL
    /// takes all of it as one statement, which is one way there and back. A cluster would run the parts of such a statement one
    /// by one in any case.
    pub(crate) async fn write_drawing(&mut self, statements: Vec<Statement>) -> Result<u64, StoreError> {
        if self.takes_joined() {
            #[cfg(feature = "testing")]
            statements.iter().try_for_each(|statement| citus_rules::check(&statement.sql))?;
            let (sql, args) = joined(statements);
            let drawn = self.value(sql, args).await?;
            return drawn.ok_or_else(|| StoreError::corrupt("random number", "missing"));
        }
        let drawn = self.draw().await?;
        for statement in statements {
            let Statement { sql, args } = statement.with_drawn(drawn);
            self.execute(sql, args).await?;
        }
        Ok(drawn)
    }

    fn takes_joined(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(connection) => !connection.is_on_cluster(),
        }
    }
}

/// One statement of PostgreSQL that draws, and runs all of these, whose arguments are counted through.
fn joined(statements: Vec<Statement>) -> (String, Vec<Arg>) {
    let drawn = "drawn AS (SELECT (random() * 9007199254740991)::bigint AS number)".to_owned();
    let (mut parts, mut all) = (vec![drawn], Vec::new());
    for (place, Statement { sql, args }) in statements.into_iter().enumerate() {
        let sql = shifted(&sql, all.len()).replace(DRAWN, "(SELECT number FROM drawn)");
        parts.push(format!("part{place} AS ({sql})"));
        all.extend(args);
    }
    (format!("WITH {} SELECT number FROM drawn", parts.join(", ")), all)
}

/// A statement whose arguments come after so many others.
fn shifted(sql: &str, by: usize) -> String {
    let mut parts = sql.split('$');
    let mut shifted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, rest) = part.split_at(digits);
        shifted.push('$');
        match number.parse::<usize>() {
            Ok(number) => shifted.push_str(&(number + by).to_string()),
            Err(_) => shifted.push_str(number),
        }
        shifted.push_str(rest);
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::args;

    #[test]
    fn arguments_are_counted_through() {
        let statements = vec![
            Statement::new(
                "UPDATE shelves SET stamp = <drawn> WHERE place = $1 AND label = $2",
                args![3_u64, "a"],
            ),
            Statement::new("DELETE FROM shelves WHERE place <= $1", args![2_u64]),
        ];
        let (sql, args) = joined(statements);
        let parts = "part0 AS (UPDATE shelves SET stamp = (SELECT number FROM drawn) WHERE place = $1 AND label = $2), \
            part1 AS (DELETE FROM shelves WHERE place <= $3) SELECT number FROM drawn";
        assert!(sql.ends_with(parts), "{sql}");
        assert_eq!(args, args![3_u64, "a", 2_u64]);
        assert_eq!(shifted("$1, $12,$2", 9), "$10, $21,$11");
    }

    #[test]
    fn one_by_one_the_number_is_an_argument() {
        let statement = Statement::new("UPDATE shelves SET stamp = <drawn> WHERE place = $1", args![3_u64]);
        let Statement { sql, args } = statement.with_drawn(7);
        assert_eq!(sql, "UPDATE shelves SET stamp = $2 WHERE place = $1");
        assert_eq!(args, args![3_u64, 7_u64]);
    }

    #[test]
    fn rows_are_values() {
        let rows = vec![args![1_u64, "a"], args![2_u64, "b"]];
        let Statement { sql, args } = Statement::insert(Insert::plain("shelves", "place, label", rows));
        assert_eq!(sql, "INSERT INTO shelves (place, label) VALUES ($1,$2), ($3,$4)");
        assert_eq!(args, args![1_u64, "a", 2_u64, "b"]);
    }
}
