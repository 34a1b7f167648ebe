//! What somebody looks for, as the address of the page has it: every filter is a field of the query, so that an address
//! can be passed on, and the page of a form that was filled in is the page of its address.

use bourse_wire::Error;
use serde_json::{Value, json};

use crate::property::Property;
use crate::records::Currencies;

mod units;

use units::base_units;

/// Tokens on a page: rows of two, three, four or six.
pub const PAGE_SIZE: u64 = 24;
/// Fields that are looked at; no form has so many.
const FIELDS_MAX: usize = 400;

/// Fields with a name of their own.
const PLAIN: [&str; 14] = [
    "q",
    "side",
    "only",
    "owner",
    "not_owner",
    "maker",
    "not_maker",
    "currency",
    "marketplace",
    "price_min",
    "price_max",
    "price_in",
    "sort",
    "more",
];

/// A way to sort: its word in the address, what it is called, the column and the direction.
pub struct Sort {
    /// Its word in the address.
    pub word: &'static str,
    /// What it is called.
    pub name: &'static str,
    column: &'static str,
    order: &'static str,
}

/// The ways to sort; the first is the usual one.
pub const SORTS: [Sort; 9] = [
    Sort { word: "", name: "Best price first", column: "", order: "" },
    Sort { word: "price", name: "Price, lowest first", column: "price", order: "ASC" },
    Sort { word: "-price", name: "Price, highest first", column: "price", order: "DESC" },
    Sort { word: "-created", name: "Order, newest first", column: "createdAt", order: "DESC" },
    Sort { word: "created", name: "Order, oldest first", column: "createdAt", order: "ASC" },
    Sort { word: "id", name: "Token id, lowest first", column: "tokenId", order: "ASC" },
    Sort { word: "-id", name: "Token id, highest first", column: "tokenId", order: "DESC" },
    Sort { word: "name", name: "Name, A to Z", column: "name", order: "ASC" },
    Sort { word: "-name", name: "Name, Z to A", column: "name", order: "DESC" },
];

/// The filters of an address, in its order.
#[derive(Clone, Debug, Default)]
pub struct Query {
    fields: Vec<(String, String)>,
    page: String,
    after: String,
    /// Whether the address says more than it has to.
    pub is_wordy: bool,
}

impl Query {
    /// Reads an address.
    pub fn read(text: &str) -> Self {
        let fields: Vec<(String, String)> = form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        let first = |name: &str| {
            let found = fields.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let is_known = |name: &str| PLAIN.contains(&name) || Property::of_field(name).is_some();
        let known = |(name, value): &&(String, String)| is_known(name) && !value.trim().is_empty();
        Self {
            is_wordy: fields.iter().any(|(name, value)| is_known(name) && value.trim().is_empty()),
            page: first("page"),
            after: first("after"),
            fields: fields.iter().filter(known).take(FIELDS_MAX).cloned().collect(),
        }
    }

    /// A field; empty when it is not there.
    pub fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default().trim()
    }

    /// Every value of a field.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every field that says something.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Whether anything but the order of what is shown is chosen.
    pub fn is_filtered(&self) -> bool {
        self.fields.iter().any(|(name, _)| !matches!(name.as_str(), "sort" | "side" | "more"))
    }

    /// What is chosen of each property, in the order in which they are named first.
    pub fn properties(&self) -> Vec<Property> {
        let mut found: Vec<Property> = Vec::new();
        for (field, value) in &self.fields {
            let Some((name, given)) = Property::of_field(field) else { continue };
            let place = found.iter().position(|known| known.name == name).unwrap_or_else(|| {
                found.push(Property::new(name));
                found.len() - 1
            });
            found[place].add(given, value);
        }
        found
    }

    /// The side that is asked for.
    pub fn side(&self) -> &str {
        match self.text("side") {
            known @ ("listing" | "offer") => known,
            _ => "unknown",
        }
    }

    /// The filter of the marketplace's operations.
    pub fn filter(&self, currencies: &Currencies) -> Result<Value, Error> {
        let accounts = |name: &str| -> Vec<String> {
            let texts = self.all(name).flat_map(|text| text.split([',', ';', ' ', '\t', '\r', '\n']));
            texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
        };
        let mut filter = json!({
            "includeEmpty": self.text("only").is_empty(),
            "searchText": self.text("q"),
            "properties": self.properties_but(None)?,
            "inAccounts": accounts("owner"),
            "notInAccounts": accounts("not_owner"),
            "ordersCreatedBy": accounts("maker"),
            "ordersNotCreatedBy": accounts("not_maker"),
            "inCurrencyAddresses": self.all("currency").collect::<Vec<_>>(),
            "marketplaces": self.all("marketplace").collect::<Vec<_>>(),
        });
        if let Some(price) = self.price(currencies)? {
            filter["prices"] = json!([price]);
        }
        Ok(filter)
    }

    /// The filter of what properties are counted for; one of them may be left out.
    pub fn counted(&self, without: Option<&str>) -> Result<Value, Error> {
        Ok(json!({ "text": self.text("q"), "properties": self.properties_but(without)? }))
    }

    fn properties_but(&self, without: Option<&str>) -> Result<Vec<Value>, Error> {
        let properties = self.properties();
        let wanted = properties.iter().filter(|property| Some(property.name.as_str()) != without);
        Ok(wanted.map(Property::filters).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The currency that bounds of the price are in: the one that is named, or the only one that can be meant.
    fn price(&self, currencies: &Currencies) -> Result<Option<Value>, Error> {
        let (min, max) = (self.text("price_min"), self.text("price_max"));
        if min.is_empty() && max.is_empty() {
            return Ok(None);
        }
        let chosen: Vec<&str> = self.all("currency").collect();
        let meant = match (self.text("price_in"), chosen.as_slice(), currencies.all.as_slice()) {
            ("", [one], _) => one.parse().ok(),
            ("", _, [one]) => Some(one.contract_address),
            (named, ..) => named.parse().ok(),
        };
        let currency = meant.and_then(|address| currencies.get(address));
        let currency =
            currency.ok_or_else(|| Error::invalid("price", "choose the currency that it is in"))?;
        let bound = |text: &str| match text {
            "" => Ok(None),
            text => base_units(text, currency).map(Some),
        };
        let (min, max) = (bound(min)?, bound(max)?);
        Ok(Some(json!({ "contractAddress": currency.contract_address, "min": min, "max": max })))
    }

    /// Which page, sorted how.
    pub fn page(&self) -> Value {
        let mut page = json!({ "pageSize": PAGE_SIZE });
        if let Some(sort) = SORTS.iter().find(|sort| sort.word == self.text("sort") && !sort.word.is_empty())
        {
            page["sort"] = json!([{ "column": sort.column, "order": sort.order }]);
        }
        if !self.after.is_empty() {
            page["after"] = json!(self.after);
        } else if let Ok(number) = self.page.parse::<u64>() {
            page["page"] = json!(number);
        }
        page
    }

    /// The address of the first page of these filters.
    pub fn link(&self, path: &str) -> String {
        self.with(path, &[])
    }

    /// The same with some fields more.
    pub fn with(&self, path: &str, more: &[(&str, &str)]) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let query = text.extend_pairs(more).finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// The same filters without one.
    pub fn without(&self, name: &str, value: Option<&str>) -> Self {
        let is_it = |field: &(String, String)| field.0 == name && value.is_none_or(|value| field.1 == value);
        let mut left = self.clone();
        left.fields.retain(|field| !is_it(field));
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Currency;

    fn currencies() -> Currencies {
        let currency = |byte: u8, decimals: u8| Currency {
            contract_address: bourse_wire::Address::from_bytes([byte; 20]),
            symbol: format!("C{byte}"),
            name: String::new(),
            decimals,
        };
        Currencies::new(vec![currency(0, 18), currency(1, 6)])
    }

    #[test]
    fn an_address_becomes_the_filter_of_the_operations() {
        let query = Query::read(
            "q=+crown+&side=listing&only=1&owner=0xa%2C+0xb%0D%0A0xc&marketplace=blur&marketplace=x2y2&p.Rarity=Rare\
             &p.Rarity=Epic&v.Sealed=true&min.Power=5&max.Power=10&unknown=1&currency=&sort=-price&page=3",
        );
        let filter = query.filter(&currencies()).unwrap();
        assert_eq!(filter["searchText"], "crown");
        assert_eq!(filter["includeEmpty"], false);
        assert_eq!(filter["inAccounts"], json!(["0xa", "0xb", "0xc"]));
        assert_eq!(filter["marketplaces"], json!(["blur", "x2y2"]));
        assert_eq!(
            filter["properties"],
            json!([
                { "name": "Rarity", "type": "GENERIC", "values": ["Rare", "Epic"] },
                { "name": "Sealed", "type": "GENERIC", "values": [true] },
                { "name": "Power", "type": "INT", "min": 5, "max": 10 },
            ])
        );
        assert_eq!(filter.get("prices"), None);
        assert_eq!(query.counted(Some("Rarity")).unwrap()["properties"].as_array().unwrap().len(), 2);
        let sort = json!([{ "column": "price", "order": "DESC" }]);
        assert_eq!(query.page(), json!({ "pageSize": PAGE_SIZE, "sort": sort, "page": 3 }));
        assert!(query.is_wordy && query.is_filtered());
        assert!(!Query::read("sort=id&side=offer").is_filtered());
    }

    #[test]
    fn links_carry_the_filters_and_nothing_else() {
        let query = Query::read("done=created&p.a%26b=x+y&p.a%26b=z&q=%3Cb%3E&page=7&after=abc&sort=");
        assert_eq!(query.link("/x"), "/x?p.a%26b=x+y&p.a%26b=z&q=%3Cb%3E");
        assert_eq!(query.with("/x", &[("page", "8")]), "/x?p.a%26b=x+y&p.a%26b=z&q=%3Cb%3E&page=8");
        assert_eq!(query.without("p.a&b", Some("z")).without("q", None).link("/x"), "/x?p.a%26b=x+y");
        assert_eq!(Query::read("").link("/x"), "/x");
        assert_eq!(Query::read(&query.link("").replace('?', "")).fields(), query.fields());
    }

    #[test]
    fn a_price_is_in_a_currency_that_is_known() {
        let price =
            |text: &str| Query::read(text).filter(&currencies()).map(|filter| filter["prices"].clone());
        let one = "0x0101010101010101010101010101010101010101";
        let expected = json!([{ "contractAddress": one, "min": "1500000", "max": null }]);
        assert_eq!(price(&format!("price_min=1.5&price_in={one}")).unwrap(), expected);
        assert_eq!(price(&format!("price_min=1.5&currency={one}")).unwrap(), expected);
        assert_eq!(price("price_in=0x12").unwrap(), Value::Null, "nothing is bounded");
        for wrong in
            ["price_min=1", "price_max=1&price_in=usd", &format!("price_min=0.0000001&price_in={one}")]
        {
            assert!(price(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bounds_of_numbers_are_whole_numbers() {
        for wrong in ["min.Power=five", "max.Power=1.5", "v.Sealed=%7B"] {
            let error = Query::read(wrong).filter(&currencies()).unwrap_err().to_string();
            assert!(error.contains("Power") || error.contains("Sealed"), "{error}");
        }
    }
}
