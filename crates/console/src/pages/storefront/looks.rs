//! Looks, pages and wallets.

use bourse_wire::{
    EcosystemWallet, EmbeddedWallet, Error, JsonObject, Storefront, StorefrontPage, StorefrontSettings,
    StorefrontSocials, StorefrontWallets, WalletKind,
};
use maud::{Markup, html};

use super::fields::{Fields, one_a_line, read_lines};
use super::site;
use crate::access::Member;
use crate::form::Form;

const WALLETS: [(WalletKind, &str); 3] = [
    (WalletKind::Universal, "UNIVERSAL"),
    (WalletKind::Embedded, "EMBEDDED"),
    (WalletKind::Ecosystem, "ECOSYSTEM"),
];

/// A storefront as a form wants it. What the form does not ask for stays.
pub(super) fn wanted(form: &Form, known: Storefront) -> Result<Storefront, Error> {
    Ok(Storefront {
        domain: form.read_if_set("domain")?.unwrap_or_default(),
        settings: settings(form, known.settings)?,
        market: StorefrontPage {
            enabled: form.is_set("market_enabled"),
            private: form.is_set("market_private"),
            banner_url: form.read_if_set("market_banner")?.unwrap_or_default(),
            og_image: form.read_if_set("market_image")?.unwrap_or_default(),
        },
        shop: StorefrontPage {
            enabled: form.is_set("shop_enabled"),
            private: form.is_set("shop_private"),
            banner_url: form.read_if_set("shop_banner")?.unwrap_or_default(),
            og_image: form.read_if_set("shop_image")?.unwrap_or_default(),
        },
        site: site::wanted(form)?,
        ..known
    })
}

fn settings(form: &Form, known: StorefrontSettings) -> Result<StorefrontSettings, Error> {
    Ok(StorefrontSettings {
        style: style(form.text("style"))?,
        publisher_id: form.read_if_set("publisher")?.unwrap_or_default(),
        title: form.read_if_set("title")?.unwrap_or_default(),
        socials: StorefrontSocials {
            twitter: form.read_if_set("twitter")?.unwrap_or_default(),
            discord: form.read_if_set("discord")?.unwrap_or_default(),
            website: form.read_if_set("website")?.unwrap_or_default(),
            tiktok: form.read_if_set("tiktok")?.unwrap_or_default(),
            instagram: form.read_if_set("instagram")?.unwrap_or_default(),
            youtube: form.read_if_set("youtube")?.unwrap_or_default(),
        },
        favicon_url: form.read_if_set("favicon")?.unwrap_or_default(),
        wallet_options: wallets(form, known.wallet_options)?,
        logo_url: form.read_if_set("logo")?.unwrap_or_default(),
        font_url: form.read_if_set("font")?.unwrap_or_default(),
        access_key: form.read_if_set("access_key")?,
        ..known
    })
}

fn style(text: &str) -> Result<JsonObject, Error> {
    if text.is_empty() {
        return Ok(JsonObject::new());
    }
    serde_json::from_str(text).map_err(|error| Error::invalid("style", format!("is no JSON object: {error}")))
}

fn wallets(form: &Form, known: StorefrontWallets) -> Result<StorefrontWallets, Error> {
    let chosen = form.text("wallet");
    let kind = WALLETS.iter().find(|(_, word)| *word == chosen);
    let wallet_type =
        kind.map(|(kind, _)| *kind).ok_or_else(|| Error::invalid("wallet", "is no kind of wallet"))?;
    let ecosystem = EcosystemWallet {
        wallet_url: form.read_if_set("wallet_url")?.unwrap_or_default(),
        wallet_app_name: form.read_if_set("wallet_name")?.unwrap_or_default(),
        ..known.ecosystem.unwrap_or_default()
    };
    let embedded = EmbeddedWallet {
        tenant_key: form.read_if_set("tenant_key")?.unwrap_or_default(),
        email_enabled: form.is_set("email_enabled"),
        ..known.embedded.unwrap_or_default()
    };
    Ok(StorefrontWallets {
        wallet_type,
        connectors: read_lines(form, "connectors")?,
        include_eip6963_wallets: form.is_set("announced"),
        ecosystem: (wallet_type == WalletKind::Ecosystem).then_some(ecosystem),
        embedded: (wallet_type == WalletKind::Embedded).then_some(embedded),
        ..known
    })
}

pub(super) fn form(member: &Member, storefront: &Storefront, fields: &Fields<'_>) -> Markup {
    let Storefront { domain, settings, market, shop, .. } = storefront;
    html! {
        section.panel {
            h2 { "Looks and pages" }
            form.stacked method="post" action=(member.path("/storefront")) {
                (member.visitor.form_token())
                (fields.line("Host that it is served at, such as shop.example", "domain", domain.as_str()))
                (named(settings, fields))
                (page_fields("Market page", "market", market, fields))
                (page_fields("Shop page", "shop", shop, fields))
                (site::fields(member, &storefront.site, fields))
                (wallet_fields(&settings.wallet_options, fields))
                (social_fields(&settings.socials, fields))
                button { "Save storefront" }
            }
        }
    }
}

fn named(settings: &StorefrontSettings, fields: &Fields<'_>) -> Markup {
    let style = if settings.style.is_empty() {
        String::new()
    } else {
        serde_json::to_string_pretty(&settings.style).unwrap_or_default()
    };
    let key = settings.access_key.as_ref().map_or("", |key| key.as_str());
    html! {
        (fields.line("Title; the project's name when it is empty", "title", settings.title.as_str()))
        (fields.line("Publisher", "publisher", settings.publisher_id.as_str()))
        (fields.line("Logo, as a link", "logo", settings.logo_url.as_str()))
        (fields.line("Small picture of browser tabs, as a link", "favicon", settings.favicon_url.as_str()))
        (fields.line("Font, as a link", "font", settings.font_url.as_str()))
        (fields.lines("Style, as a JSON object", "style", &style))
        (fields.line("Access key that is told to whoever asks", "access_key", key))
    }
}

fn page_fields(title: &str, name: &str, page: &StorefrontPage, fields: &Fields<'_>) -> Markup {
    let named = |part: &str| format!("{name}_{part}");
    html! {
        fieldset {
            legend { (title) }
            (fields.tick("there is one", &named("enabled"), page.enabled))
            (fields.tick("for whoever has a key of this project only", &named("private"), page.private))
            (fields.line("Picture across it, as a link", &named("banner"), page.banner_url.as_str()))
            (fields.line("Picture that others show for it, as a link", &named("image"), page.og_image.as_str()))
        }
    }
}

fn wallet_fields(wallets: &StorefrontWallets, fields: &Fields<'_>) -> Markup {
    let words = WALLETS.map(|(_, word)| word);
    let chosen = WALLETS.iter().find(|(kind, _)| *kind == wallets.wallet_type).map_or("", |(_, word)| *word);
    let (ecosystem, embedded) =
        (wallets.ecosystem.clone().unwrap_or_default(), wallets.embedded.clone().unwrap_or_default());
    let connectors: Vec<&str> = wallets.connectors.iter().map(bourse_wire::Text::as_str).collect();
    html! {
        fieldset {
            legend { "Wallets" }
            (fields.choice("Kind", "wallet", &words, chosen))
            (fields.lines("Ways to connect one, one a line", "connectors", &one_a_line(&connectors)))
            (fields.tick("wallets that announce themselves to the page too", "announced", wallets.include_eip6963_wallets))
            (fields.line("Address of a wallet of one's own", "wallet_url", ecosystem.wallet_url.as_str()))
            (fields.line("What it is called", "wallet_name", ecosystem.wallet_app_name.as_str()))
            (fields.line("Tenant key of a wallet within the page", "tenant_key", embedded.tenant_key.as_str()))
            (fields.tick("an e-mail address is enough for it", "email_enabled", embedded.email_enabled))
        }
    }
}

fn social_fields(socials: &StorefrontSocials, fields: &Fields<'_>) -> Markup {
    html! {
        fieldset {
            legend { "Elsewhere" }
            (fields.line("X (Twitter)", "twitter", socials.twitter.as_str()))
            (fields.line("Discord", "discord", socials.discord.as_str()))
            (fields.line("Web site", "website", socials.website.as_str()))
            (fields.line("TikTok", "tiktok", socials.tiktok.as_str()))
            (fields.line("Instagram", "instagram", socials.instagram.as_str()))
            (fields.line("YouTube", "youtube", socials.youtube.as_str()))
        }
    }
}
