//! Contacts as people have them: lines that were pasted, or a table saved from a spreadsheet.

use std::collections::HashMap;

use bourse_server::spreadsheet::unguarded;
use bourse_wire::{Address, ContactInput, Email, Error, Text};
use csv::{ReaderBuilder, StringRecord, Trim};

/// The most contacts at once: more than that is a job for `bourse import`.
const CONTACTS_MAX: usize = 50_000;

/// What columns may be separated by. Spreadsheets write semicolons where a comma stands in decimal numbers.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// A table that was read.
#[derive(Default)]
pub(super) struct Sheet {
    /// The contacts, each address once: of several lines the last counts.
    pub(super) contacts: Vec<ContactInput>,
    /// Lines that cannot be taken, in order.
    pub(super) wrong: Vec<Remark>,
    /// Lines that give way to a later one with the same address, in order.
    pub(super) repeated: Vec<Remark>,
}

/// Something to know about a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    /// Counted from 1.
    pub(super) line: u64,
    pub(super) reason: String,
}

/// Which column has what.
#[derive(Clone, Copy)]
enum Columns {
    /// Address, name and e-mail in this order.
    Usual,
    /// As the first line says; what else it names is left alone.
    Named { address: usize, name: Option<usize>, email: Option<usize> },
}

impl Sheet {
    /// Reads what was pasted, or a file.
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        let text = text.trim_start_matches('\u{feff}');
        let separator = separator_of(text);
        let text = without_padding(text, separator);
        let mut table = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(u8::try_from(separator).unwrap_or(b','))
            .from_reader(text.as_bytes());
        let mut lines: Vec<(u64, ContactInput)> = Vec::new();
        let (mut sheet, mut columns) = (Self::default(), None);
        for record in table.records() {
            let record = record.map_err(|error| Error::invalid("contacts", error))?;
            if record.iter().all(str::is_empty) {
                continue;
            }
            let line = line_of(&record, &text);
            if columns.is_none() {
                let named = Columns::named(&record);
                columns = Some(named.unwrap_or(Columns::Usual));
                if named.is_some() {
                    continue;
                }
            }
            match columns.unwrap_or(Columns::Usual).contact(&record) {
                Ok(contact) => lines.push((line, contact)),
                Err(reason) => sheet.wrong.push(Remark { line, reason }),
            }
            if lines.len() > CONTACTS_MAX {
                let reason = format!("more than {CONTACTS_MAX} at once: send them in several parts");
                return Err(Error::invalid("contacts", reason));
            }
        }
        sheet.keep_last(lines);
        Ok(sheet)
    }

    /// Reads a file, which must be text.
    pub(super) fn read_file(content: &[u8]) -> Result<Self, Error> {
        let text = str::from_utf8(content).map_err(|error| {
            let line = content[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            let reason = format!("line {line} is not UTF-8 text: save it as CSV UTF-8");
            Error::invalid("file", reason)
        })?;
        Self::read(text)
    }

    /// The contacts as text that reads as the same contacts again.
    pub(super) fn to_text(&self) -> Result<String, csv::Error> {
        let mut table = csv::Writer::from_writer(Vec::new());
        for contact in &self.contacts {
            let (name, email) = texts(contact);
            table.write_record([&contact.address.to_string(), name, &email])?;
        }
        let bytes = table.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn keep_last(&mut self, lines: Vec<(u64, ContactInput)>) {
        let last: HashMap<Address, u64> =
            lines.iter().map(|(line, contact)| (contact.address, *line)).collect();
        for (line, contact) in lines {
            match last.get(&contact.address) {
                Some(later) if *later != line => {
                    let reason = format!("{} comes again in line {later}, which counts", contact.address);
                    self.repeated.push(Remark { line, reason });
                }
                _ => self.contacts.push(contact),
            }
        }
    }
}

/// Name and e-mail of a contact, empty where it has none.
pub(super) fn texts(contact: &ContactInput) -> (&str, String) {
    let name = contact.name.as_ref().map_or("", Text::as_str);
    (name, contact.email.as_ref().map(ToString::to_string).unwrap_or_default())
}

impl Columns {
    /// The columns of a first line that has names instead of a contact.
    fn named(first: &StringRecord) -> Option<Self> {
        let place = |names: &[&str]| {
            first.iter().position(|field| {
                let word: String =
                    field.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
                names.contains(&word.as_str())
            })
        };
        Some(Self::Named {
            address: place(&["address", "walletaddress", "wallet", "account"])?,
            name: place(&["name", "fullname", "displayname"]),
            email: place(&["email", "emailaddress", "mail"]),
        })
    }

    fn contact(self, record: &StringRecord) -> Result<ContactInput, String> {
        let field = |place: Option<usize>| place.and_then(|place| record.get(place)).unwrap_or_default();
        let (address, name, email) = match self {
            Self::Named { address, name, email } => (field(Some(address)), field(name), field(email)),
            Self::Usual if record.iter().skip(3).any(|field| !field.is_empty()) => {
                return Err(format!(
                    "{} columns where address, name and e-mail are expected: put quotation marks around a name with a \
                    separator in it",
                    record.len()
                ));
            }
            // The name is often left out.
            Self::Usual if field(Some(2)).is_empty() && is_email(field(Some(1))) => {
                (field(Some(0)), "", field(Some(1)))
            }
            Self::Usual => (field(Some(0)), field(Some(1)), field(Some(2))),
        };
        if address.is_empty() {
            return Err("the address is missing".to_owned());
        }
        let name = unguarded(name);
        if name.contains(['\n', '\r']) {
            return Err("the name goes over several lines: is a quotation mark missing?".to_owned());
        }
        Ok(ContactInput {
            address: address.parse().map_err(|error| format!("{error}"))?,
            name: Some(name.parse().map_err(|error| format!("name: {error}"))?),
            email: Some(unguarded(email).parse().map_err(|error| format!("{error}"))?),
        })
    }
}

fn is_email(text: &str) -> bool {
    !text.is_empty() && text.parse::<Email>().is_ok()
}

/// What the first line with something in it separates columns by: it begins with an address or with a word.
fn separator_of(text: &str) -> char {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut outside = first.split('"').step_by(2).flat_map(str::chars);
    outside.find(|c| SEPARATORS.contains(c)).unwrap_or(',')
}

/// The text without spaces behind separators: with one before it, a quotation mark would be a letter like any other.
fn without_padding(text: &str, separator: char) -> String {
    let mut tight = String::with_capacity(text.len());
    let (mut is_start, mut is_quoted) = (true, false);
    for c in text.chars() {
        if is_start && c == ' ' {
            continue;
        }
        if c == '"' && (is_start || is_quoted) {
            is_quoted = !is_quoted;
        }
        is_start = !is_quoted && (c == separator || c == '\n' || c == '\r');
        tight.push(c);
    }
    tight
}

/// The line that a record begins in. The reader tells where it began to look, which may be empty lines before.
fn line_of(record: &StringRecord, text: &str) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let before = text.bytes().skip(start).take_while(|byte| matches!(byte, b'\n' | b'\r'));
    position.line() + before.filter(|byte| *byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "0x00000000000000000000000000000000000000ad";
    const BOB: &str = "0x00000000000000000000000000000000000000b0";

    /// The contacts, each as text, and the lines that are wrong.
    fn read(text: &str) -> (Vec<String>, Vec<u64>) {
        let sheet = Sheet::read(text).unwrap();
        let shown = sheet.contacts.iter().map(|contact| {
            let (name, email) = texts(contact);
            format!("{}|{name}|{email}", &contact.address.to_string()[40..])
        });
        (shown.collect(), sheet.wrong.iter().map(|remark| remark.line).collect())
    }

    #[test]
    fn lines_are_read_however_they_are_written() {
        let expected = vec!["ad|Ada|ada@mail.example".to_owned(), "b0||".to_owned()];
        for text in [
            format!("{ADA}, Ada, ada@mail.example\n{BOB}"),
            format!("{ADA},Ada,ada@mail.example\r\n{BOB},,\r\n"),
            format!("\u{feff}{ADA};Ada;ada@mail.example\n\n  \n{BOB};"),
            format!("{ADA}\t Ada\tada@mail.example\n{BOB}\t\t"),
            format!("Wallet Address;E-Mail;Since;Name\n{ADA};ada@mail.example;2024;Ada\n{BOB};;;\n"),
            format!("{ADA}, \"Ada\" , \"ada@mail.example\"\n\"{BOB}\""),
        ] {
            assert_eq!(read(&text), (expected.clone(), vec![]), "{text:?}");
        }
        let named = format!("{ADA}, \"Lovelace; Ada, Countess\"\n{BOB}, bob@mail.example");
        assert_eq!(read(&named).0, ["ad|Lovelace; Ada, Countess|", "b0||bob@mail.example"]);
        assert_eq!(read(""), (vec![], vec![]));
    }

    #[test]
    fn every_wrong_line_is_told_with_its_number() {
        let text = format!(
            "address,name,email\n\n{ADA},Ada,ada\n0x12,Bob,\n,Nobody,\n\n{BOB},{},\n{BOB},B\0b,\n{BOB},Bob,",
            "x".repeat(257)
        );
        let sheet = Sheet::read(&text).unwrap();
        let told: Vec<String> =
            sheet.wrong.iter().map(|remark| format!("{}: {}", remark.line, remark.reason)).collect();
        assert_eq!(
            told,
            [
                "3: `ada` is not an e-mail address",
                "4: `0x12` is not an address: expected 0x and 40 hexadecimal digits",
                "5: the address is missing",
                "7: name: 257 bytes of text where at most 256 are allowed",
                "8: name: text with the character U+0000, which is not allowed",
            ]
        );
        assert_eq!(sheet.contacts.len(), 1);
        let open = read(&format!("{ADA},\"Ada,\n{BOB},Bob\n"));
        assert_eq!(open, (vec![], vec![1]));
        let (_, many) = read(&format!("{ADA},Lovelace, Ada,ada@mail.example"));
        assert_eq!(many, [1]);
    }

    #[test]
    fn of_several_lines_with_one_address_the_last_counts() {
        let upper = ADA.to_uppercase();
        let sheet = Sheet::read(&format!("{ADA},First\n{BOB},Bob\n{upper},Last")).unwrap();
        assert_eq!(sheet.repeated.len(), 1);
        assert_eq!(sheet.repeated[0].line, 1);
        assert!(sheet.repeated[0].reason.contains("line 3"), "{:?}", sheet.repeated);
        let names: Vec<&str> = sheet.contacts.iter().map(|contact| texts(contact).0).collect();
        assert_eq!(names, ["Bob", "Last"]);
    }

    #[test]
    fn what_is_kept_between_two_pages_reads_the_same() {
        // The first line of what is kept has more semicolons than commas.
        let sheet =
            Sheet::read(&format!("{ADA}; \"A \"\"B\"\"; C; D; E\";\n{BOB};'=1+1;bob@mail.example")).unwrap();
        let again = Sheet::read(&sheet.to_text().unwrap()).unwrap();
        assert_eq!(again.contacts, sheet.contacts);
        assert_eq!(texts(&again.contacts[1]).0, "=1+1");
        assert!(again.wrong.is_empty() && again.repeated.is_empty());
    }

    #[test]
    fn files_that_are_not_text_say_where() {
        let Err(error) = Sheet::read_file(b"a\nb\n\xff\xfe") else { panic!("it was read") };
        assert!(error.to_string().contains("line 3"), "{error}");
        assert!(Sheet::read(&format!("{ADA}\n").repeat(CONTACTS_MAX + 1)).is_err());
    }
}
