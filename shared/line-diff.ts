/** A difference in the format of `diff -u`, without the names of files. */
type LineDiff = { readonly text: string; readonly isTruncated: boolean };

const CONTEXT_LINES = 3;
const CHARACTERS_MAX = 10_000;
/** The time to find the least difference grows with its square; a larger one is shown as a replacement. */
const EDITS_MAX = 400;

type Op = { readonly sign: ' ' | '-' | '+'; readonly line: string };

export const diffLines = (from: string, to: string): LineDiff => {
  const { ops, linesBefore } = opsOf(linesOf(from), linesOf(to));
  const text = hunksOf(ops, linesBefore + 1).join('\n');
  // Never cuts in the middle of a character.
  const cut =
    text.length > CHARACTERS_MAX ? text.slice(0, CHARACTERS_MAX).replace(/[\ud800-\udbff]$/, '') : text;
  return { text: cut, isTruncated: cut.length < text.length };
};

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

/** Leaves out the common lines at both ends, except for a few. */
const opsOf = (
  from: readonly string[],
  to: readonly string[],
): { readonly ops: readonly Op[]; readonly linesBefore: number } => {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (
    end < from.length - start &&
    end < to.length - start &&
    from[from.length - 1 - end] === to[to.length - 1 - end]
  )
    end += 1;
  const [before, after] = [from.slice(start, from.length - end), to.slice(start, to.length - end)];
  const linesBefore = Math.max(0, start - CONTEXT_LINES);
  const behind = from.slice(from.length - end).slice(0, CONTEXT_LINES);
  return {
    ops: [
      ...same(from.slice(linesBefore, start)),
      ...(shortest(before, after) ?? replaced(before, after)),
      ...same(behind),
    ],
    linesBefore,
  };
};

const same = (lines: readonly string[]): readonly Op[] => lines.map((line) => ({ sign: ' ', line }));
const replaced = (before: readonly string[], after: readonly string[]): readonly Op[] => [
  ...before.map((line): Op => ({ sign: '-', line })),
  ...after.map((line): Op => ({ sign: '+', line })),
];

/** The least edits that turn one into the other (Myers, 1986), or undefined if they are too many. */
const shortest = (before: readonly string[], after: readonly string[]): readonly Op[] | undefined => {
  const most = Math.min(before.length + after.length, EDITS_MAX);
  /** The reach of each diagonal, by the number of edits. */
  const rounds: Map<number, number>[] = [];
  let reached = new Map([[1, 0]]);
  for (let edits = 0; edits <= most; edits += 1) {
    const next = new Map<number, number>();
    rounds.push(next);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(reached, diagonal, edits)
        ? (reached.get(diagonal + 1) ?? 0)
        : (reached.get(diagonal - 1) ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return walkBack(before, after, rounds);
    }
    reached = next;
  }
  return undefined;
};

/** Whether the path to a diagonal arrives by an added line rather than by a removed one. */
const isDown = (reached: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean =>
  diagonal === -edits ||
  (diagonal !== edits && (reached.get(diagonal - 1) ?? 0) < (reached.get(diagonal + 1) ?? 0));

const walkBack = (
  before: readonly string[],
  after: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
): readonly Op[] => {
  const ops: Op[] = [];
  let [x, y] = [before.length, after.length];
  for (let edits = rounds.length - 1; edits > 0; edits -= 1) {
    const reached = rounds[edits - 1] ?? new Map<number, number>();
    const isAdded = isDown(reached, x - y, edits);
    const fromX = reached.get(isAdded ? x - y + 1 : x - y - 1) ?? 0;
    const startX = isAdded ? fromX : fromX + 1;
    for (; x > startX; x -= 1, y -= 1) ops.push({ sign: ' ', line: before[x - 1] ?? '' });
    if (isAdded) {
      y -= 1;
      ops.push({ sign: '+', line: after[y] ?? '' });
    } else {
      x -= 1;
      ops.push({ sign: '-', line: before[x] ?? '' });
    }
  }
  for (; x > 0; x -= 1) ops.push({ sign: ' ', line: before[x - 1] ?? '' });
  return ops.toReversed();
};

/** The changed lines, with a few lines around them, under headers with their place. */
const hunksOf = (ops: readonly Op[], firstLine: number): readonly string[] => {
  const shown: string[] = [];
  let [oldLine, newLine] = [firstLine, firstLine];
  for (let at = 0; at < ops.length; ) {
    const first = ops.findIndex(({ sign }, index) => index >= at && sign !== ' ');
    if (first === -1) break;
    const begin = Math.max(at, first - CONTEXT_LINES);
    [oldLine, newLine] = [oldLine + begin - at, newLine + begin - at];
    const hunk = ops.slice(begin, endOfHunk(ops, first));
    const [removed, added] = ['-', '+'].map((sign) => hunk.filter((op) => op.sign === sign).length) as [
      number,
      number,
    ];
    const [oldLines, newLines] = [hunk.length - added, hunk.length - removed];
    shown.push(
      `@@ -${hunkRange(oldLine, oldLines)} +${hunkRange(newLine, newLines)} @@`,
      ...hunk.map(({ sign, line }) => `${sign}${line}`),
    );
    [oldLine, newLine] = [oldLine + oldLines, newLine + newLines];
    at = begin + hunk.length;
  }
  return shown;
};

/** An empty range is placed after the line before it. */
const hunkRange = (line: number, lines: number): string => `${lines === 0 ? line - 1 : line},${lines}`;

const endOfHunk = (ops: readonly Op[], first: number): number => {
  let end = first;
  for (let index = first; index < ops.length && index <= end + 2 * CONTEXT_LINES; index += 1)
    if (ops[index]?.sign !== ' ') end = index;
  return Math.min(ops.length, end + 1 + CONTEXT_LINES);
};
