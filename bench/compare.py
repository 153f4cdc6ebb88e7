"""What is compared, how it is measured in turn, and how a comparison is judged and printed."""
import statistics
from dataclasses import dataclass, field

from programs import Failed


@dataclass(frozen=True)
class Wanted:
    """A bound on the ratio of ours to theirs, or, without a peer, on our figure in its unit."""
    most: float = None
    least: float = None

    def met(self, value):
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def __str__(self):
        return f'<= {self.most:g}' if self.least is None else f'>= {self.least:g}'


@dataclass(frozen=True)
class Comparison:
    """One line: a figure of our side, and the same figure of the other side unless it stands alone."""
    text: str
    ours: str
    theirs: str
    figure: str
    unit: str
    factor: float  # from SI units to the unit
    wanted: Wanted


@dataclass
class Group:
    """Sides that run in turn (A B C A B C ...), and the comparisons that their figures give."""
    name: str
    sides: dict  # name: function without arguments → {figure: value}
    comparisons: list
    once: bool = False  # what does not vary needs no rounds
    values: dict = field(default_factory=dict)  # side: [figures of each round]
    broken: dict = field(default_factory=dict)  # side: why it could not be run

    def measure(self, rounds, say):
        """Runs every side once a round; a side that fails is left out from then on."""
        self.values = {side: [] for side in self.sides}
        for number in range(1 if self.once else rounds):
            for side, run in self.sides.items():
                if side in self.broken:
                    continue
                say(f'{self.name}: {side}, round {number + 1}')
                try:
                    self.values[side].append(run())
                except Failed as error:
                    self.broken[side] = str(error)

    def rows(self):
        return [row_of(self, comparison) for comparison in self.comparisons]


def row_of(group, comparison):
    """A comparison as plain data: medians, ratio of the medians, and the spread of the rounds' ratios."""
    row = {'group': group.name, 'text': comparison.text, 'ours': comparison.ours, 'theirs': comparison.theirs,
           'unit': comparison.unit, 'wanted': str(comparison.wanted)}
    sides = [side for side in (comparison.ours, comparison.theirs) if side]
    broken = [f'{side}: {group.broken[side]}' for side in sides if side in group.broken]
    if broken:
        return {**row, 'error': '; '.join(broken)}
    columns = [[figures[comparison.figure] * comparison.factor for figures in group.values[side]] for side in sides]
    medians = [statistics.median(column) for column in columns]
    if comparison.theirs:
        judged = medians[0] / medians[1]
        spread = [mine / other for mine, other in zip(*columns)]
    else:
        judged, spread = medians[0], columns[0]
    return {**row, 'values': dict(zip(sides, columns)), 'medians': dict(zip(sides, medians)),
            'ratio': judged if comparison.theirs else None, 'spread': [min(spread), max(spread)],
            'met': comparison.wanted.met(judged)}


def short(value):
    """Four significant digits, without an exponent."""
    return f'{value:,.0f}' if abs(value) >= 10000 else f'{value:.4g}'


HEADINGS = ('what', 'ours', 'theirs', '', 'ratio', 'spread', 'wanted', 'met')


def cells(row):
    """The columns of a row, as text."""
    if 'error' in row:
        return (row['text'], '', '', '', '', '', row['wanted'], 'not measured')
    mine, other = row['medians'][row['ours']], row['medians'].get(row['theirs'])
    spread = ' to '.join(short(value) for value in row['spread'])
    ratio = '' if row['ratio'] is None else f'{row["ratio"]:.3g}'
    return (row['text'], short(mine), '' if other is None else short(other), row['unit'], ratio, spread,
            row['wanted'], 'yes' if row['met'] else 'NO')


def line(row):
    """A row as a line to print when it is known; why it could not be measured stands below it."""
    text, mine, other, unit, ratio, spread, wanted, met = cells(row)
    if 'error' in row:
        return f'{text}: not measured\n    {row["error"]}'
    judged = f'ratio {ratio} ({spread})' if ratio else f'({spread})'
    against = f' against {other}' if other else ''
    return f'{text}: {mine}{against} {unit}, {judged}, wanted {wanted}: {"met" if met == "yes" else "NOT MET"}'


def table(rows):
    """All rows below their headings, columns aligned."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line_[column]) for line_ in lines) for column in range(len(HEADINGS))]
    return '\n'.join('  '.join(word.ljust(width) for word, width in zip(line_, widths)).rstrip() for line_ in lines)
