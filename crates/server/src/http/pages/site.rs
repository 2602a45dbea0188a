//! The institution: its name, logo, contact, footer and colour, which head every page.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use hyper::body::Bytes;
use sha2::{Digest, Sha256};

/// The settings of pages: keys of `[web]` in `handfast.toml`.
#[derive(Clone, Debug, Default)]
pub struct SiteSettings {
    /// The name of the institution.
    pub name: Option<String>,
    /// A file with its logo: SVG, PNG, JPEG or WebP.
    pub logo: Option<PathBuf>,
    /// Whom to ask: an e-mail address, a web address or words.
    pub contact: Option<String>,
    /// A sentence at the foot of public pages.
    pub footer: Option<String>,
    /// The colour of links and buttons on light pages.
    pub accent: Option<Colour>,
    /// The same on dark pages.
    pub accent_dark: Option<Colour>,
    /// Whether the front page lists the authorities.
    pub lists_authorities: Option<bool>,
}

/// The institution, as pages show it.
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) contact: Option<String>,
    pub(crate) footer: String,
    pub(crate) has_logo: bool,
    pub(crate) lists_authorities: bool,
    /// Where the stylesheet is; the address changes with its text.
    pub(crate) style_path: String,
    pub(crate) script_path: String,
    pub(super) style: Bytes,
    pub(super) logo: Option<(&'static str, Bytes)>,
    /// What is wrong with the settings, for the page about the server.
    pub(crate) problems: Vec<String>,
}

pub(super) const SCRIPT: &str = include_str!("../../../static/app.js");
const STYLE: &str = include_str!("../../../static/style.css");
/// The largest logo, in bytes.
const MAX_LOGO: u64 = 512 << 10;
/// The least contrast of text (WCAG 2.2, 1.4.3).
const MIN_CONTRAST: f64 = 4.5;

impl Site {
    pub(crate) fn new(settings: &SiteSettings) -> io::Result<Self> {
        let mut problems = Vec::new();
        let mut style = STYLE.to_string();
        let grounds = [
            ("accent", settings.accent, ["#f6f5f1", "#ffffff"]),
            ("accent-dark", settings.accent_dark, ["#131517", "#1b1e20"]),
        ];
        let [light, dark] = grounds.map(|(key, colour, grounds)| {
            let colour = colour?;
            let grounds = grounds
                .iter()
                .filter_map(|text| text.parse::<Colour>().ok());
            if grounds
                .into_iter()
                .all(|ground| colour.contrast(ground) >= MIN_CONTRAST)
            {
                return Some(colour);
            }
            problems.push(format!(
                "{key} {colour} has too little contrast with the page: the usual colour is used"
            ));
            None
        });
        if light.is_some() || dark.is_some() {
            let usual = |text: &str| text.to_string();
            let light = light.map_or_else(|| usual("#0b5a67"), |colour| colour.to_string());
            let dark = dark.map_or_else(|| usual("#7accd6"), |colour| colour.to_string());
            // A later rule of the same layer goes before an earlier one.
            let rule = format!(
                "@layer tokens {{ :root {{ --accent: light-dark({light}, {dark}); \
                 --accent-hover: var(--accent); }} }}\n"
            );
            style.push_str(&rule);
        }
        for problem in &problems {
            tracing::warn!("{problem}");
        }
        let logo = settings.logo.as_ref().map(read_logo).transpose()?;
        let name = settings.name.clone();
        let name = name.unwrap_or_else(|| "Identifier service".to_string());
        let footer = settings.footer.clone();
        Ok(Self {
            footer: footer.unwrap_or_else(|| match settings.name {
                Some(ref name) => format!("Identifier service of {name}"),
                None => "Identifier service".to_string(),
            }),
            contact: settings.contact.clone(),
            has_logo: logo.is_some(),
            lists_authorities: settings.lists_authorities.unwrap_or(true),
            style_path: versioned("/static/style.css", style.as_bytes()),
            script_path: versioned("/static/app.js", SCRIPT.as_bytes()),
            style: style.into(),
            logo,
            problems,
            name,
        })
    }
}

/// The address of a file that changes with its bytes, so that a browser may cache it for ever.
fn versioned(path: &str, bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("{path}?v={}", digits.collect::<String>())
}

fn read_logo(file: &PathBuf) -> io::Result<(&'static str, Bytes)> {
    let named = |error: io::Error| {
        let text = format!("cannot read the logo {}: {error}", file.display());
        io::Error::new(error.kind(), text)
    };
    let extension = file.extension().and_then(|extension| extension.to_str());
    let kind = match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        _ => {
            let error = "a logo is a file .svg, .png, .jpg or .webp";
            return Err(named(io::Error::new(io::ErrorKind::InvalidInput, error)));
        }
    };
    let length = std::fs::metadata(file).map_err(named)?.len();
    if length > MAX_LOGO {
        let error = format!("it has {length} bytes, and at most {MAX_LOGO} are allowed");
        return Err(named(io::Error::new(io::ErrorKind::InvalidInput, error)));
    }
    Ok((kind, std::fs::read(file).map_err(named)?.into()))
}

/// A colour: `#0b5a67`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour([u8; 3]);

/// A text that is not a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a colour is # and six hexadecimal digits, such as #0b5a67")]
pub struct BadColour;

impl FromStr for Colour {
    type Err = BadColour;

    fn from_str(text: &str) -> Result<Self, BadColour> {
        // A number may begin with a plus sign, a colour may not.
        let is_colour = |digits: &&str| {
            digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let digits = text.strip_prefix('#').filter(is_colour);
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, red, green, blue] = number.ok_or(BadColour)?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([red, green, blue]) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Colour {
    /// WCAG 2.2, "contrast ratio": "(L1 + 0.05) / (L2 + 0.05)".
    fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// WCAG 2.2, "relative luminance".
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        let colour = |text: &str| text.parse::<Colour>().unwrap();
        let contrast = colour("#0b5a67").contrast(colour("#f6f5f1"));
        assert!((contrast - 7.20).abs() < 0.01, "{contrast}");
        assert_eq!("#12345".parse::<Colour>(), Err(BadColour));
        assert_eq!("#+12345".parse::<Colour>(), Err(BadColour));
        assert_eq!(colour("#0B5A67").to_string(), "#0b5a67");
    }

    #[test]
    fn a_colour_that_cannot_be_read_is_not_used() {
        let settings = SiteSettings {
            accent: Some("#ffff00".parse().unwrap()),
            ..SiteSettings::default()
        };
        let site = Site::new(&settings).unwrap();
        assert_eq!(site.problems.len(), 1);
        assert!(!site.style.ends_with(b"var(--accent); } }\n"));
    }
}
