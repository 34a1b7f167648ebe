//! Small copies of pictures, hostile ones among them.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::Arc;

use bourse_pictures::{Picture, Size};
use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ExtendedColorType, Frame, ImageEncoder as _, ImageFormat, Rgba, RgbaImage};

/// Noise is what packs worst.
fn noise(width: u32, height: u32, alpha: u8) -> RgbaImage {
    RgbaImage::from_fn(width, height, |x, y| {
        let mixed =
            (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(2_246_822_519)).wrapping_mul(3_266_489_917);
        let [one, two, three, _] = mixed.to_be_bytes();
        Rgba([one, two, three, alpha])
    })
}

fn png(image: &RgbaImage) -> Vec<u8> {
    let mut content = Vec::new();
    let encoder = PngEncoder::new(&mut content);
    encoder.write_image(image, image.width(), image.height(), ExtendedColorType::Rgba8).unwrap();
    content
}

fn picture(content: Vec<u8>) -> Arc<Picture> {
    Picture::new(content).unwrap()
}

fn size_of(picture: &Picture) -> (u32, u32) {
    let image = image::load_from_memory(&picture.content).unwrap();
    (image.width(), image.height())
}

#[test]
fn thirty_cards_of_the_worst_pictures_are_less_than_half_a_megabyte() {
    let whole = picture(png(&noise(1200, 900, 255)));
    let made = whole.small(Size::Medium).unwrap();
    assert_eq!((made.media_type, size_of(&made)), ("image/jpeg", (320, 240)));
    assert!(made.content.len() * 30 < 500_000, "{}", made.content.len());
    let long = picture(png(&noise(40, 4000, 255))).small(Size::Small).unwrap();
    assert_eq!(size_of(&long), (3, 320));
    let through = picture(png(&noise(1200, 900, 90))).small(Size::Medium).unwrap();
    assert!(through.content.len() * 30 < 500_000, "{}", through.content.len());
}

fn packed(image: &RgbaImage, format: ImageFormat) -> Vec<u8> {
    let mut content = Vec::new();
    let opaque = DynamicImage::ImageRgba8(image.clone()).to_rgb8();
    match format {
        ImageFormat::Gif => {
            // As many colours as there can be: no others have to be chosen for them.
            let mut few = image.clone();
            for Rgba([red, green, blue, _]) in few.pixels_mut() {
                (*red, *green, *blue) = (*red & 0xe0, *green & 0xe0, *blue & 0xc0);
            }
            GifEncoder::new(&mut content).encode_frame(Frame::new(few)).unwrap();
        }
        ImageFormat::Jpeg => {
            JpegEncoder::new_with_quality(&mut content, 100).encode_image(&opaque).unwrap();
        }
        ImageFormat::WebP => content = webp(image),
        _ => content = png(image),
    }
    content
}

fn webp(image: &RgbaImage) -> Vec<u8> {
    let mut content = Vec::new();
    let encoder = WebPEncoder::new_lossless(&mut content);
    encoder.encode(image, image.width(), image.height(), ExtendedColorType::Rgba8).unwrap();
    content
}

/// Noise that is not averaged away, as it has about as many pixels as are wanted, and some that is.
#[test]
fn no_small_copy_is_heavier_than_its_size_allows() {
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif];
    for (width, height) in [(1, 1), (160, 320), (319, 640), (640, 1_280), (1, 3_000), (2_000, 90)] {
        let opaque = formats.map(|format| (255, format));
        for (alpha, format) in opaque.into_iter().chain([(120, ImageFormat::Png)]) {
            let whole = picture(packed(&noise(width, height, alpha), format));
            for size in [Size::Small, Size::Medium, Size::Large] {
                let made = whole.small(size).unwrap();
                let named = format!("{format:?} {width} × {height} through {alpha} as {size:?}");
                assert!(made.content.len() <= size.bytes(), "{named} has {} bytes", made.content.len());
                let (made_width, made_height) = size_of(&made);
                assert!(made_width <= size.width() && made_height <= 2 * size.width(), "{named}");
                assert!(made_width <= width && made_height <= height, "{named} was made larger");
            }
        }
    }
}

/// What is behind the picture is left behind as well.
#[test]
fn few_pixels_in_many_bytes_are_packed_anew() {
    let mut content = png(&noise(20, 20, 255));
    content.resize(3 << 20, 0);
    let whole = picture(content);
    assert!(!whole.is_small(Size::Large));
    let made = whole.small(Size::Small).unwrap();
    assert!(size_of(&made) == (20, 20) && made.content.len() < 2_000, "{}", made.content.len());
}

#[test]
fn of_a_webp_that_moves_the_first_picture_is_taken() {
    let frame = |colour: [u8; 4]| {
        let still = webp(&RgbaImage::from_pixel(900, 900, Rgba(colour)));
        let three = |number: u32| number.to_le_bytes()[..3].to_vec();
        chunk(
            *b"ANMF",
            &[three(0), three(0), three(899), three(899), three(100), vec![0], still[12..].to_vec()].concat(),
        )
    };
    let size = [0, 0, 0, 131, 3, 0, 131, 3, 0];
    let chunks = [
        chunk(*b"VP8X", &[&[0x02][..], &size].concat()),
        chunk(*b"ANIM", &[0; 6]),
        frame([255, 0, 0, 255]),
        frame([0, 0, 255, 255]),
    ]
    .concat();
    let length = u32::try_from(chunks.len() + 4).unwrap().to_le_bytes();
    let moving = picture([b"RIFF", &length[..], b"WEBP", &chunks].concat());
    let made = moving.small(Size::Small).unwrap();
    let pixel = image::load_from_memory(&made.content).unwrap().to_rgb8().get_pixel(80, 80).0;
    assert!(pixel[0] > 200 && pixel[2] < 60, "{pixel:?}");
}

/// A part of a WebP file.
fn chunk(name: [u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    let mut made = [&name[..], &length, content].concat();
    made.resize(made.len().next_multiple_of(2), 0);
    made
}

#[test]
fn what_can_be_seen_through_stays_so_where_it_is_light() {
    let image = RgbaImage::from_fn(1000, 1000, |x, _| Rgba([200, 30, 30, if x < 500 { 0 } else { 255 }]));
    let made = picture(png(&image)).small(Size::Medium).unwrap();
    assert_eq!((made.media_type, size_of(&made)), ("image/webp", (320, 320)));
    let small = image::load_from_memory(&made.content).unwrap().to_rgba8();
    assert_eq!((small.get_pixel(3, 3).0[3], small.get_pixel(316, 3).0), (0, [200, 30, 30, 255]));
}

#[test]
fn of_what_moves_the_first_picture_is_taken() {
    let mut content = Vec::new();
    {
        let mut encoder = GifEncoder::new(&mut content);
        for number in 0..20 {
            let colour = if number == 0 { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
            encoder.encode_frame(Frame::new(RgbaImage::from_pixel(1000, 1000, Rgba(colour)))).unwrap();
        }
    }
    let made = picture(content).small(Size::Small).unwrap();
    let pixel = image::load_from_memory(&made.content).unwrap().to_rgb8().get_pixel(80, 80).0;
    assert!(pixel[0] > 200 && pixel[2] < 60, "{pixel:?}");
}

#[test]
fn drawings_and_what_is_light_already_are_left_alone() {
    let drawing = picture(b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec());
    assert!(drawing.is_small(Size::Small));
    let icon = picture(png(&noise(32, 32, 255)));
    assert!(icon.is_small(Size::Small) && icon.is_small(Size::Whole));
    // Light but huge: a browser would unpack it.
    let plain = picture(png(&RgbaImage::from_pixel(3000, 10, Rgba([1, 2, 3, 255]))));
    assert!(plain.content.len() < Size::Medium.bytes() && !plain.is_small(Size::Medium));
    let tall = picture(png(&RgbaImage::from_pixel(10, 4_000, Rgba([1, 2, 3, 255]))));
    assert!(tall.content.len() < Size::Medium.bytes() && !tall.is_small(Size::Medium));
    assert_eq!(Size::of_width(320), Some(Size::Medium));
    assert_eq!((Size::of_width(0), Size::of_width(321)), (None, None));
}

/// The head says a hundred pixels, and what is behind it would take some hundred megabytes.
#[test]
fn what_is_larger_than_its_head_says_is_not_unpacked() {
    let mut content = b"RIFF\x2c\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x09\0\0\x09\0\0".to_vec();
    content.extend(b"VP8 \x0e\0\0\0\x10\0\0\x9d\x01\x2a\xff\x3f\xff\x3f\0\0\0\0");
    let refused = picture(content).small(Size::Small).unwrap_err();
    assert!(refused.to_string().contains("not as large as it says"), "{refused}");
}

#[test]
fn of_what_is_not_read_here_light_ones_are_shown_as_they_are() {
    let avif = |bytes: usize| {
        let mut content = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf".to_vec();
        content.resize(bytes, 0);
        picture(content)
    };
    let light = avif(300_000);
    assert_eq!(light.media_type, "image/avif");
    assert!(light.is_small(Size::Small) && !avif(1 << 20).is_small(Size::Small));
    assert!(light.small(Size::Small).is_err());
}

#[test]
fn hostile_pictures_are_refused() {
    // A head that promises more than may be unpacked, with hardly anything behind it.
    let mut bomb = png(&RgbaImage::from_pixel(1, 1, Rgba([0; 4])));
    bomb[16..20].copy_from_slice(&5000_u32.to_be_bytes());
    bomb[20..24].copy_from_slice(&5000_u32.to_be_bytes());
    assert!(picture(bomb).small(Size::Small).is_err());
    let whole = png(&noise(90, 90, 255));
    for length in (0..whole.len()).step_by(331) {
        if let Ok(cut) = Picture::new(whole[..length].to_vec()) {
            assert!(cut.small(Size::Small).is_err(), "{length}");
        }
    }
    let mut jpeg = Vec::new();
    let opaque = DynamicImage::ImageRgba8(noise(60, 60, 255)).to_rgb8();
    JpegEncoder::new_with_quality(&mut jpeg, 90).encode_image(&opaque).unwrap();
    for place in (0..jpeg.len()).step_by(31) {
        let mut changed = jpeg.clone();
        changed[place] ^= 0xff;
        // Whatever comes of it, nothing panics.
        if let Ok(changed) = Picture::new(changed) {
            let _ = changed.small(Size::Medium);
        }
    }
    let heads: [&[u8]; 3] =
        [b"\xff\xd8\xff\xe0\0\x10JFIF\0", b"GIF89a\xff\xff\xff\xff\xf7\0\0", b"RIFF\x20\0\0\0WEBPVP8L"];
    for head in heads {
        if let Ok(picture) = Picture::new(head.to_vec()) {
            assert!(picture.small(Size::Large).is_err(), "{head:?}");
        }
    }
}
