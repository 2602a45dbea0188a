//! The files that a command names, opened by the process of whoever runs it.
//!
//! A server that runs a command for somebody opens none of its files: it has other rights, another working folder and
//! another view of the file system than they have. Their process opens what its own arguments name, and hands over the
//! descriptors: see [`socket`](crate::remote::socket).

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

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

    /// The same, for all of them.
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

/// What cannot be said by a number of the system: `EIO`.
const OTHER_ERROR: i32 = 5;
