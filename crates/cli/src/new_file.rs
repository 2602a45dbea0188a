//! Files that are whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use handfast_registry::sync_name;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};
use tempfile::TempPath;

/// A file that takes its name, and the place of one that has it, when all of it is written. What is
/// there stays if anything fails.
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
        half: TempPath,
    },
    /// This process gives it, and replaces no file.
    Link {
        path: PathBuf,
        /// The name it has until then; none where the file system has files without one.
        half: Option<TempPath>,
    },
    /// It has it: it is no file, such as a terminal.
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
        let (file, half) = make(path, mode)?;
        let path = path.to_path_buf();
        let end = End::Rename { path, half };
        Ok(Self { file, end })
    }

    /// The same, where there must be none. Where the file system can, the file has no name at all
    /// until it is whole: nothing is left of it, however this process ends.
    pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<Self> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let (file, half) = match nameless(path, mode) {
            Some(file) => (file, None),
            None => make(path, mode).map(|(file, half)| (file, Some(half)))?,
        };
        let path = path.to_path_buf();
        let end = End::Link { path, half };
        Ok(Self { file, end })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.end {
            End::Rename { path, half } => half.persist(path)?,
            End::Link {
                path,
                half: Some(half),
            } => {
                if let Err(failed) = half.persist_noclobber(&path) {
                    if fs::symlink_metadata(&path).is_ok() {
                        return Err(failed.error);
                    }
                    // Not every file system can rename so, or has a second name for a file.
                    failed.path.persist(&path)?;
                }
            }
            End::Link { path, half: None } => {
                let of_descriptor = format!("{DESCRIPTORS}/{}", self.file.as_raw_fd());
                linkat(CWD, of_descriptor, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
            }
            End::Nothing => {}
        }
        Ok(())
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

/// A name beside another one, which may have been written with a slash behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let path: PathBuf = path.components().collect();
    let mut beside = path.into_os_string();
    beside.push(suffix);
    PathBuf::from(beside)
}

/// Moves a folder to its place, which may be taken by an empty one.
pub(crate) fn move_folder(half: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::remove_dir(folder)?;
    fs::rename(half, folder)?;
    sync_name(folder)
}

/// A file under another name, which it has until it is whole.
fn make(path: &Path, mode: u32) -> io::Result<(File, TempPath)> {
    let half = std::path::absolute(beside(path, ".part"))?;
    // What an earlier try left may be readable by others.
    drop(fs::remove_file(&half));
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&half)?;
    Ok((file, TempPath::try_from_path(half)?))
}

/// A file without a name in the folder of a path; nothing where the system has no such files, or
/// could not name them later.
fn nameless(path: &Path, mode: u32) -> Option<File> {
    let folder = path.parent()?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    fs::metadata(DESCRIPTORS).ok()?;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode));
    opened.ok().map(File::from)
}

/// Where the system shows the descriptors of this process.
const DESCRIPTORS: &str = "/proc/self/fd";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// Guards against half a backup under the name of a whole one, and against a file that is
    /// overwritten.
    #[test]
    fn a_new_file_has_its_name_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        // With and without files that have no name.
        let named = |path: &Path| {
            let (file, half) = make(path, 0o600).unwrap();
            let (path, half) = (path.to_path_buf(), Some(half));
            NewFile {
                file,
                end: End::Link { path, half },
            }
        };
        let nameless = |path: &Path| NewFile::create_new(path, 0o600).unwrap();
        let kinds: [&dyn Fn(&Path) -> NewFile; 2] = [&named, &nameless];
        for open in kinds {
            let mut given_up = open(&path);
            given_up.write_all(b"half").unwrap();
            assert!(!path.exists());
            drop(given_up);
            assert_eq!(files(folder.path()), [""; 0]);

            let mut whole = open(&path);
            whole.write_all(b"whole").unwrap();
            whole.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"whole");
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert_eq!(files(folder.path()), ["copy"]);
            let again = NewFile::create_new(&path, 0o600).unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);

            fs::remove_file(&path).unwrap();
            let late = open(&path);
            fs::write(&path, "of another process").unwrap();
            let refused = late.finish().unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).unwrap(), b"of another process");
            fs::remove_file(&path).unwrap();
        }
    }
}
