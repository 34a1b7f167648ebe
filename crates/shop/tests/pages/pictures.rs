//! Pictures of pages: those that were uploaded to the service itself, and what all pictures of a page take together.

use std::io::Cursor;

use bourse_store::testing::{batch, operator};
use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, Frame, ImageFormat, RgbImage};
use serde_json::json;

use crate::shops::{app, collection, get, on, open, put_token};
use crate::sizes::token;
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::body::{SVG, upload};
use crate::support::orders;
use crate::support::seed::{self, RELICS};

/// What a page of so many tokens may be, with its pictures.
const TOKENS: usize = 30;
const WHOLE_BYTES_MAX: usize = 500_000;
/// What pictures of cards may be, each.
const CARD_BYTES_MAX: usize = 14_000;

/// Noise is what packs worst.
fn noise(width: u32, height: u32, seed: u32) -> DynamicImage {
    let image = RgbImage::from_fn(width, height, |x, y| {
        let mixed = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(2_246_822_519) ^ seed)
            .wrapping_mul(3_266_489_917);
        let [one, two, three, _] = (mixed ^ (mixed >> 15)).wrapping_mul(668_265_263).to_be_bytes();
        image::Rgb([one, two, three])
    });
    DynamicImage::ImageRgb8(image)
}

fn packed(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut content = Vec::new();
    match format {
        ImageFormat::Gif => {
            // As many colours as there can be: no others have to be chosen for them.
            let mut few = image.to_rgba8();
            for image::Rgba([red, green, blue, _]) in few.pixels_mut() {
                (*red, *green, *blue) = (*red & 0xe0, *green & 0xe0, *blue & 0xc0);
            }
            let mut encoder = GifEncoder::new(&mut content);
            for _ in 0..2 {
                encoder.encode_frame(Frame::new(few.clone())).unwrap();
            }
        }
        ImageFormat::Jpeg => JpegEncoder::new_with_quality(&mut content, 100).encode_image(image).unwrap(),
        other => image.write_to(&mut Cursor::new(&mut content), other).unwrap(),
    }
    content
}

/// A token with the picture at a link, and where its page has the picture.
async fn picture_of(app: &TestApp, token: &str, link: &str) -> String {
    put_token(app, json!({ "tokenId": token, "name": "Uploaded", "image": link })).await;
    let page = get(app, &collection(&format!("/{token}"))).await.text();
    let start = format!("src=\"{}", collection(&format!("/{token}/image")));
    let rest = page.split(&start).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    collection(&format!("/{token}/image{}", rest.replace("&amp;", "&")))
}

async fn put_file(app: &TestApp, path: &str, content: &[u8]) {
    app.project_a.token.send(upload(&format!("{path}/upload"), "file", "x", content)).await.ok();
}

fn kind(answer: &Answer) -> (u16, &str, &str) {
    (answer.status, answer.header("content-type"), answer.header("cache-control"))
}

#[tokio::test]
async fn pictures_that_were_uploaded_here_are_made_small_and_drafts_are_not_shown() {
    let app = app(on()).await;
    let made = seed::belongings(&app.store, &app.project_a, "art", false).await;
    let hosted = format!("/projects/1/collections/{}", made.collection);
    let asset = format!("{hosted}/assets/{}", made.asset);
    let whole = packed(&noise(900, 700, 1), ImageFormat::Png);
    put_file(&app, &asset, &whole).await;
    let mut addresses = Vec::new();
    for (token, path) in [("8", asset.clone()), ("9", format!("{hosted}/tokens/1/asset/image"))] {
        let address = picture_of(&app, token, &format!("https://bourse.example{path}")).await;
        let small = get(&app, &address.replace("w=640", "w=320")).await;
        assert_eq!(kind(&small), (200, "image/jpeg", "public, no-cache"), "{address}");
        assert!(small.body.len() <= CARD_BYTES_MAX, "{} bytes", small.body.len());
        let known = app.anonymous.with("if-none-match", small.header("etag"));
        assert_eq!(known.get(&address.replace("w=640", "w=320")).await.status, 304);
        let large = get(&app, &address).await;
        assert!(large.body.len() > small.body.len() && large.body.len() < 70_000, "{}", large.body.len());
        let path = address.split('?').next().unwrap();
        assert_eq!(get(&app, path).await.body, whole, "{path}");
        addresses.push(address);
    }

    // Another file at the same address is another picture, at once.
    put_file(&app, &asset, SVG).await;
    for address in &addresses {
        let drawn = get(&app, address).await;
        assert_eq!(kind(&drawn), (200, "image/svg+xml", "public, no-cache"), "{address}");
    }

    // What is hidden is not there, whatever was made of it before; nor is what is no picture, or nobody's.
    put_file(&app, &asset, &whole).await;
    assert_eq!(get(&app, &addresses[0]).await.status, 200);
    let hide = json!({ "collectionId": made.collection, "tokenId": "1", "token": {}, "private": true });
    app.project_a.call("Collections/UpdateToken", hide).await.ok();
    for address in &addresses {
        assert_eq!(get(&app, address).await.status, 404, "{address}");
    }
    let publish = json!({ "collectionId": made.collection, "recursive": true });
    app.project_a.call("Collections/PublishCollection", publish).await.ok();
    assert_eq!(get(&app, &addresses[0]).await.status, 200);
    app.project_a
        .call("Collections/UnpublishCollection", json!({ "collectionId": made.collection }))
        .await
        .ok();
    assert_eq!(get(&app, &addresses[1]).await.status, 404);
    let nobodys = picture_of(&app, "10", &format!("https://bourse.example{hosted}/assets/999")).await;
    assert_eq!(get(&app, &nobodys).await.status, 404);
}

#[tokio::test]
async fn uploaded_pictures_have_the_bounds_of_others() {
    let settings = [("console.image_bytes_max", "300000")];
    let (app, ()) = TestApp::prepared(&settings, async |store, _, _| seed::relics(store).await).await;
    app.store.join_market(app.project_a.scope, seed::key(RELICS), operator()).await.unwrap();
    open(&app, on()).await;
    let made = seed::belongings(&app.store, &app.project_a, "art", false).await;
    let asset = format!("/projects/1/collections/{}/assets/{}", made.collection, made.asset);
    for (side, status) in [(200, 200), (400, 404)] {
        let content = packed(&noise(side, side, side), ImageFormat::Png);
        put_file(&app, &asset, &content).await;
        let address = picture_of(&app, "8", &format!("https://bourse.example{asset}")).await;
        assert_eq!(get(&app, &address).await.status, status, "{} bytes", content.len());
    }
}

/// Tokens with texts as long as they can be, and pictures that nothing packs, of each kind and in each size.
#[tokio::test]
async fn a_page_of_thirty_tokens_is_below_half_a_megabyte_with_the_worst_pictures() {
    let app = orders::market((1..=TOKENS as u64).map(token).collect()).await;
    app.store.join_market(app.project_a.scope, seed::key(RELICS), operator()).await.unwrap();
    open(&app, on()).await;
    let made = json!({ "collection": { "metadata": { "name": "Art" }, "private": false } });
    let made = app.project_a.call("Collections/CreateCollection", made).await.ok();
    let hosted = &made["collection"]["id"];
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif];
    let sides = [(320, 320), (319, 640), (160, 900), (640, 480), (700, 900)];
    for (place, format) in formats.iter().cycle().take(TOKENS).enumerate() {
        let asset = json!({ "collectionId": hosted, "metadataField": "image", "filename": "noise" });
        let asset = app.project_a.call("Collections/CreateAsset", json!({ "asset": asset })).await.ok();
        let path = format!("/projects/1/collections/{hosted}/assets/{}", asset["asset"]["id"]);
        let (width, height) = sides[place % sides.len()];
        let seed = u32::try_from(place).unwrap();
        put_file(&app, &path, &packed(&noise(width, height, seed), *format)).await;
        let mut change = token(place as u64 + 1);
        let bourse_store::Change::Token { metadata, .. } = &mut change else { panic!("it is a token") };
        let mut text: serde_json::Value = serde_json::from_str(metadata).unwrap();
        text["image"] = json!(format!("https://bourse.example{path}"));
        *metadata = text.to_string();
        app.store.commit(batch(seed::key(RELICS), vec![change])).await.unwrap();
    }
    let (mut sizes, mut page_bytes) = (Vec::new(), 0);
    for number in [1, 2] {
        let page = get(&app, &collection(&format!("?sort=id&page={number}"))).await;
        page_bytes = page_bytes.max(page.body.len());
        for address in page.text().split("<img src=\"").skip(1) {
            let address = address.split('"').next().unwrap().replace("&amp;", "&");
            let picture = get(&app, &address).await;
            assert_eq!((picture.status, picture.header("content-type")), (200, "image/jpeg"), "{address}");
            sizes.push(picture.body.len());
        }
    }
    println!("a page of {page_bytes} bytes with pictures of {sizes:?}");
    assert_eq!(sizes.len(), TOKENS);
    assert!(sizes.iter().all(|bytes| *bytes <= CARD_BYTES_MAX), "{sizes:?}");
    let pictures: usize = sizes.iter().sum();
    assert!(page_bytes + pictures < WHOLE_BYTES_MAX, "{page_bytes} and {pictures} bytes");
}
