"""Runs the commands in documents and compares what they print with what the document says.

    documents.py BIN_FOLDER FILE.md...

In a fenced block marked `console`, a line that begins with `$ ` is a command for the shell; the lines up to
the next one are what it prints, on standard output and standard error. A line of `...` stands for any lines. The
commands of one block run in one empty folder; those of a block marked `console continued` in the folder of the block before.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile


def commands(text):
    """The commands in a document, with the folder of their block and the lines that each is said to print."""
    folder = None
    for is_continued, block in re.findall(r'^```console( continued)?\n(.*?)^```', text, re.MULTILINE | re.DOTALL):
        if not is_continued:
            remove(folder)
            folder = tempfile.mkdtemp()
        for part in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition('\n')
            while command.endswith('\\'):
                more, _, output = output.partition('\n')
                command += '\n' + more
            yield folder, command, output.rstrip('\n').split('\n')
    remove(folder)


def remove(folder):
    if folder:
        shutil.rmtree(folder)


def matches(expected, printed):
    """Whether lines are as expected, where `...` stands for any lines."""
    pattern = '\n'.join('(?:.*\n)*?.*' if line == '...' else re.escape(line) for line in expected)
    return re.fullmatch(pattern, '\n'.join(printed)) is not None


def main(folder, files):
    environment = dict(os.environ, PATH=os.path.abspath(folder) + os.pathsep + os.environ['PATH'])
    passed = failed = 0
    for name in files:
        with open(name, encoding='utf-8') as file:
            text = file.read()
        for folder_of_block, command, expected in commands(text):
            run = subprocess.run(['bash', '-c', command], cwd=folder_of_block, env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, check=False)
            printed = run.stdout.decode('utf-8', 'replace').rstrip('\n').split('\n')
            if matches(expected, printed):
                passed += 1
            else:
                failed += 1
                print(f'{name}: $ {command}', '--- the document says', *expected, '--- it prints', *printed, sep='\n')
    print(f'{passed} passed, {failed} failed')
    # A document without a single example is a mistake in this script or in the document.
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
