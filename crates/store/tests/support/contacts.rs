//! People whom a project knows, as a kind of write.

use bourse_store::{ProjectScope, Store, StoreError};
use bourse_wire::{Address, ContactInput, RecordId, Timestamp};

use super::projects::project;
use super::writings::Writing;

/// People whom a project knows, two at a time.
pub(crate) struct Contacts {
    scope: ProjectScope,
    audience: RecordId,
}

impl Contacts {
    pub(crate) async fn begin(store: &Store) -> Self {
        let scope = project(store).await;
        let name = "people".parse().unwrap();
        let audience = store.create_audience(scope, name, Timestamp::ZERO).await.unwrap().id;
        Self { scope, audience }
    }

    fn two(number: u64) -> [Address; 2] {
        [1, 2].map(|which| {
            let mut bytes = [which; 20];
            bytes[..8].copy_from_slice(&number.to_be_bytes());
            Address::from_bytes(bytes)
        })
    }
}

impl Writing for Contacts {
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError> {
        let contact = |address| ContactInput { name: None, address, email: None };
        let contacts = Self::two(number).map(contact).to_vec();
        store.add_contacts(self.scope, self.audience, contacts, Timestamp::ZERO).await.map(drop)
    }

    async fn is_there(&self, store: &Store, number: u64) -> bool {
        let view = store.audience(self.scope, self.audience).await.unwrap();
        let there =
            Self::two(number).map(|address| view.contacts.iter().any(|known| known.address == address));
        assert_eq!(there[0], there[1], "one of two contacts");
        there[0]
    }
}
