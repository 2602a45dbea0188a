//! Files that are whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::console;

/// A file that takes its name, and the place of one that has it, when all of it is written. What is there
/// stays if anything fails.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    path: PathBuf,
    /// The name it has until then; `None` for what is no file, such as a terminal.
    half: Option<PathBuf>,
}

impl NewFile {
    pub(crate) fn create(path: &Path, mode: u32) -> anyhow::Result<Self> {
        let path = &console::here(path);
        let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file());
        let half = (!is_other).then(|| {
            let mut name = path.as_os_str().to_os_string();
            name.push(".part");
            PathBuf::from(name)
        });
        let mut options = OpenOptions::new();
        options.write(true).mode(mode);
        if half.is_some() {
            options.create(true).truncate(true);
        }
        let file = options
            .open(half.as_deref().unwrap_or(path))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            file,
            path: path.clone(),
            half,
        })
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.half.take() {
            Some(half) => fs::rename(half, &self.path),
            None => Ok(()),
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
        if let Some(half) = &self.half {
            drop(fs::remove_file(half));
        }
    }
}
