/** Each line that only one of two records has, below its part: `-` was recorded, `+` is current. */
export const differencesOf = (file: string, recorded: string, now: string): readonly string[] => {
  const linesOf = file.endsWith('.json') ? linesOfJson : linesOfText;
  const [before, after] = [linesOf(recorded), linesOf(now)];
  const found = [
    ...without(before, after).map((line) => `- ${line}`),
    ...without(after, before).map((line) => `+ ${line}`),
  ];
  return found.length === 0 && recorded !== now
    ? ['the same lines in another order']
    : found.toSorted(byPart);
};

const byPart = (one: string, other: string): number => (one.slice(2) < other.slice(2) ? -1 : 1);

/** The lines that occur more often in the first than in the second. */
const without = (lines: readonly string[], taken: readonly string[]): readonly string[] => {
  const left = Map.groupBy(taken, (line) => line);
  return lines.filter((line) => left.get(line)?.pop() === undefined);
};

/**
 * Lines such as `paths./articles.get.parameters[].name = "tag"`: without array indexes, so that one more item
 * is one difference.
 */
const linesOfJson = (text: string): readonly string[] => (text === '' ? [] : flatten(JSON.parse(text), ''));

const flatten = (value: unknown, path: string): readonly string[] => {
  const members: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((item) => [`${path}[]`, item] as const)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
      : [];
  return members.length === 0
    ? [`${path} = ${JSON.stringify(value)}`]
    : members.flatMap(([each, item]) => flatten(item, each));
};

/** A line that begins with a word or with `##` starts a part, and the lines below belong to it. */
const linesOfText = (text: string): readonly string[] => {
  let head = '';
  return text.split('\n').flatMap((line) => {
    if (/^(##|\w)/.test(line)) head = line;
    return line.trim() === '' ? [] : [line === head ? line : `${head}: ${line.trim()}`];
  });
};
