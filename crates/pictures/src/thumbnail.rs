//! Small copies. Whoever makes a token chooses the picture, so what unpacking it takes is reckoned from its head first.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::webp::WebPEncoder;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage,
    RgbaImage, imageops,
};

use crate::picture::Picture;
use crate::{NoPicture, PictureResult, webp};

/// The most pixels of a picture that is unpacked here.
const PIXELS_MAX: u64 = 16 * 1024 * 1024;
/// The most bytes that it may be unpacked to, and that the decoder may take beside: some have 16 bits of each colour.
const UNPACKED_BYTES_MAX: u64 = 128 << 20;
/// How many times as high as wide a small copy may be.
const HEIGHT_PER_WIDTH: u32 = 2;
/// Qualities that are tried in their order, until one is light enough, and the last one.
const QUALITIES: [u8; 3] = [82, 66, 48];
const LOWEST_QUALITY: u8 = 30;
/// What is not light enough then either, such as noise, gets this part of its width and height, and so on.
const SHRINKING: (u32, u32) = (3, 4);
/// A picture that is not larger than so many times what is wanted is shown as it is, if it is light enough.
const SIZE_FACTOR: u64 = 3;
/// A picture of a kind that is not read here is shown as it is, if it is below so many bytes (1 MiB).
const UNREAD_BYTES_MAX: usize = 1 << 20;

/// How large a picture is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    /// As it is.
    Whole,
    /// 160 pixels wide, for rows of a list.
    Small,
    /// 320 pixels wide, for cards.
    Medium,
    /// 640 pixels wide, for a page of its own.
    Large,
}

impl Size {
    /// The size of a width, where that is one of those that are made.
    pub fn of_width(width: u32) -> Option<Self> {
        [Self::Small, Self::Medium, Self::Large].into_iter().find(|size| size.width() == width)
    }

    /// How wide such a picture is at most; 0 for whatever it is.
    pub fn width(self) -> u32 {
        match self {
            Self::Whole => 0,
            Self::Small => 160,
            Self::Medium => 320,
            Self::Large => 640,
        }
    }

    /// How wide and how high such a picture is at most, in pixels.
    fn pixels(self) -> (u32, u32) {
        (self.width(), self.width() * HEIGHT_PER_WIDTH)
    }

    /// How many bytes a copy has at most: a page of thirty cards, which may have 100 KB itself, stays below half a megabyte with
    /// thirty copies on it.
    pub fn bytes(self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Small => 6 << 10,
            Self::Medium => 12_800,
            Self::Large => 60 << 10,
        }
    }
}

impl Picture {
    /// Whether it is shown as it is: drawings, whose rules are those for the whole, what is light already, and of what is not read
    /// here whatever is not too heavy.
    pub fn is_small(&self, size: Size) -> bool {
        let light = self.content.len() <= size.bytes();
        let (width, height) = size.pixels();
        let fits = |pixels: u64, wanted: u32| pixels <= u64::from(wanted) * SIZE_FACTOR;
        let modest = self.size.is_some_and(|size| fits(size.0, width) && fits(size.1, height));
        let unread = format(self.media_type).is_none() && self.content.len() < UNREAD_BYTES_MAX;
        size == Size::Whole || self.media_type == "image/svg+xml" || (light && modest) || unread
    }

    /// A small copy, never heavier than its size allows; of what moves, the first of its pictures. Making it takes a processor for
    /// a while.
    pub fn small(&self, size: Size) -> PictureResult {
        let unusable = |error: ImageError| NoPicture::Unusable(format!("it cannot be made small: {error}"));
        let whole = unpack(self)?;
        let (width, height) = size.pixels();
        let small = if whole.width() > width || whole.height() > height {
            whole.thumbnail(width, height)
        } else {
            whole
        };
        Self::new(pack(&small, size.bytes()).map_err(unusable)?)
    }
}

/// How pictures of a type are packed; `None` for those that are not read here.
fn format(media_type: &str) -> Option<ImageFormat> {
    match media_type {
        "image/png" => Some(ImageFormat::Png),
        "image/jpeg" => Some(ImageFormat::Jpeg),
        "image/gif" => Some(ImageFormat::Gif),
        "image/webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

fn unpack(picture: &Picture) -> Result<DynamicImage, NoPicture> {
    let unusable = |error: ImageError| NoPicture::Unusable(format!("it cannot be read: {error}"));
    let format = format(picture.media_type)
        .ok_or_else(|| NoPicture::Unusable(format!("small copies of {} are not made", picture.media_type)))?;
    if format == ImageFormat::WebP && !webp::is_consistent(&picture.content) {
        return Err(NoPicture::Unusable("what it holds is not as large as it says".to_owned()));
    }
    let mut reader = ImageReader::with_format(Cursor::new(&picture.content[..]), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(UNPACKED_BYTES_MAX);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(unusable)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > PIXELS_MAX || decoder.total_bytes() > UNPACKED_BYTES_MAX {
        return Err(NoPicture::Unusable("it has too many pixels to be made small".to_owned()));
    }
    let orientation = decoder.orientation().map_err(unusable)?;
    let mut whole = DynamicImage::from_decoder(decoder).map_err(unusable)?;
    whole.apply_orientation(orientation);
    Ok(whole)
}

/// Photographs become JPEG; what can be seen through, and is light enough, WebP without loss.
fn pack(small: &DynamicImage, bytes_max: usize) -> Result<Vec<u8>, ImageError> {
    let colours = small.to_rgba8();
    if colours.pixels().any(|pixel| pixel.0[3] < u8::MAX) {
        let mut packed = Vec::new();
        let encoder = WebPEncoder::new_lossless(&mut packed);
        encoder.encode(&colours, colours.width(), colours.height(), ExtendedColorType::Rgba8)?;
        if packed.len() <= bytes_max {
            return Ok(packed);
        }
    }
    pack_opaque(DynamicImage::ImageRgba8(on_white(colours)).to_rgb8(), bytes_max)
}

/// A JPEG of so many bytes at most: first the quality goes, then pixels do. One pixel is taken whatever it takes.
fn pack_opaque(mut colours: RgbImage, bytes_max: usize) -> Result<Vec<u8>, ImageError> {
    for quality in QUALITIES {
        let packed = jpeg(&colours, quality)?;
        if packed.len() <= bytes_max {
            return Ok(packed);
        }
    }
    loop {
        let packed = jpeg(&colours, LOWEST_QUALITY)?;
        if packed.len() <= bytes_max || colours.dimensions() == (1, 1) {
            return Ok(packed);
        }
        let (part, whole) = SHRINKING;
        let [width, height] = [colours.width(), colours.height()].map(|side| (side * part / whole).max(1));
        colours = imageops::thumbnail(&colours, width, height);
    }
}

fn jpeg(colours: &RgbImage, quality: u8) -> Result<Vec<u8>, ImageError> {
    let mut packed = Vec::new();
    JpegEncoder::new_with_quality(&mut packed, quality).encode_image(colours)?;
    Ok(packed)
}

/// What can be seen through, on white.
fn on_white(mut colours: RgbaImage) -> RgbaImage {
    for pixel in colours.pixels_mut() {
        let [red, green, blue, alpha] = pixel.0.map(u16::from);
        let white = u16::from(u8::MAX);
        let mixed =
            |colour: u16| u8::try_from((colour * alpha + white * (white - alpha)) / white).unwrap_or(u8::MAX);
        pixel.0 = [mixed(red), mixed(green), mixed(blue), u8::MAX];
    }
    colours
}
