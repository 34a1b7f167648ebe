//! Addresses of pictures: what a request says of the size and of the link, and which links lead to files of this service.

use bourse_server::is_file_path;
use sha2::{Digest as _, Sha256};

use crate::Size;

/// A word for a link in the address of its picture: when the link is another one, so is the address, and what a browser keeps is
/// not shown in its place.
pub fn version(link: &str) -> String {
    const_hex::encode(&Sha256::digest(link)[..6])
}

/// Whether the query of an address names a link.
pub(crate) fn names_version(query: Option<&str>, link: &str) -> bool {
    let version = version(link);
    query.is_some_and(|query| query.split('&').any(|part| part == version))
}

/// The size that is asked for, `w=320`; the whole picture where none is.
pub(crate) fn size_in(query: Option<&str>) -> Size {
    let width = query.into_iter().flat_map(|query| query.split('&')).find_map(|part| part.strip_prefix("w="));
    width.and_then(|width| Size::of_width(width.parse().ok()?)).unwrap_or(Size::Whole)
}

/// The path of a file that was uploaded to this service. Nothing else of this service is anything that a link may lead to.
pub fn own_path<'l>(public_url: &str, link: &'l str) -> Option<&'l str> {
    let path = link.strip_prefix(public_url.trim_end_matches('/'))?;
    is_file_path(path).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_service_are_its_own() {
        let path = |link: &str| own_path("https://bourse.example", link).map(str::to_owned);
        for file in
            ["/projects/1/collections/2/assets/3", "/projects/1/collections/2/tokens/3/asset/animation_url"]
        {
            assert_eq!(path(&format!("https://bourse.example{file}")).as_deref(), Some(file));
            for change in [
                format!("https://bourse.example.evil.example{file}"),
                format!("https://bourse.example/{file}"),
                format!("https://bourse.example@evil.example{file}"),
                format!("https://bourse.example{file}/../../../../../console/sign-out"),
                format!("https://bourse.example{file}/%2e%2e/upload"),
                format!("https://bourse.example{file}?next=/console"),
                format!("https://bourse.example{file}#x"),
                format!("https://bourse.example{file}\r\nset-cookie: a=b"),
                format!("http://bourse.example{file}"),
                file.to_owned(),
            ] {
                assert_eq!(path(&change), None, "{change}");
            }
        }
        for other in [
            "",
            "/",
            "/console/sign-out",
            "/projects/../console/sign-out",
            "/projects/1/../../console/people",
            "/projects/1/collections/2/assets/..",
            "/projects/1/collections/2/assets/",
            "/projects/1/collections/2/tokens/3/asset/..",
            "/projects/1/collections/2",
            "/projects/1\\..\\..\\console",
            "//evil.example/projects/1/collections/2/assets/3",
        ] {
            assert_eq!(path(&format!("https://bourse.example{other}")), None, "{other}");
        }
    }
}
