//! The files that a command names, opened by the process of whoever runs it.
//!
//! A server that runs a command for somebody opens none of its files: it has other rights, another working folder and
//! another view of the file system than they have. Their process opens what its own arguments name, and hands over the
//! descriptors: see [`socket`](crate::remote::socket).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::new_file::NewFile;

/// Files that are open, for a command that a server runs.
#[derive(Default)]
pub(crate) struct Files {
    /// In place of standard input.
    pub(crate) input: Option<File>,
    pub(crate) named: Vec<Named>,
}

/// A file by the name that the arguments give it.
pub(crate) struct Named {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    opened: io::Result<Opened>,
}

/// What for a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A folder in which files are made.
    Folder,
    Read,
    Write,
}

enum Opened {
    File(File),
    New(NewFile),
}

impl Access {
    /// In a letter.
    pub(crate) fn letter(self) -> u8 {
        match self {
            Self::Folder => b'f',
            Self::Read => b'r',
            Self::Write => b'w',
        }
    }

    pub(crate) fn from_letter(letter: u8) -> Option<Self> {
        [Self::Folder, Self::Read, Self::Write]
            .into_iter()
            .find(|access| access.letter() == letter)
    }
}

impl Files {
    /// A file that is read; `-` is standard input.
    pub(crate) fn read(mut self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        if path.as_os_str() != "-" {
            self.add(path, Access::Read, File::open(path).map(Opened::File));
        }
        self
    }

    /// Files whose contents become values.
    pub(crate) fn read_values<'p>(mut self, paths: impl IntoIterator<Item = &'p str>) -> Self {
        for path in paths {
            let opened = open_regular(Path::new(path)).map(Opened::File);
            self.add(Path::new(path), Access::Read, opened);
        }
        self
    }

    /// The same as [`read`](Self::read), for all of them.
    pub(crate) fn read_all<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        paths.into_iter().fold(self, Self::read)
    }

    /// A file that is open already.
    pub(crate) fn opened(mut self, path: &Path, file: File) -> Self {
        if path.as_os_str() == "-" {
            self.input = Some(file);
        } else {
            self.add(path, Access::Read, Ok(Opened::File(file)));
        }
        self
    }

    /// A file that is made, or `None`; `-` is standard output.
    pub(crate) fn write(mut self, path: Option<&Path>, mode: u32) -> Self {
        if let Some(path) = path.filter(|path| path.as_os_str() != "-") {
            self.add(
                path,
                Access::Write,
                NewFile::open(path, mode).map(Opened::New),
            );
        }
        self
    }

    /// A file that is made, where there is none.
    pub(crate) fn write_new(mut self, path: &Path, mode: u32) -> Self {
        let new = NewFile::open_new(path, mode).map(Opened::New);
        self.add(path, Access::Write, new);
        self
    }

    /// A folder, which is made where there is none.
    pub(crate) fn folder(mut self, path: &Path) -> Self {
        let opened = fs::create_dir_all(path).and_then(|()| File::open(path));
        self.add(path, Access::Folder, opened.map(Opened::File));
        self
    }

    fn add(&mut self, path: &Path, access: Access, opened: io::Result<Opened>) {
        self.named.push(Named {
            path: path.to_path_buf(),
            access,
            opened,
        });
    }

    /// Gives new files that are whole their names; the others go.
    pub(crate) fn finish(self, finished: &[u8]) -> io::Result<()> {
        for (number, named) in (0..).zip(self.named) {
            if let Ok(Opened::New(new)) = named.opened
                && finished.contains(&number)
            {
                new.finish()?;
            }
        }
        Ok(())
    }
}

impl Named {
    /// The descriptor, or why there is none, as the system numbers it.
    pub(crate) fn descriptor(&self) -> Result<BorrowedFd<'_>, i32> {
        match &self.opened {
            Ok(Opened::File(file)) => Ok(file.as_fd()),
            Ok(Opened::New(new)) => Ok(new.descriptor()),
            Err(error) => Err(error.raw_os_error().unwrap_or(OTHER_ERROR)),
        }
    }
}

/// Opens a file without waiting for anybody: a pipe would wait for a process that writes to it.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let without_waiting = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(without_waiting).open(path)
}

/// Reads a file whose content becomes a value. Devices and pipes have no end that could be known before, and a value
/// that no name holds need not be read.
pub(crate) fn read_value(file: File, path: &str) -> Result<Vec<u8>, String> {
    let unreadable = |error: io::Error| format!("cannot read {path}: {error}");
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(format!(
            "{path} is not a regular file: write its content to one first"
        ));
    }
    let mut bytes = Vec::new();
    file.take(MAX_VALUE_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_VALUE_FILE) {
        return Err(format!(
            "{path} has more than {MAX_VALUE_FILE} bytes, which is more than a name holds: publish the content on \
             the web, and store its URL"
        ));
    }
    Ok(bytes)
}

/// How many bytes a file has, at most, whose content becomes a value: a name holds no more.
const MAX_VALUE_FILE: u64 = 260_000;
/// What cannot be said by a number of the system: `EIO`.
const OTHER_ERROR: i32 = 5;
