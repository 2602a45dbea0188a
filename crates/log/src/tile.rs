//! Tiles: how a log is published as files that never change (C2SP `tlog-tiles`).
//!
//! A tile has up to 256 consecutive hashes of one tile level. At level 0 these are leaf hashes, at
//! level 1 roots of full tiles of level 0, and so on. Only the last tile of a level may be partial.
//! Entries are published beside their leaf hashes, in bundles of the same width.
//!
//! ```
//! use handfast_log::{Bundle, Tile};
//!
//! // The last tile of leaf hashes in a tree of 70 000 leaves.
//! let tile = Tile::of(0, 273, 70_000).ok_or("no such tile")?;
//! assert_eq!(tile.width(), 112);
//! assert_eq!(tile.path(), "tile/0/273.p/112");
//! assert_eq!(tile.path().parse(), Ok(tile));
//!
//! let full = "tile/entries/x001/x234/067".parse::<Bundle>()?;
//! assert_eq!((full.index(), full.is_full()), (1_234_067, true));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

use crate::text::decimal;

/// Up to 256 consecutive hashes of one tile level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    level: u8,
    position: TreeIndex,
}

impl Tile {
    /// The tile `index` of a level in a tree of `size` leaves, full or partial; none if the tree
    /// does not reach it.
    #[must_use]
    pub fn of(level: u8, index: u64, size: u64) -> Option<Self> {
        let height = u32::from(level).checked_mul(8)?;
        let hashes = size.checked_shr(height)?;
        let position = TreeIndex::of(index, hashes)?;
        Some(Self { level, position })
    }

    /// The tile level: level 0 has leaf hashes.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.level
    }
}

/// `tlog-tiles`: "`<prefix>/tile/<L>/<N>[.p/<W>]`"
impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/{}/{}", self.level, self.position)
    }
}

impl FromStr for Tile {
    type Err = TilePathError;

    fn from_str(path: &str) -> Result<Self, TilePathError> {
        let (level, position) = path
            .strip_prefix("tile/")
            .and_then(|rest| rest.split_once('/'))
            .ok_or(TilePathError::Shape)?;
        let level = decimal(level)
            .and_then(|level| u8::try_from(level).ok())
            .filter(|level| *level <= HIGHEST)
            .ok_or(TilePathError::Level)?;
        let position = position.parse()?;
        Ok(Self { level, position })
    }
}

/// Up to 256 consecutive entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bundle {
    position: TreeIndex,
}

impl Bundle {
    /// The bundle `index` in a tree of `size` leaves, full or partial; none if the tree does not
    /// reach it.
    #[must_use]
    pub fn of(index: u64, size: u64) -> Option<Self> {
        TreeIndex::of(index, size).map(|position| Self { position })
    }
}

/// `tlog-tiles`: "`<prefix>/tile/entries/<N>[.p/<W>]`"
impl fmt::Display for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/entries/{}", self.position)
    }
}

impl FromStr for Bundle {
    type Err = TilePathError;

    fn from_str(path: &str) -> Result<Self, TilePathError> {
        let position = path
            .strip_prefix("tile/entries/")
            .ok_or(TilePathError::Shape)?
            .parse()?;
        Ok(Self { position })
    }
}

macro_rules! in_rows_of_256 {
    ($($type:ident $item:literal;)*) => {$(
        impl $type {
            /// Its number, from 0; tiles are numbered on each level.
            #[must_use]
            pub fn index(&self) -> u64 {
                self.position.index
            }

            #[doc = concat!("The number of ", $item, ", from 1 to 256.")]
            #[must_use]
            pub fn width(&self) -> u16 {
                self.position.width
            }

            #[doc = concat!("The number of the first of its ", $item, ".")]
            #[must_use]
            pub fn first(&self) -> u64 {
                self.position.index.saturating_mul(u64::from(FULL))
            }

            #[doc = concat!("Whether it has 256 ", $item, ", and thus never changes again.")]
            #[must_use]
            pub fn is_full(&self) -> bool {
                self.position.width == FULL
            }

            /// Where it is published, below the address of the log.
            #[must_use]
            pub fn path(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

in_rows_of_256! {
    Tile "hashes";
    Bundle "entries";
}

/// The index and width of tiles and bundles: "`<N>[.p/<W>]`".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TreeIndex {
    /// At most [`LAST`].
    index: u64,
    /// From 1 to [`FULL`].
    width: u16,
}

impl TreeIndex {
    /// The place `index` where `items` are laid out in rows of 256.
    fn of(index: u64, items: u64) -> Option<Self> {
        let first = index.checked_mul(u64::from(FULL))?;
        let remaining = items.checked_sub(first).filter(|count| *count > 0)?;
        let width = u16::try_from(remaining).map_or(FULL, |count| count.min(FULL));
        Some(Self { index, width })
    }
}

impl fmt::Display for TreeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Groups of three digits from the right, as many as are needed.
        let mut groups = vec![self.index % 1000];
        let mut rest = self.index / 1000;
        while rest > 0 {
            groups.push(rest % 1000);
            rest /= 1000;
        }
        for (remaining, group) in groups.iter().enumerate().rev() {
            if remaining > 0 {
                write!(f, "x{group:03}/")?;
            } else {
                write!(f, "{group:03}")?;
            }
        }
        if self.width < FULL {
            write!(f, ".p/{}", self.width)?;
        }
        Ok(())
    }
}

impl FromStr for TreeIndex {
    type Err = TilePathError;

    fn from_str(text: &str) -> Result<Self, TilePathError> {
        let (number, width) = match text.split_once(".p/") {
            Some((number, width)) => {
                let width = decimal(width)
                    .and_then(|width| u16::try_from(width).ok())
                    .filter(|width| (1..FULL).contains(width))
                    .ok_or(TilePathError::Width)?;
                (number, width)
            }
            None => (text, FULL),
        };
        let mut index = 0_u64;
        for group in number.split('/') {
            let digits = group.strip_prefix('x').unwrap_or(group);
            let value: u16 = digits.parse().map_err(|_| TilePathError::Index)?;
            index = index
                .checked_mul(1000)
                .and_then(|index| index.checked_add(u64::from(value)))
                .filter(|index| *index <= LAST)
                .ok_or(TilePathError::Index)?;
        }
        let position = Self { index, width };
        // There is one spelling for each place: signs, missing or needless zeros and misplaced `x`
        // all show here.
        if position.to_string() == text {
            Ok(position)
        } else {
            Err(TilePathError::Index)
        }
    }
}

/// Why a path is not that of a tile or a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TilePathError {
    /// The index is not in groups of three digits, or beyond any log.
    #[error("the index in the path is not of the form x001/x234/067")]
    Index,
    /// The level is not a number from 0 to 63.
    #[error("the level in the path is not a number from 0 to 63")]
    Level,
    /// It does not begin as paths of tiles do.
    #[error("the path is not of the form tile/LEVEL/INDEX or tile/entries/INDEX")]
    Shape,
    /// The width of a partial tile is not a number from 1 to 255.
    #[error("the width in the path is not a number from 1 to 255")]
    Width,
}

/// How many hashes or entries fill a tile or a bundle.
pub(crate) const FULL: u16 = 256;

/// The highest level of a path.
const HIGHEST: u8 = 63;

/// The last index whose first hash can still be numbered.
const LAST: u64 = u64::MAX / 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of `tlog-tiles`, "Partial Tiles".
    #[test]
    fn a_tree_of_70_000_has_the_tiles_of_the_specification() {
        let width = |level, index| Tile::of(level, index, 70_000).map(|tile| tile.width());
        assert_eq!(width(0, 272), Some(256));
        assert_eq!(width(0, 273), Some(112));
        assert_eq!(width(0, 274), None);
        assert_eq!(width(1, 0), Some(256));
        assert_eq!(width(1, 1), Some(17));
        assert_eq!(width(2, 0), Some(1));
        assert_eq!(width(3, 0), None);
    }

    #[test]
    fn the_largest_tree_has_tiles_and_nothing_overflows() {
        for level in 0..=u8::MAX {
            let found = Tile::of(level, 0, u64::MAX);
            assert_eq!(found.is_some(), level < 8, "{level}");
            assert_eq!(Tile::of(level, u64::MAX, u64::MAX), None);
        }
        assert_eq!(
            Tile::of(0, LAST, u64::MAX).map(|tile| tile.width()),
            Some(255)
        );
    }

    #[test]
    fn paths_have_one_spelling() {
        for path in [
            "tile/0/000",
            "tile/63/x001/x234/067.p/8",
            "tile/1/x001/000.p/255",
        ] {
            assert_eq!(path.parse::<Tile>().unwrap().path(), path);
        }
        for (path, error) in [
            ("", TilePathError::Shape),
            ("tile/0", TilePathError::Shape),
            ("/tile/0/000", TilePathError::Shape),
            ("tile/64/000", TilePathError::Level),
            ("tile/00/000", TilePathError::Level),
            ("tile/entries/000", TilePathError::Level),
            ("tile/0/0", TilePathError::Index),
            ("tile/0/+00", TilePathError::Index),
            ("tile/0/x000", TilePathError::Index),
            ("tile/0/x000/000", TilePathError::Index),
            ("tile/0/001/000", TilePathError::Index),
            ("tile/0/xx001/000", TilePathError::Index),
            ("tile/0/000/", TilePathError::Index),
            (
                "tile/0/x999/x999/x999/x999/x999/x999/999",
                TilePathError::Index,
            ),
            ("tile/0/000.p/0", TilePathError::Width),
            ("tile/0/000.p/256", TilePathError::Width),
            ("tile/0/000.p/08", TilePathError::Width),
            ("tile/0/000.p/8/", TilePathError::Width),
        ] {
            assert_eq!(path.parse::<Tile>(), Err(error), "{path}");
        }
        assert_eq!("tile/0/000".parse::<Bundle>(), Err(TilePathError::Shape));
    }
}
