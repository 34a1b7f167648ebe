//! The pages that the service itself serves to buyers.

use bourse_server::auth::AccessKey;
use bourse_server::settings::Settings;
use bourse_server::{SITE_SERVICES, origin_of, site_address};
use bourse_store::KeyTerms;
use bourse_wire::{Error, FooterLink, Storefront, StorefrontSite, Text};
use maud::{Markup, html};

use super::fields::{Fields, one_a_line, read_lines};
use crate::access::Member;
use crate::form::Form;
use crate::refusal::Refusal;

/// What the key is called that these pages ask with.
const KEY_NAME: &str = "Shop";

/// What a form wants of them.
pub(super) fn wanted(form: &Form) -> Result<StorefrontSite, Error> {
    Ok(StorefrontSite {
        enabled: form.is_set("site_enabled"),
        description: form.read_if_set("site_description")?.unwrap_or_default(),
        accent: form.read_if_set("site_accent")?.unwrap_or_default(),
        language: form.read_if_set("site_language")?.unwrap_or_default(),
        fee_bps: form.read_if_set("site_fee_bps")?.unwrap_or_default(),
        fee_receiver: form.read_if_set("site_fee_receiver")?,
        marketplaces: read_lines(form, "site_marketplaces")?,
        footer: form.lines("site_footer").iter().map(|line| footer_link(line)).collect::<Result<_, _>>()?,
    })
}

/// A link as `Imprint = https://shop.example/imprint`.
fn footer_link(line: &str) -> Result<FooterLink, Error> {
    let wrong = |reason: String| Error::invalid("site_footer", reason);
    let (label, url) = line.split_once('=').ok_or_else(|| {
        wrong(format!("`{line:.100}` is not like `Imprint = https://shop.example/imprint`"))
    })?;
    let read = |error| wrong(format!("{line:.100}: {error}"));
    Ok(FooterLink {
        label: label.trim().parse().map_err(read)?,
        url: url.trim().parse().map_err(|error| wrong(format!("{line:.100}: {error}")))?,
    })
}

/// The same storefront, with a key to ask with where it needs one and has none.
pub(super) async fn with_key(member: &Member, mut storefront: Storefront) -> Result<Storefront, Refusal> {
    if !storefront.site.enabled || storefront.settings.access_key.is_some() {
        return Ok(storefront);
    }
    // What would be refused anyway makes no key.
    storefront.check()?;
    let console = member.console();
    let key = AccessKey::generate(member.project.id);
    let terms = terms(&storefront, console.settings());
    let actor = member.visitor.actor();
    console.store().create_access_key(member.scope(), key.hash().to_string(), terms, actor).await?;
    console.renew_credentials().await?;
    storefront.settings.access_key = key.expose().parse().ok();
    Ok(storefront)
}

/// What that key is good for: it is public, and works for what the pages ask and from where they are, as far as that is known.
fn terms(storefront: &Storefront, settings: &Settings) -> KeyTerms {
    let public = settings.public_url();
    let mut origins = Vec::new();
    if !settings.server.public_url.is_empty() {
        origins.push(origin_of(&public));
        let own = origin_of(&site_address(storefront, settings));
        origins.extend(Some(own).filter(|own| *own != origins[0]));
    }
    KeyTerms {
        display_name: KEY_NAME.to_owned(),
        allowed_origins: origins,
        allowed_services: SITE_SERVICES.map(|service| service.short().to_owned()).to_vec(),
        ..KeyTerms::default()
    }
}

pub(super) fn fields(member: &Member, site: &StorefrontSite, fields: &Fields<'_>) -> Markup {
    let path = format!("/shop/{}", member.project.id);
    let receiver = site.fee_receiver.map(|receiver| receiver.to_string()).unwrap_or_default();
    let marketplaces: Vec<&str> = site.marketplaces.iter().map(Text::as_str).collect();
    let link = |link: &FooterLink| format!("{} = {}", link.label.as_str(), link.url.as_str());
    let footer: Vec<String> = site.footer.iter().map(link).collect();
    let fee = if site.fee_bps == 0 { String::new() } else { site.fee_bps.to_string() };
    html! {
        fieldset {
            legend { "Pages for buyers, served here" }
            @if site.enabled { p { "They are at " a href=(path) { (path) } "." } }
            (fields.tick("there are some; they ask with the access key above, and one is made when there is none", "site_enabled", site.enabled))
            (fields.line("What is sold here, in a sentence", "site_description", site.description.as_str()))
            (fields.line("Colour of links and buttons, such as #0a6259", "site_accent", site.accent.as_str()))
            (fields.line("Language, such as en; what browsers ask for when it is empty", "site_language", site.language.as_str()))
            (fields.line("Taken of each trade, in basis points", "site_fee_bps", &fee))
            (fields.line("Who gets that", "site_fee_receiver", &receiver))
            (fields.lines("Marketplaces whose orders are shown, one a line; all when there are none", "site_marketplaces", &one_a_line(&marketplaces)))
            (fields.lines("Links at the end of every page, one a line as Imprint = https://shop.example/imprint", "site_footer", &one_a_line(&footer)))
        }
    }
}
