//! A writer for zip archives of a few small files, stored without compression.

// The crate `zip` would replace these 60 lines by a call for each file, and add two crates for one
// command. Nothing is compressed here, and nothing is read.

/// A zip archive of files. Names are ASCII.
pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let (at, length) = (size(out.len()), size(bytes.len()));
        let described = [
            // Version 2.0, no flags, stored, midnight of 1 January 1980.
            shorts([20, 0, 0, 0, 0x21]),
            longs([crc32fast::hash(bytes), length, length]),
            shorts([short(name.len()), 0]),
        ];
        let described = described.concat();
        out.extend([b"PK\x03\x04", &*described, name.as_bytes(), bytes].concat());
        directory.extend([b"PK\x01\x02", &*shorts([MADE_BY]), &described].concat());
        // No comment, the first disk, no attributes.
        directory.extend([&[0; 6], &*longs([MODE, at]), name.as_bytes()].concat());
    }
    let (at, count) = (size(out.len()), short(files.len()));
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(shorts([count, count]));
    out.extend(longs([size(directory.len()), at]));
    out.extend(shorts([0]));
    out
}

fn shorts<const N: usize>(numbers: [u16; N]) -> Vec<u8> {
    numbers.map(u16::to_le_bytes).concat()
}

fn longs<const N: usize>(numbers: [u32; N]) -> Vec<u8> {
    numbers.map(u32::to_le_bytes).concat()
}

/// Unix, version 2.0 of the format.
const MADE_BY: u16 = 0x0314;
/// A file that everybody may read.
const MODE: u32 = 0o100_644 << 16;

/// The archives have a few kilobytes.
fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_found_by_its_directory() {
        let zip = archive(&[("a", b"123456789"), ("bc", b"")]);
        let end = zip.len() - 22;
        assert_eq!(zip[end..end + 4], *b"PK\x05\x06");
        let number = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap());
        let directory = usize::try_from(number(end + 16)).unwrap();
        assert_eq!(directory + usize::try_from(number(end + 12)).unwrap(), end);
        assert_eq!(zip[directory..directory + 4], *b"PK\x01\x02");
        // The check value of this CRC, and the sizes.
        assert_eq!(number(directory + 16), 0xCBF4_3926);
        assert_eq!((number(directory + 20), number(directory + 24)), (9, 9));
        assert_eq!(zip[directory + 46..directory + 47], *b"a");
        assert_eq!(zip[..4], *b"PK\x03\x04");
        assert_eq!(zip[30..40], *b"a123456789");
        let second = usize::try_from(number(directory + 47 + 42)).unwrap();
        assert_eq!(zip[second..second + 4], *b"PK\x03\x04");
        assert_eq!(zip[second + 30..second + 32], *b"bc");
    }
}
