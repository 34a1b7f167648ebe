//! Columns by name. What is stored declares its columns once, with [`record!`] or [`selection!`]; the lists of SELECT,
//! INSERT and of what an upsert replaces, the arguments of a row and how it is read all follow from that declaration. So
//! nobody counts columns, and none can be read as another.

mod value;

use bourse_wire::{ChainId, ProjectId};

use crate::StoreError;
use crate::args::Arg;
use crate::collections::CollectionId;
use crate::row::{Cell, Row};
pub(crate) use value::{Known, Value};

/// A column in a list of columns.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// The table that it is of; nothing for an expression.
    pub(crate) table: Option<&'static str>,
    /// Its name, or an expression.
    pub(crate) name: &'static str,
}

/// What can be read from columns.
pub(crate) trait Columns: Sized {
    /// Names the columns, in the order in which they are read and bound.
    fn columns(list: &mut Vec<Column>);

    /// Reads the next columns.
    fn read(reader: &mut Reader<'_>) -> Result<Self, StoreError>;
}

/// What is written as a row of a table, or as a part of one.
pub(crate) trait Record {
    const TABLE: &'static str;
    /// The columns of the key, as `ON CONFLICT` wants them.
    const KEY: &'static str;

    /// Names the columns, in the order in which they are bound.
    fn names(list: &mut Vec<&'static str>);

    /// Appends the values of the columns.
    fn bind(&self, args: &mut Vec<Arg>) -> Result<(), StoreError>;
}

impl<R: Record> Record for &R {
    const TABLE: &'static str = R::TABLE;
    const KEY: &'static str = R::KEY;

    fn names(list: &mut Vec<&'static str>) {
        R::names(list);
    }

    fn bind(&self, args: &mut Vec<Arg>) -> Result<(), StoreError> {
        (*self).bind(args)
    }
}

/// A record whose columns can be asked for at compile time.
pub(crate) trait Declared {
    const COLUMNS: &'static [&'static str];
}

/// The position of a column. In a constant, a name that is none does not compile.
pub(crate) const fn position(columns: &[&str], name: &str) -> usize {
    let mut position = 0;
    while position < columns.len() {
        if is_same(columns[position].as_bytes(), name.as_bytes()) {
            return position;
        }
        position += 1;
    }
    panic!("there is no such column")
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// Goes through the columns of a row.
pub(crate) struct Reader<'r> {
    row: &'r Row,
    next: usize,
}

impl Reader<'_> {
    /// The value of the next column.
    pub(crate) fn value<T: Value>(&mut self, column: &'static str) -> Result<T, StoreError> {
        let position = self.next;
        self.next += 1;
        T::read(Cell { row: self.row, position, column })
    }
}

/// Reads a row whose columns are those of `T`.
pub(crate) fn read<T: Columns>(row: &Row) -> Result<T, StoreError> {
    T::read(&mut Reader { row, next: 0 })
}

/// `table.one, table.other`.
pub(crate) fn list<T: Columns>() -> String {
    let (mut columns, mut text) = (Vec::new(), String::new());
    T::columns(&mut columns);
    for (index, Column { table, name }) in columns.into_iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ", " });
        if let Some(table) = table {
            text.extend([table, "."]);
        }
        text.push_str(name);
    }
    text
}

/// Whose rows are written: the column that comes before those of the records, and its value.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    column: &'static str,
    number: u64,
}

impl From<CollectionId> for Owner {
    fn from(id: CollectionId) -> Self {
        Self { column: "collection_id", number: id.0 }
    }
}

impl From<ProjectId> for Owner {
    fn from(project: ProjectId) -> Self {
        Self { column: "project_id", number: project.get() }
    }
}

impl From<ChainId> for Owner {
    fn from(chain: ChainId) -> Self {
        Self { column: "chain_id", number: chain.0 }
    }
}

/// Rows to be inserted.
pub(crate) struct Insert {
    /// `table (owner, one, other)`.
    pub(crate) into: String,
    pub(crate) rows: Vec<Vec<Arg>>,
    /// How to find out which rows are there already, where nobody else can add any meanwhile.
    pub(crate) held: Option<HeldKey>,
    /// Whether they may be of several owners, which a cluster has in several places.
    pub(crate) is_spread: bool,
    pub(crate) names: Vec<&'static str>,
}

/// The key of rows of a collection that is held.
pub(crate) struct HeldKey {
    pub(crate) table: &'static str,
    /// Its columns behind the collection, each with its position in a row.
    pub(crate) columns: Vec<(&'static str, usize)>,
    /// Whether the rows are likely to have a place by themselves in the order of their keys.
    pub(crate) is_in_a_row: bool,
}

impl Insert {
    /// Rows as they are, whoever owns them, into these columns of a table.
    pub(crate) fn plain(table: &str, columns: &str, rows: Vec<Vec<Arg>>) -> Self {
        Self { into: format!("{table} ({columns})"), rows, held: None, is_spread: true, names: Vec::new() }
    }

    /// Says that whoever inserts holds the collection that all rows are of, and that they have the key of these records.
    pub(crate) fn held<R: Record>(mut self) -> Self {
        let key = R::KEY.split(", ").skip(1);
        let place = |name: &'static str| Some((name, self.names.iter().position(|known| *known == name)?));
        let columns: Vec<_> = key.clone().filter_map(place).collect();
        debug_assert_eq!(columns.len(), key.count(), "the key of {} is not in {:?}", R::TABLE, self.names);
        self.held = Some(HeldKey { table: R::TABLE, columns, is_in_a_row: false });
        self
    }

    /// The same of rows that mostly come in the order of their keys, as files and contracts have them, and each once.
    pub(crate) fn held_in_a_row<R: Record>(self) -> Self {
        let mut insert = self.held::<R>();
        insert.held.iter_mut().for_each(|key| key.is_in_a_row = true);
        insert
    }

    /// Records that name their owner themselves, or have none.
    pub(crate) fn of<R: Record>(records: impl IntoIterator<Item = R>) -> Result<Self, StoreError> {
        Self::with(None, records)
    }

    /// Records of an owner.
    pub(crate) fn owned<R: Record>(
        owner: impl Into<Owner>,
        records: impl IntoIterator<Item = R>,
    ) -> Result<Self, StoreError> {
        Self::with(Some(owner.into()), records)
    }

    fn with<R: Record>(
        owner: Option<Owner>,
        records: impl IntoIterator<Item = R>,
    ) -> Result<Self, StoreError> {
        let mut names: Vec<&'static str> = owner.iter().map(|owner| owner.column).collect();
        R::names(&mut names);
        let row = |record: R| {
            let mut args = Vec::with_capacity(names.len());
            args.extend(owner.iter().map(|owner| Arg::from(owner.number)));
            record.bind(&mut args)?;
            Ok(args)
        };
        let rows = records.into_iter().map(row).collect::<Result<_, StoreError>>()?;
        Ok(Self::named::<R>(names, rows))
    }

    /// Records of an owner that are bound already.
    pub(crate) fn values<R: Record>(
        owner: impl Into<Owner>,
        mut rows: Vec<Vec<Arg>>,
    ) -> Result<Self, StoreError> {
        let owner = owner.into();
        let mut names = vec![owner.column];
        R::names(&mut names);
        for row in &mut rows {
            row.insert(0, Arg::from(owner.number));
            if row.len() != names.len() {
                let reason = format!("{} values for {} columns", row.len(), names.len());
                return Err(StoreError::corrupt(R::TABLE, reason));
            }
        }
        Ok(Self::named::<R>(names, rows))
    }

    fn named<R: Record>(names: Vec<&'static str>, rows: Vec<Vec<Arg>>) -> Self {
        let into = format!("{} ({})", R::TABLE, names.join(", "));
        Self { into, rows, held: None, is_spread: false, names }
    }
}

/// `ON CONFLICT (key) DO NOTHING`.
pub(crate) fn or_nothing<R: Record>() -> String {
    format!("ON CONFLICT ({}) DO NOTHING", R::KEY)
}

/// `ON CONFLICT (key) DO UPDATE SET` everything but the key and what is kept.
pub(crate) fn or_replace<R: Record>(kept: &[&str]) -> String {
    let mut names = Vec::new();
    R::names(&mut names);
    debug_assert!(kept.iter().all(|name| names.contains(name)), "{kept:?} of {names:?}");
    names.retain(|name| !kept.contains(name) && !R::KEY.split(", ").any(|key| key == *name));
    or_replace_only::<R>(&names)
}

/// `ON CONFLICT (key) DO UPDATE SET` these columns: an index over others is not touched.
pub(crate) fn or_replace_only<R: Record>(names: &[&str]) -> String {
    let replaced: Vec<String> = names.iter().map(|name| format!("{name} = excluded.{name}")).collect();
    format!("ON CONFLICT ({}) DO UPDATE SET {}", R::KEY, replaced.join(", "))
}

/// The same, where anything is different that is neither the key nor kept nor does not count.
pub(crate) fn or_replace_different<R: Record>(kept: &[&str], uncounted: &[&str]) -> String {
    let mut names = Vec::new();
    R::names(&mut names);
    debug_assert!(uncounted.iter().all(|name| names.contains(name)), "{uncounted:?} of {names:?}");
    names.retain(|name| !kept.contains(name) && !uncounted.contains(name));
    names.retain(|name| !R::KEY.split(", ").any(|key| key == *name));
    let differs = |name: &&str| format!("{}.{name} IS DISTINCT FROM excluded.{name}", R::TABLE);
    let differs: Vec<String> = names.iter().map(differs).collect();
    format!("{} WHERE {}", or_replace::<R>(kept), differs.join(" OR "))
}

/// The name of a column: that of the member, unless another is given.
macro_rules! column_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident = $name:literal) => {
        $name
    };
}
pub(crate) use column_name;

/// Declares the columns of rows of a table, `record! { Type: "table" ("key, columns") { member, other = "column" } }`, in the
/// order in which they are bound. Every member of the type is named, or it does not compile. With `struct` before it the
/// type is declared along with its columns, which then have types: `member: Type = "column"`.
macro_rules! record {
    ($(#[$meta:meta])* $visibility:vis struct $type:ident: $table:literal ($key:literal) {
        $($field:ident: $of:ty $(= $name:literal)?),* $(,)?
    }) => {
        $(#[$meta])*
        $visibility struct $type {
            $($visibility $field: $of,)*
        }
        $crate::columns::record! { $type: $table ($key) { $($field $(= $name)?),* } }
    };
    ($type:ident: $table:literal ($key:literal) { $($field:ident $(= $name:literal)?),* $(,)? }) => {
        impl $crate::columns::Declared for $type {
            const COLUMNS: &'static [&'static str] =
                &[$($crate::columns::column_name!($field $(= $name)?)),*];
        }

        impl $crate::columns::Columns for $type {
            fn columns(list: &mut Vec<$crate::columns::Column>) {
                let names = <Self as $crate::columns::Declared>::COLUMNS;
                list.extend(names.iter().map(|name| $crate::columns::Column { table: Some($table), name }));
            }

            fn read(reader: &mut $crate::columns::Reader<'_>) -> Result<Self, $crate::StoreError> {
                Ok($type { $($field: reader.value($crate::columns::column_name!($field $(= $name)?))?,)* })
            }
        }

        impl $crate::columns::Record for $type {
            const TABLE: &'static str = $table;
            const KEY: &'static str = $key;

            fn names(list: &mut Vec<&'static str>) {
                list.extend(<Self as $crate::columns::Declared>::COLUMNS);
            }

            fn bind(&self, args: &mut Vec<$crate::args::Arg>) -> Result<(), $crate::StoreError> {
                let $type { $($field),* } = self;
                $(args.push($crate::columns::Value::arg($field)?);)*
                Ok(())
            }
        }

        #[cfg(feature = "testing")]
        impl $crate::testing::Members for $type {
            fn members(&mut self) -> Vec<(&'static str, &mut dyn std::any::Any)> {
                let $type { $($field),* } = self;
                vec![$((stringify!($field), $field)),*]
            }
        }
    };
}
pub(crate) use record;

/// Declares what a statement selects and nobody inserts: columns of several tables, sums and the like. Names are taken as
/// they stand.
macro_rules! selection {
    ($(#[$meta:meta])* $visibility:vis struct $type:ident {
        $($field:ident: $of:ty $(= $name:literal)?),* $(,)?
    }) => {
        $(#[$meta])*
        $visibility struct $type {
            $($visibility $field: $of,)*
        }
        $crate::columns::selection! { $type { $($field $(= $name)?),* } }
    };
    ($type:ident { $($field:ident $(= $name:literal)?),* $(,)? }) => {
        impl $crate::columns::Columns for $type {
            fn columns(list: &mut Vec<$crate::columns::Column>) {
                let names = [$($crate::columns::column_name!($field $(= $name)?)),*];
                list.extend(names.map(|name| $crate::columns::Column { table: None, name }));
            }

            fn read(reader: &mut $crate::columns::Reader<'_>) -> Result<Self, $crate::StoreError> {
                Ok($type { $($field: reader.value($crate::columns::column_name!($field $(= $name)?))?,)* })
            }
        }
    };
}
pub(crate) use selection;

/// What an outer join may find nothing of: the first column of what there is always has a value.
impl<T: Columns> Columns for Option<T> {
    fn columns(list: &mut Vec<Column>) {
        T::columns(list);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, StoreError> {
        let first = Cell { row: reader.row, position: reader.next, column: "outer join" };
        if !first.is_null()? {
            return T::read(reader).map(Some);
        }
        let mut nothing = Vec::new();
        T::columns(&mut nothing);
        reader.next += nothing.len();
        Ok(None)
    }
}

/// Columns one after the other.
macro_rules! together {
    ($($part:ident)* ; $last:ident) => {
        impl<$($part: Columns,)* $last: Columns> Columns for ($($part,)* $last) {
            fn columns(list: &mut Vec<Column>) {
                $($part::columns(list);)*
                $last::columns(list);
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, StoreError> {
                Ok(($($part::read(reader)?,)* $last::read(reader)?))
            }
        }
    };
}
together! { A; B }
together! { A B; C }

impl<A: Record, B: Record> Record for (A, B) {
    const TABLE: &'static str = A::TABLE;
    const KEY: &'static str = A::KEY;

    fn names(list: &mut Vec<&'static str>) {
        A::names(list);
        B::names(list);
    }

    fn bind(&self, args: &mut Vec<Arg>) -> Result<(), StoreError> {
        self.0.bind(args)?;
        self.1.bind(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowCopy;

    record! {
        #[derive(Debug, PartialEq)]
        struct Shelf: "shelves" ("collection_id, place") {
            place: u64,
            label: Option<String> = "label_text",
            full: bool,
        }
    }

    selection! {
        #[derive(Debug, PartialEq)]
        struct Sum {
            places: u64 = "COUNT(*)",
        }
    }

    const SHELF: Shelf = Shelf { place: 3, label: None, full: true };

    #[test]
    fn statements_follow_from_the_declaration() {
        assert_eq!(list::<(Shelf, Sum)>(), "shelves.place, shelves.label_text, shelves.full, COUNT(*)");
        let insert = Insert::owned(CollectionId(7), [SHELF]).unwrap();
        assert_eq!(insert.into, "shelves (collection_id, place, label_text, full)");
        let values = [Arg::from(7_u64), Arg::from(3_u64), Arg::Text(None), Arg::Bool(true)];
        assert_eq!(insert.rows, [values]);
        assert_eq!(or_nothing::<Shelf>(), "ON CONFLICT (collection_id, place) DO NOTHING");
        assert_eq!(
            or_replace_different::<Shelf>(&[], &["full"]),
            "ON CONFLICT (collection_id, place) DO UPDATE SET label_text = excluded.label_text, \
            full = excluded.full WHERE shelves.label_text IS DISTINCT FROM excluded.label_text"
        );
        assert_eq!(
            or_replace::<Shelf>(&["label_text"]),
            "ON CONFLICT (collection_id, place) DO UPDATE SET full = excluded.full"
        );
    }

    #[test]
    fn columns_are_read_in_the_order_of_the_declaration() {
        let mut row = RowCopy::default();
        row.push_int(3);
        row.push_null();
        row.push_int(1);
        row.push_int(12);
        assert_eq!(read::<(Shelf, Sum)>(&Row::Copied(row)).unwrap(), (SHELF, Sum { places: 12 }));
        assert_eq!(const { position(Shelf::COLUMNS, "full") }, 2);
    }

    #[test]
    fn what_there_is_nothing_of_is_read_over() {
        for (columns, shelf) in [([None; 3], None), ([Some(3), None, Some(1)], Some(SHELF))] {
            let mut row = RowCopy::default();
            for number in columns.into_iter().chain([Some(12)]) {
                match number {
                    Some(number) => row.push_int(number),
                    None => row.push_null(),
                }
            }
            let found = read::<(Option<Shelf>, Sum)>(&Row::Copied(row)).unwrap();
            assert_eq!(found, (shelf, Sum { places: 12 }));
        }
    }

    #[test]
    fn what_is_bound_elsewhere_must_fit() {
        let values = |count: u64| vec![(0..count).map(Arg::from).collect::<Vec<_>>()];
        assert!(Insert::values::<Shelf>(CollectionId(7), values(3)).is_ok());
        assert!(Insert::values::<Shelf>(CollectionId(7), values(2)).is_err());
    }

    #[test]
    fn a_value_that_is_none_tells_its_column() {
        let mut row = RowCopy::default();
        row.push_text("three");
        let error = read::<Shelf>(&Row::Copied(row)).unwrap_err();
        assert_eq!(error.to_string(), "stored place cannot be read: it is no number");
    }
}
