//! Zip archives, as far as a handful of small files needs them: stored as they are, without compression.

// The crate `zip` would replace these 60 lines by a call for each file, and add two crates for one
// command. Nothing is compressed here, and nothing is read.

/// A zip archive of files. Names are ASCII.
pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let at = size(out.len());
        let mut described = Vec::new();
        // Version 2.0, no flags, stored, midnight of 1 January 1980.
        for number in [20, 0, 0, 0, 0x21_u16] {
            described.extend(number.to_le_bytes());
        }
        described.extend(crc32fast::hash(bytes).to_le_bytes());
        described.extend(size(bytes.len()).to_le_bytes());
        described.extend(size(bytes.len()).to_le_bytes());
        described.extend(short(name.len()).to_le_bytes());
        described.extend(0_u16.to_le_bytes());

        out.extend(b"PK\x03\x04");
        out.extend(&described);
        out.extend(name.as_bytes());
        out.extend(*bytes);

        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&described);
        // No comment, the first disk, no attributes.
        directory.extend([0; 6]);
        directory.extend(MODE.to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = size(out.len());
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(short(files.len()).to_le_bytes());
    out.extend(short(files.len()).to_le_bytes());
    out.extend(size(directory.len()).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend(0_u16.to_le_bytes());
    out
}

/// Unix, version 2.0 of the format.
const MADE_BY: u16 = 0x0314;
/// A file that everybody may read.
const MODE: u32 = 0o100_644 << 16;

/// What is archived here has a few kilobytes.
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
