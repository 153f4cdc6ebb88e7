"""Reads C sources for the gates: which there are, and their text without comments, strings or both."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def tracked(*suffixes):
    """Files of the tree that git knows or would add, relative to the root, in order; all when no suffix is given."""
    listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = [Path(name) for name in listed.stdout.split('\0') if name]
    else:  # an unpacked archive: no repository
        names = [path.relative_to(ROOT) for path in ROOT.rglob('*') if 'build' not in path.relative_to(ROOT).parts[:1]]
    return sorted(name for name in set(names) if (ROOT / name).is_file() and (not suffixes or name.suffix in suffixes))


def sources(*folders):
    """C files and headers below these folders."""
    return [name for name in tracked('.c', '.h') if name.parts[0] in folders]


def read(name):
    return (ROOT / name).read_text(encoding='utf-8', errors='replace')


def code(text):
    """The text with comments, strings and characters blanked; lines keep their numbers."""
    return TOKEN.sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), text)


def lines_with(name, pattern):
    """(line number, match) of each place in the code of a file that matches."""
    for number, line in enumerate(code(read(name)).splitlines(), 1):
        for match in re.finditer(pattern, line):
            yield number, match


def sentence(name):
    """The sentence that says what a file is for: the first of its top comment or docstring; None when there is none."""
    text = read(name)
    if name.suffix in ('.c', '.h'):
        top = re.match(r'/\*\s*(.*?)\*/', text, re.S)
    else:
        top = re.match(r'(?:#![^\n]*\n)?\s*(?:"""(.*?)"""|((?:#[^\n]*\n)+))', text, re.S)
    if not top:
        return None
    plain = next(group for group in top.groups() if group is not None)
    plain = ' '.join(re.sub(r'^\s*(?:\*|#)\s?', '', line).strip() for line in plain.strip().splitlines())
    first = re.match(r'(.*?[.!?])(?:\s|$)(?=\s*(?:[A-Z"`\'(]|$))', plain)
    return first.group(1) if first else None
