//! One random collection, changed again and again, and asked after every change.

use std::fmt::Debug;
use std::sync::RwLockReadGuard;

use bourse_catalog::{
    Collection, Column, Draft, Edit, Identity, Loader, Position, PreparedOrder, PreparedToken, Progress,
    TokenFilter, TokenPreparer, Update, Versions,
};
use bourse_wire::{ChainId, CollectionNumbers, Currency, ServiceName, TokenId};

use crate::answer::{Answers, OrdersQuestion, RowsQuestion};
use crate::balances;
use crate::generate::{Batch, Generator, Scale, account, instant};
use crate::model::Model;
use bourse_random::Random;

/// Questions that are asked again and again, so that what is remembered of them must be right.
const FAVOURITES: usize = 5;
/// Tokens from which on whole numbers have a ladder.
const LADDER_TOKENS_MIN: u64 = 4_096;

/// Tokens that change at once where there is one.
const CHANGED_LEVELS: u64 = 60;

pub(crate) fn service() -> ServiceName {
    ServiceName::new("bourse")
}

fn numbers() -> CollectionNumbers {
    CollectionNumbers::new(ChainId(1), account(200))
}

pub(crate) struct Trial {
    /// Whether to tell what happens.
    aloud: bool,
    generator: Generator,
    model: Model,
    /// Nanoseconds since the trial began.
    clock: i64,
    versions: Versions,
    draft: Draft,
    favourites: Vec<RowsQuestion>,
    bookmarks: Vec<(RowsQuestion, Position)>,
    order_bookmarks: Vec<(OrdersQuestion, Position)>,
    book_bookmarks: Vec<(RowsQuestion, Position)>,
}

impl Trial {
    pub(crate) fn run(seed: u64, scale: Scale, aloud: bool) {
        let mut random = Random::new(seed);
        // Where there is any, every token has an offer.
        let collection_offers = *random.pick(&[u64::MAX, 40, 5]);
        let mut generator = Generator { random, scale, second_levels: u64::MAX, collection_offers };
        let mut favourites: Vec<RowsQuestion> = (0..FAVOURITES).map(|_| generator.question()).collect();
        // Many names look like it, and only their whole text tells.
        favourites[0].tokens = TokenFilter { text: "abcd".to_owned(), ..TokenFilter::default() };
        let model = Model::new(instant(0));
        let (versions, draft) = (Versions::new(load(&model, &mut generator.random)), Draft::default());
        let mut trial = Self {
            aloud,
            generator,
            model,
            clock: 0,
            versions,
            draft,
            favourites,
            bookmarks: Vec::new(),
            order_bookmarks: Vec::new(),
            book_bookmarks: Vec::new(),
        };
        trial.begin();
        for step in 0..scale.steps {
            if scale.tokens > LADDER_TOKENS_MIN {
                // The ladder is followed while it can be, and left alone from then on.
                trial.generator.second_levels = if step * 2 < scale.steps { u64::MAX } else { 2 };
                trial.apply([CHANGED_LEVELS, 0, 0]);
                if step == 1 {
                    trial.keep_and_read();
                }
            } else {
                trial.change();
            }
            trial.check();
        }
    }

    fn tell(&self, step: &str, what: &dyn Debug) {
        if self.aloud {
            eprintln!("{step} {what:?}");
        }
    }

    /// A part of the collection is loaded, and the rest comes as changes.
    fn begin(&mut self) {
        if !self.generator.random.one_in(8) {
            self.put_currencies(3);
        }
        let Scale { tokens, orders, .. } = self.generator.scale;
        let parts = 1 + self.generator.random.below(3);
        let loaded = self.generator.random.below(parts + 1);
        // Some collections never have a balance recorded.
        let balances = if self.generator.random.one_in(4) { 0 } else { tokens };
        for part in 0..parts {
            if part == loaded {
                self.reload();
            }
            self.apply([tokens / parts, balances / parts, orders / parts]);
        }
        if loaded == parts {
            self.reload();
        }
        if tokens > 1_000 {
            self.complete();
        }
    }

    /// Every usual token of a large collection, most of them with one owner.
    fn complete(&mut self) {
        let mut batch = Batch::default();
        for number in 0..self.generator.scale.tokens {
            let id = TokenId::from(number);
            if self.model.tokens.get(&id).is_none_or(|token| token.metadata.is_none()) {
                batch.tokens.push((id, self.generator.token(id)));
            }
            if !self.model.balances.is_empty() && number % 9 != 0 {
                batch.balances.push((id, account(0), 3.into()));
            }
        }
        self.put(batch);
        self.reload();
    }

    fn change(&mut self) {
        match self.generator.random.below(10) {
            0 | 1 => self.let_time_pass(),
            2 => self.put_currencies(1),
            3 => self.put_currencies(3),
            4 if self.generator.random.one_in(2) => self.reload(),
            4 => self.keep_and_read(),
            kind => {
                let few = 1 + self.generator.scale.tokens / 300;
                let mut size = |often: bool| if often { self.generator.random.below(4) * few } else { 0 };
                let sizes = [size(kind == 5 || kind > 7), size(kind == 6 || kind > 7), size(kind > 6)];
                self.apply(sizes);
            }
        }
    }

    fn apply(&mut self, sizes: [u64; 3]) {
        let batch = self.generator.batch(&self.model, sizes, self.clock);
        self.put(batch);
    }

    fn put(&mut self, batch: Batch) {
        self.tell("apply", &batch);
        let metadata = |(id, token): &(TokenId, crate::token::Token)| (*id, token.metadata.clone().unwrap());
        let update = Update {
            version: self.collection().version() + 1,
            contract: None,
            tokens: batch.tokens.iter().map(metadata).collect(),
            balances: batch.balances.clone(),
            orders: batch.orders.iter().map(|order| PreparedOrder::new(numbers(), order)).collect(),
            gone_orders: batch.gone_orders.clone(),
        };
        self.write(Edit::of_update(update));
        for (id, token) in batch.tokens {
            self.model.put_token(id, token);
        }
        for (id, account, balance) in batch.balances {
            self.model.put_balance(id, account, balance);
        }
        for key in &batch.gone_orders {
            self.model.remove_order(key);
        }
        for facts in batch.orders {
            self.model.put_order(facts);
        }
    }

    fn put_currencies(&mut self, count: u64) {
        let currencies: Vec<Currency> = (0..count).map(|_| self.generator.currency()).collect();
        self.tell("currencies", &currencies);
        self.write(vec![Edit::of_currencies(currencies.clone().into())]);
        for currency in currencies {
            self.model.put_currency(currency);
        }
    }

    fn let_time_pass(&mut self) {
        self.clock += i64::try_from(self.generator.random.below(4)).unwrap();
        self.model.now = instant(self.clock);
        self.tell("now", &self.model.now);
    }

    fn reload(&mut self) {
        self.tell("load anew", &"");
        let mut whole = Some(load(&self.model, &mut self.generator.random));
        assert!(self.versions.replace(&mut self.draft, &mut whole), "nobody reads");
    }

    /// What was written of it and read again takes its place, and is asked and changed from then on. Rates may have changed
    /// meanwhile.
    fn keep_and_read(&mut self) {
        self.tell("keep and read", &"");
        let mut bytes = Vec::new();
        self.collection().keep(&mut bytes).unwrap();
        if self.generator.random.one_in(2) {
            self.put_currencies(1);
        }
        let currencies: Vec<Currency> = self.model.currencies.values().cloned().collect();
        let (mut from, version) = (&bytes[..], self.collection().version());
        let read = Collection::read_kept(&identity(), &currencies, &mut from).unwrap();
        assert!(from.is_empty() && read.version() == version, "all of it is read");
        assert!(self.versions.replace(&mut self.draft, &mut Some(read)), "nobody reads");
        self.check_digest();
    }

    /// Asks a few of everything.
    fn check(&mut self) {
        let mut questions = some(&mut self.generator.random, &self.favourites, 2);
        questions.push(self.generator.question());
        if self.generator.scale.tokens > 1_000 {
            questions.push(self.generator.broad_question());
        }
        if self.generator.scale.tokens > LADDER_TOKENS_MIN {
            questions = (0..4).map(|_| self.generator.range_question()).collect();
        }
        for question in questions {
            self.make_ready(&question);
            self.tell("question", &question);
            let answers = Answers::new(&self.model);
            let position = answers.check_rows(&self.versions.read(), &question, &mut self.generator);
            answers.check_listing_floor(&self.versions.read(), &question);
            answers.check_search(&self.versions.read(), &question, &mut self.generator);
            let order = answers.check_book(&self.versions.read(), &question, &mut self.generator);
            self.book_bookmarks.extend(order.map(|position| (question.clone(), position)));
            self.bookmarks.extend(position.map(|position| (question, position)));
        }
        balances::check(&self.model, &self.versions.read(), &mut self.generator);
        self.check_bookmarks();
        for _ in 0..4 {
            self.check_orders();
        }
        self.check_digest();
    }

    /// However it came to be, a collection says what one says that was loaded just now.
    fn check_digest(&mut self) {
        let mut fresh = load(&self.model, &mut self.generator.random);
        let column = self.collection().has_order_of_names().then_some(Column::Name);
        fresh.make_ready(self.model.now, column);
        self.write(vec![Edit::of_time(self.model.now)]);
        let differences = self.collection().digest(self.model.now).differences(&fresh.digest(self.model.now));
        assert_eq!(differences, [""; 0], "what a fresh load says otherwise");
    }

    fn check_bookmarks(&mut self) {
        for _ in 0..self.bookmarks.len().min(3) {
            let (question, position) = self.generator.random.pick(&self.bookmarks).clone();
            self.make_ready(&question);
            self.tell("after", &(&position, &question));
            let limit = 1 + self.generator.random.index(9);
            Answers::new(&self.model).check_after(&self.collection(), &question, &position, limit);
        }
        for _ in 0..self.book_bookmarks.len().min(3) {
            let (question, position) = self.generator.random.pick(&self.book_bookmarks).clone();
            self.make_ready(&question);
            self.tell("orders after", &(&position, &question));
            Answers::new(&self.model).check_book_after(&self.collection(), &question, &position);
        }
    }

    fn check_orders(&mut self) {
        let named: Vec<TokenId> = self.model.orders.values().filter_map(|facts| facts.token_id).collect();
        let question = self.generator.orders_question(&named);
        let known = self.generator.random.index(self.order_bookmarks.len() + 1);
        let (question, after) = match self.order_bookmarks.get(known).cloned() {
            Some((question, position)) => (question, Some(position)),
            None => (question, None),
        };
        self.tell("orders", &(&question, &after));
        let limit = 1 + self.generator.random.index(3);
        let answers = Answers::new(&self.model);
        let next = answers.check_orders(&self.collection(), &question, after.as_ref(), limit);
        if let Some(facts) = answers.model.orders.values().nth(known) {
            answers.check_facts(&self.collection(), facts);
        }
        assert_eq!(self.collection().len(), self.model.tokens.len());
        self.order_bookmarks.extend(next.map(|next| (question, next)));
    }

    fn make_ready(&mut self, question: &RowsQuestion) {
        let (now, column) = (self.model.now, Some(question.ranking.column()));
        if self.generator.random.one_in(3) || !self.collection().is_ready(now, column) {
            let order = column.and_then(Edit::of_order);
            self.write(std::iter::once(Edit::of_time(now)).chain(order).collect());
        }
        assert!(self.collection().is_ready(now, column));
    }

    fn collection(&self) -> RwLockReadGuard<'_, Collection> {
        self.versions.read()
    }

    /// Makes edits. Whoever reads meanwhile sees nothing of them, neither before they are shown nor after that.
    fn write(&mut self, edits: Vec<Edit>) {
        let (now, is_read) = (self.model.now, self.generator.random.one_in(8));
        let reader = is_read.then(|| self.versions.read());
        let before = reader.as_ref().map(|collection| (collection.version(), collection.digest(now)));
        self.draft.add(edits);
        while self.versions.step(&mut self.draft) != Progress::Shown {
            if is_read && self.generator.random.one_in(4) {
                assert_eq!(before, Some((self.collection().version(), self.collection().digest(now))));
            }
        }
        assert_eq!(reader.as_ref().map(|collection| (collection.version(), collection.digest(now))), before);
        drop(reader);
    }
}

fn identity() -> Identity {
    Identity { number: 1, chain: ChainId(1), address: account(200), service: service() }
}

/// The whole collection loaded at once, in pieces and in an order that are as good as any.
fn load(model: &Model, random: &mut Random) -> Collection {
    let mut loader = Loader::new(&identity(), model.now);
    let mut preparer = TokenPreparer::default();
    let known = model.tokens.iter().filter_map(|(id, token)| Some((*id, token.metadata.clone()?)));
    let mut tokens: Vec<PreparedToken> = known.map(|(id, text)| preparer.prepare(id, text)).collect();
    let mut balances: Vec<_> =
        model.balances.iter().map(|((id, account), balance)| (*id, *account, *balance)).collect();
    let mut orders: Vec<_> =
        model.orders.values().map(|order| PreparedOrder::new(numbers(), order)).collect();
    random.shuffle(&mut balances);
    random.shuffle(&mut orders);
    if random.one_in(2) {
        random.shuffle(&mut tokens);
    }
    let late = tokens.split_off(random.index(tokens.len() + 1));
    loader.tokens(tokens);
    if random.one_in(2) {
        loader.tokens(late);
        loader.balances(&balances);
        loader.orders(&orders);
    } else {
        loader.orders(&orders);
        loader.balances(&balances);
        loader.tokens(late);
    }
    let currencies: Vec<Currency> = model.currencies.values().cloned().collect();
    loader.finish(1, &currencies)
}

/// From one to so many of some things, the same one perhaps twice.
fn some<T: Clone>(random: &mut Random, items: &[T], most: usize) -> Vec<T> {
    (0..=random.index(most)).map(|_| random.pick(items).clone()).collect()
}
