"""Compares the program with the model on generated inputs.

    python3 compare.py --handfast PATH [--count N] [--seed S] [--scheme X]

For each scheme the program is run once for each set of options that matters, reads all inputs as lines on standard input
and must answer each as the model does. `ok`, `scheme`, `canonical`, `components` and `spellings` must be the same; the place
and the echo of the input (`at`, `input`) are only reported.
"""

import argparse
import concurrent.futures
import json
import subprocess
import sys

import generate
import model

COMPARED = ('ok', 'scheme', 'canonical', 'components', 'spellings')
RESOLVERS = ['http://arrow.resolver.au.gov:2641/hdl', 'https://r.example']
SHOWN = 20
SHOWN_SOFT = 5


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('--handfast', required=True, help='the program to compare')
    arguments.add_argument('--count', type=int, default=2000, help='inputs a scheme')
    arguments.add_argument('--seed', type=int, default=1)
    arguments.add_argument('--scheme', choices=generate.SCHEMES, help='this scheme only')
    arguments.add_argument('--vectors', default=generate.DEFAULT_VECTORS, help='seeds: the vectors (JSON lines)')
    arguments.add_argument('--data', default=model.DEFAULT_DATA, help='the entries of the info registry')
    options = arguments.parse_args()

    jobs = [(options, scheme, flags, settings)
            for scheme in ([options.scheme] if options.scheme else generate.SCHEMES)
            for flags, settings in variants(scheme)]
    passed = failed = 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for report, right, wrong in pool.map(compare, jobs):
            print(report)
            passed += right
            failed += wrong
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


def variants(scheme):
    """The flags to run a scheme with, and what they mean to the model."""
    yield [], {}
    if scheme == 'info':
        yield ['--no-registry'], {'registry': None}
        yield ['--grammar', 'draft'], {'grammar': 'draft'}
    if scheme in ('http', 'any'):
        yield [word for url in RESOLVERS for word in ('--resolver', url)], {'resolvers': RESOLVERS}


def compare(job):
    """One run of the program: (report, how many answers are right, how many wrong)."""
    options, scheme, flags, settings = job
    settings = {'registry': model.load_registry(options.data), **settings}
    lines = generate.inputs(scheme, options.count, options.seed, options.vectors, options.data)
    expected = [model.inspect(line, scheme, **settings) for line in lines]
    command = [options.handfast, 'inspect', '--json', '--as', scheme, *flags, '-']
    run = subprocess.run(command, input=b''.join(line + b'\n' for line in lines), capture_output=True, timeout=300)
    answers = run.stdout.decode('utf-8', 'backslashreplace').split('\n')[:-1]

    wrong, soft_at, soft_input = [], [], []
    for line, want, text in zip(lines, expected, answers):
        try:
            got = json.loads(text)
        except ValueError:
            wrong.append(disagreement(line, want, f'not JSON: {text}', []))
            continue
        fields = [field for field in COMPARED if got.get(field) != want.get(field)]
        if fields:
            wrong.append(disagreement(line, want, got, fields))
            continue
        if not want['ok'] and got.get('error', {}).get('at') != want['error']['at']:
            soft_at.append(f'{short(line)}: model {want["error"]}, program {got.get("error")}')
        if got.get('input') != want['input']:
            soft_input.append(f'{short(line)}: model {want["input"]!r:.300}, program {got.get("input")!r:.300}')
    if len(answers) != len(lines):
        missing = abs(len(lines) - len(answers))
        wrong += [f'{len(lines)} lines in, {len(answers)} lines out; exit status {run.returncode}; '
                  f'{run.stderr[-1000:].decode("utf-8", "replace")}'] * missing
    status = 0 if all(want['ok'] for want in expected) else 1
    if run.returncode != status:
        wrong.append(f'exit status {run.returncode}, not {status}; {run.stderr[-1000:].decode("utf-8", "replace")}')

    valid = sum(want['ok'] for want in expected)
    right = max(0, len(lines) - len(wrong))
    report = [f'== {" ".join(["--as", scheme, *flags])}: {right} same ({valid} of {len(lines)} inputs are valid), '
              f'{len(wrong)} different']
    report += wrong[:SHOWN]
    if len(wrong) > SHOWN:
        report.append(f'... and {len(wrong) - SHOWN} more')
    for name, samples in (('at', soft_at), ('input', soft_input)):
        if samples:
            report.append(f'-- `{name}` differs {len(samples)} times (not counted)')
            report += ['   ' + sample for sample in samples[:SHOWN_SOFT]]
    return '\n'.join(report), right, len(wrong)


def disagreement(line, want, got, fields):
    got = got if isinstance(got, str) else json.dumps(got, ensure_ascii=True, sort_keys=True)
    return (f'input   {line!r}\n  differ  {", ".join(fields)}\n  model   {json.dumps(want, ensure_ascii=True, sort_keys=True)}\n'
            f'  program {got}')


def short(line):
    return repr(line) if len(line) <= 100 else f'{line[:60]!r}... ({len(line)} bytes)'


if __name__ == '__main__':
    sys.exit(main())
