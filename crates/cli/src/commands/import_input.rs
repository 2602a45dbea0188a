//! The input of an import, opened on the machine of the user who imports it.
//!
//! A handle batch file may name files in which values are. They are read here, by the process and
//! in the working folder of the user who runs the command, and their bytes are put into the batch:
//! neither the registry nor a server opens them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread;

use handfast_registry::Format;
use handfast_wire::batch::{FileValue, inline_files};
use handfast_wire::json::read_site;
use handfast_wire::{Codec, type_matches};

use crate::files;

/// How much of the input tells what it is: as much as the registry looks at.
const BEGINNING: u64 = 1 << 20;
/// How many files that cannot be read are named.
const MAX_PROBLEMS: usize = 20;

/// Opens what is imported; `-` is standard input. A batch comes without the names of files. Says
/// what is wrong, if something is.
pub(crate) fn open(path: &Path, format: Option<Format>) -> Result<File, String> {
    let name = path.display().to_string();
    let unreadable = |error: io::Error| format!("cannot read {name}: {error}");
    let opened = if name == "-" {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    let mut file = opened.map_err(unreadable)?;
    if format.is_some_and(|format| format != Format::Batch) {
        return Ok(file);
    }
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    let start = file.stream_position().ok().filter(|_| is_file);
    let mut beginning = Vec::new();
    (&file)
        .take(BEGINNING)
        .read_to_end(&mut beginning)
        .map_err(unreadable)?;
    let text = beginning
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(&beginning);
    let is_batch = format.unwrap_or_else(|| Format::detect(&name, text)) == Format::Batch;
    let Some(start) = start else {
        // What a pipe has given cannot be read again.
        return if is_batch {
            without_files(io::Cursor::new(beginning).chain(file), &name)
        } else {
            relayed(beginning, file).map_err(unreadable)
        };
    };
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    let is_named = is_batch && names_files(&file).map_err(unreadable)?;
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    if is_named {
        without_files(file, &name)
    } else {
        Ok(file)
    }
}

fn names_files(batch: &File) -> io::Result<bool> {
    let mut is_named = false;
    let input = BufReader::with_capacity(1 << 16, batch);
    inline_files(input, &mut io::sink(), &mut |_| {
        is_named = true;
        Ok(None)
    })?;
    Ok(is_named)
}

/// A copy of a batch with the bytes of files in place of their names, in a file that has no name.
fn without_files(batch: impl Read, name: &str) -> Result<File, String> {
    let mut problems = Vec::new();
    let copied = (|| {
        let mut copy = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
        let input = BufReader::with_capacity(1 << 16, batch);
        inline_files(input, &mut copy, &mut |value| match read(value) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(problem) => {
                problems.push(format!("{name}, line {}: {problem}", value.line));
                Ok(None)
            }
        })?;
        let mut copy = copy.into_inner().map_err(io::IntoInnerError::into_error)?;
        copy.seek(SeekFrom::Start(0))?;
        Ok(copy)
    })();
    let copy = copied.map_err(|error: io::Error| format!("cannot read {name}: {error}"))?;
    if problems.is_empty() {
        return Ok(copy);
    }
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    if more > 0 {
        problems.push(format!("and {more} files more"));
    }
    problems.push("nothing was imported".to_string());
    Err(problems.join("\n"))
}

/// The bytes of a value that is in a file.
fn read(value: FileValue<'_>) -> Result<Vec<u8>, String> {
    let path = value.path;
    let bytes = files::read_value(path)?;
    // A site may be described in JSON.
    let is_site = type_matches(value.value_type, "HS_SITE");
    let site = is_site.then(|| read_site(&bytes)).flatten();
    Ok(site.map_or(bytes, |site| site.to_bytes()))
}

/// The rest of an input behind what was read of it.
fn relayed(beginning: Vec<u8>, mut rest: File) -> io::Result<File> {
    let (reader, mut writer) = io::pipe()?;
    let relay = thread::Builder::new().name("handfast-relay".into());
    relay.spawn(move || {
        // The reader has seen enough, or the input fails: then it ends here.
        let copied = writer
            .write_all(&beginning)
            .and_then(|()| io::copy(&mut rest, &mut writer));
        drop(copied);
    })?;
    Ok(File::from(OwnedFd::from(reader)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn imported(folder: &Path, batch: &str) -> Result<String, String> {
        let file = folder.join("batch");
        fs::write(&file, batch).unwrap();
        open(&file, Some(Format::Batch)).map(|file| io::read_to_string(file).unwrap())
    }

    /// A pipe made the command wait for ever, and `/dev/zero` took all memory.
    #[test]
    fn only_regular_files_of_some_length_become_values() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| folder.path().join(name).display().to_string();
        fs::write(named("good"), [0, 0xFF]).unwrap();
        fs::write(named("long"), vec![b'x'; 260_001]).unwrap();
        let pipe = std::process::Command::new("mkfifo")
            .arg(named("pipe"))
            .status();
        assert!(pipe.unwrap().success());
        std::os::unix::fs::symlink(named("good"), named("link")).unwrap();
        let line = |file: &str| format!("CREATE a/b\n1 X 60 1110 FILE {file}\n");
        for good in ["good", "link"] {
            let text = imported(folder.path(), &line(&named(good))).unwrap();
            assert_eq!(text, "CREATE a/b\n1 X 60 1110 HEX 00FF\n");
        }
        for (bad, why) in [
            (named("none"), "No such file"),
            (named("pipe"), "not a regular file"),
            (named(""), "not a regular file"),
            ("/dev/zero".into(), "not a regular file"),
            (named("long"), "more than 260000 bytes"),
        ] {
            let problem = imported(folder.path(), &line(&bad)).unwrap_err();
            assert!(
                problem.contains("line 2: ") && problem.contains(why),
                "{problem}"
            );
        }
    }

    #[test]
    fn what_names_no_files_is_read_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let batch = "CREATE a/b\r\n1 X 60 1110 UTF8 FILE x\r\n";
        assert_eq!(imported(folder.path(), batch).unwrap(), batch);
    }
}
