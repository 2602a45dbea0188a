//! Files that are whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A file that takes its name, and the place of one that has it, when all of it is written. What is there
/// stays if anything fails.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    end: End,
}

/// How a file comes to its name.
#[derive(Debug)]
enum End {
    /// This process gives it.
    Rename {
        path: PathBuf,
        /// The name it has until then.
        half: PathBuf,
    },
    /// It has it: it is no file, such as a terminal, or it is done.
    Nothing,
}

impl NewFile {
    pub(crate) fn create(path: &Path, mode: u32) -> anyhow::Result<Self> {
        Self::open(path, mode).with_context(|| format!("cannot write {}", path.display()))
    }

    fn open(path: &Path, mode: u32) -> io::Result<Self> {
        let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file());
        if is_other {
            let file = OpenOptions::new().write(true).open(path)?;
            let end = End::Nothing;
            return Ok(Self { file, end });
        }
        let mut half = path.as_os_str().to_os_string();
        half.push(".part");
        let half = PathBuf::from(half);
        // What an earlier try left may be readable by others.
        drop(fs::remove_file(&half));
        let path = path.to_path_buf();
        Self::make(path, half, mode)
    }

    /// The same, where there must be none: half a file is removed.
    pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<Self> {
        let path = path.to_path_buf();
        Self::make(path.clone(), path, mode)
    }

    fn make(path: PathBuf, half: PathBuf, mode: u32) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&half)?;
        let end = End::Rename { path, half };
        Ok(Self { file, end })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.end, End::Nothing) {
            End::Rename { path, half } => fs::rename(half, path),
            End::Nothing => Ok(()),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let End::Rename { half, .. } = &self.end {
            drop(fs::remove_file(half));
        }
    }
}
