//! QR codes of citable links, as SVG and PNG: black on white, with a quiet zone of four modules.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use qrcode::{Color, QrCode};

/// ISO/IEC 18004 §6.3.8: the quiet zone around the symbol, in modules.
const QUIET_ZONE: usize = 4;
/// The side of a module in a PNG, in pixels.
const PNG_SCALE: usize = 8;

/// A symbol: which of its modules are dark.
pub(crate) struct QrSymbol {
    width: usize,
    modules: Vec<Color>,
}

impl QrSymbol {
    /// The symbol of a text; `None` if the text is too long for one.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let code = QrCode::new(text).ok()?;
        Some(Self {
            width: code.width(),
            modules: code.into_colors(),
        })
    }

    fn is_dark(&self, row: usize, column: usize) -> bool {
        let at = row.checked_mul(self.width).map(|start| start + column);
        let module = at.and_then(|at| self.modules.get(at));
        column < self.width && module == Some(&Color::Dark)
    }

    /// The symbol as an SVG element, without inline style, so that it may stand in any page.
    pub(crate) fn svg(&self) -> String {
        let side = self.width + 2 * QUIET_ZONE;
        let mut path = String::new();
        for row in 0..self.width {
            let mut column = 0;
            while column < self.width {
                let rest = column..self.width;
                let run = rest.take_while(|at| self.is_dark(row, *at)).count();
                if run > 0 {
                    let (x, y) = (column + QUIET_ZONE, row + QUIET_ZONE);
                    // Writing to a string cannot fail.
                    let _ = write!(path, "M{x} {y}h{run}v1h-{run}z");
                }
                column += run.max(1);
            }
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" \
             width=\"132\" height=\"132\" shape-rendering=\"crispEdges\" aria-hidden=\"true\">\
             <path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/>\
             <path fill=\"#000\" d=\"{path}\"/></svg>"
        )
    }

    /// The symbol as a PNG image (ISO/IEC 15948) of one bit for each pixel.
    pub(crate) fn png(&self) -> std::io::Result<Vec<u8>> {
        let side = (self.width + 2 * QUIET_ZONE) * PNG_SCALE;
        let mut pixels = ZlibEncoder::new(Vec::new(), Compression::default());
        for y in 0..side {
            let mut line = vec![0_u8; 1 + side.div_ceil(8)];
            for x in 0..side {
                let (row, column) = (y / PNG_SCALE, x / PNG_SCALE);
                let inside = row
                    .checked_sub(QUIET_ZONE)
                    .zip(column.checked_sub(QUIET_ZONE));
                let is_dark = inside.is_some_and(|(row, column)| self.is_dark(row, column));
                // The first byte of a line is its filter: none.
                if let Some(byte) = line.get_mut(1 + x / 8).filter(|_| !is_dark) {
                    *byte |= 0x80 >> (x % 8);
                }
            }
            pixels.write_all(&line)?;
        }
        let side = u32::try_from(side).unwrap_or(u32::MAX).to_be_bytes();
        let mut header = [side, side].concat();
        // One bit, greyscale, and the only compression, filter and order without interlacing.
        header.extend([1, 0, 0, 0, 0]);
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut out, *b"IHDR", &header);
        chunk(&mut out, *b"IDAT", &pixels.finish()?);
        chunk(&mut out, *b"IEND", &[]);
        Ok(out)
    }
}

fn chunk(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    out.extend(length.to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend(data);
    let sum = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend(sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_has_its_finder_patterns_and_a_quiet_zone() {
        let symbol = QrSymbol::new("https://id.library.example/20.1000/map-0412").unwrap();
        assert!(symbol.is_dark(0, 0) && symbol.is_dark(0, 6) && !symbol.is_dark(1, 1));
        assert!(!symbol.is_dark(0, symbol.width));
        let svg = symbol.svg();
        let side = symbol.width + 8;
        assert!(
            svg.contains(&format!("viewBox=\"0 0 {side} {side}\"")),
            "{svg}"
        );
        assert!(svg.contains("M4 4h7v1h-7z"), "{svg}");
        assert!(!svg.contains("style"), "{svg}");
    }

    #[test]
    fn a_picture_is_a_png_of_the_right_size() {
        let symbol = QrSymbol::new("a").unwrap();
        let png = symbol.png().unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\xE8\0\0\0\xE8\x01\0"));
        assert!(png.ends_with(b"\0\0\0\0IEND\xAE\x42\x60\x82"));
    }

    #[test]
    fn a_text_that_is_too_long_has_no_symbol() {
        assert!(QrSymbol::new(&"x".repeat(3_000)).is_none());
    }
}
