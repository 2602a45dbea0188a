"""Checks the model itself: every case of the vectors, every example of the info registry, and X-6 on generated text.

    python3 test_vectors.py [--vectors FILE] [--data FILE] [--count N] [--seed S]
"""

import argparse
import json
import sys

import generate
import model


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('--vectors', default=generate.DEFAULT_VECTORS, help='the vectors (JSON lines)')
    arguments.add_argument('--data', default=model.DEFAULT_DATA, help='the entries of the info registry')
    arguments.add_argument('--count', type=int, default=2000, help='generated inputs a scheme for X-6')
    arguments.add_argument('--seed', type=int, default=1)
    options = arguments.parse_args()
    registry = model.load_registry(options.data)
    passed, failures = 0, []
    for kind in (vectors(options.vectors, registry), examples(options.data, registry),
                 round_trips(options, registry)):
        for failure in kind:
            if failure is None:
                passed += 1
            else:
                failures.append(failure)
    for failure in failures[:50]:
        print(failure)
    print(f'{passed} passed, {len(failures)} failed')
    return 1 if failures else 0


def vectors(path, registry):
    """Each field of a case must be in the answer; objects may hold more than the case names."""
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            case = json.loads(line)
            answer = model.inspect(case['input'].encode(), case['as'], case.get('grammar', 'rfc4452'),
                                   case.get('registry', registry), case.get('resolvers', ()))
            wrong = [name for name in ('ok', 'scheme', 'canonical') if name in case and case[name] != answer.get(name)]
            for name in ('components', 'spellings'):
                wrong += [f'{name}.{key}' for key, value in case.get(name, {}).items()
                          if key not in answer.get(name, {}) or answer[name][key] != value]
            yield f'vector {number} ({case["rule"]}): {wrong}\n  {case}\n  {answer}' if wrong else None


def examples(path, registry):
    with open(path, encoding='utf-8') as file:
        for entry in json.load(file):
            for example in entry['examples']:
                for text in (example['input'], example['canonical']):
                    answer = model.inspect(text.encode(), 'info', registry=registry)
                    right = answer.get('canonical') == example['canonical'] and answer['components']['registered']
                    yield None if right else f'example {text}: {answer}'


def round_trips(options, registry):
    """X-6: the canonical form is its own canonical form."""
    for scheme in generate.SCHEMES:
        for raw in generate.inputs(scheme, options.count, options.seed, options.vectors, options.data):
            answer = model.inspect(raw, scheme, registry=registry)
            if not answer['ok']:
                continue
            again = model.inspect(answer['canonical'].encode(), answer['scheme'], registry=registry)
            same = again.get('canonical') == answer['canonical'] and again.get('spellings') == answer['spellings']
            yield None if same else f'X-6, {scheme}: {raw!r}\n  {answer}\n  {again}'


if __name__ == '__main__':
    sys.exit(main())
