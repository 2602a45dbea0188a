"""Reads a trace of strace, and says which files were not on disk at which point of it.

The model is that of POSIX: written bytes are on disk after `fsync` or `fdatasync` of the file, or at once if the file was opened
with O_DSYNC or O_SYNC. A new name of a file, and a new folder, are on disk after `fsync` of the folder that has the name.
"""

import bisect
import dataclasses
import os
import re

CALLS = ("open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,ftruncate,fallocate,copy_file_range,sendfile,msync,"
         "fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat")
STRACE = ["strace", "-f", "-qq", "-y", "-s", "200", "-e", f"trace={CALLS}"]
WRITES = {"write", "writev", "pwrite64", "pwritev", "pwritev2", "ftruncate", "fallocate", "sendfile"}
SYNCS = {"fsync", "fdatasync"}
LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?")
DESCRIPTOR = re.compile(r"(\d+)<([^>]*)>")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclasses.dataclass
class Call:
    """One system call: where its line begins in the trace, where it ended, and what it did."""

    began: int
    ended: int
    # write, sync, name or gone
    kind: str
    path: str
    # For a name: the file that got it.
    old: str = None
    # For a write: it is on disk when the call ends.
    is_synced: bool = False


class Trace:
    """The calls of one traced process, in a file that may still grow."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        # The files that have their names already.
        self.known = {os.path.join(place, name) for place, _, names in os.walk(folder) for name in names}

    def size(self):
        """A point in the trace: everything before it has happened."""
        try:
            return os.stat(self.path).st_size
        except FileNotFoundError:
            return 0

    def calls(self):
        """All calls that matter, in the order of their ends."""
        with open(self.path, errors="replace") as file:
            text = file.read()
        calls, unfinished, descriptors, known, position = [], {}, {}, set(self.known), 0
        for line in text.splitlines(keepends=True):
            began, position = position, position + len(line.encode())
            line = line.rstrip()
            process = line.split(" ", 1)[0]
            if line.endswith("<unfinished ...>"):
                unfinished[process] = (began, line[: -len("<unfinished ...>")].rstrip())
                continue
            resumed = re.match(r"\d+ +<\.\.\. \w+ resumed>(.*)", line)
            if resumed:
                if process not in unfinished:
                    continue
                began, start = unfinished.pop(process)
                line = start + resumed.group(1)
            found = LINE.match(line)
            if found and int(found.group(4)) >= 0:
                calls += self.read(found, began, position, descriptors, known)
        return sorted(calls, key=lambda call: call.ended)

    def read(self, found, began, ended, descriptors, known):
        """What a call did to files."""
        _, name, arguments, _, opened = found.groups()
        paths = [self.absolute(text) for text in TEXT.findall(arguments)]
        if name in ("open", "openat", "creat"):
            number = found.group(4)
            descriptors[number] = (opened, "O_DSYNC" in arguments or "O_SYNC" in arguments)
            is_new = "O_CREAT" in arguments and opened not in known and not opened.startswith(("/proc", "/dev"))
            known.add(opened)
            return [Call(began, ended, "name", opened, opened)] if is_new and "O_TMPFILE" not in arguments else []
        if name.startswith("mkdir"):
            return [Call(began, ended, "name", paths[0], paths[0])]
        if name.startswith(("rename", "link")):
            old = paths[0]
            if old.startswith("/proc/self/fd/"):
                old = descriptors[old.rsplit("/", 1)[1]][0]
            known.add(paths[1])
            return [Call(began, ended, "name", paths[1], old)]
        if name.startswith("unlink"):
            known.discard(paths[0])
            return [Call(began, ended, "gone", paths[0])]
        files = DESCRIPTOR.findall(arguments)
        if not files:
            return []
        number, path = files[1] if name == "copy_file_range" else files[0]
        if not path.startswith("/"):
            return []
        if name in SYNCS:
            return [Call(began, ended, "sync", path)]
        if name in WRITES or name == "copy_file_range":
            return [Call(began, ended, "write", path, is_synced=descriptors.get(number, ("", False))[1])]
        return []

    def absolute(self, text):
        return os.path.normpath(os.path.join(self.folder, text))


def unsynced(calls, point, below):
    """The files and folders below a folder that are not on disk at a point of the trace, with the reason."""
    dirty = {}
    for number, call in enumerate(calls):
        if call.ended > point:
            break
        if call.kind == "write" and not call.is_synced:
            dirty[call.path] = (number, call.ended, "was written")
        elif call.kind == "name" and not is_exempt(call.path):
            if call.old != call.path and call.old in dirty:
                dirty[call.path] = dirty.pop(call.old)
            folder = os.path.dirname(call.path)
            dirty[folder] = (number, call.ended, f"got the name {os.path.basename(call.path)}")
        elif call.kind == "gone":
            dirty.pop(call.path, None)
        elif call.kind == "sync" and call.path in dirty and dirty[call.path][1] <= call.began:
            del dirty[call.path]
    is_below = lambda path: path == below or path.startswith(below + "/")
    return [f"{path} {why[2]} and is not synced" for path, why in dirty.items() if is_below(path) and not is_exempt(path)]


def is_exempt(path):
    """Whether nothing is promised of a file.

    LMDB's table of readers and sockets mean nothing after a crash. Files without a name serve to sort. The bundle for a registrar
    can be made again. `log.key.new`, which is synced, serves as the key until it is `log.key`. Derived data is rebuilt, and no
    answer waits for times of last use. `last-backup` is a note for people, of a backup that is synced.
    """
    return re.search(r"/(lock\.mdb|lock|[^/]*\.sock|registration|log\.key|last-backup|#\d+|(derived|observed)(/.*)?)$", path) is not None


def commits(calls, data_file):
    """The commits of the store: (begin of the first write, end of the commit, what is wrong with it).

    LMDB writes new pages, syncs them, and then writes the page that makes them valid through a descriptor with O_DSYNC.
    """
    found, first, dirty = [], None, None
    for call in calls:
        if call.path != data_file:
            continue
        if call.kind == "sync" and dirty is not None and dirty <= call.began:
            dirty = None
        elif call.kind == "write" and not call.is_synced:
            first, dirty = call.began if first is None else first, call.ended
        elif call.kind == "write" and first is not None:
            problem = None if dirty is None else "the store became valid before its pages were synced"
            found.append((first, call.ended, problem))
            first = dirty = None
    return found


def committed(found, began, ended):
    """What is wrong with an acknowledgement of a request: None if a commit lies between them."""
    start = bisect.bisect_left(found, (began,))
    inside = [commit for commit in found[start:] if commit[1] <= ended]
    if not inside:
        return "it was acknowledged before a synced commit"
    problems = [problem for _, _, problem in inside if problem]
    return problems[0] if problems else None
