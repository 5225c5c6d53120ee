/**
 * Each line that only one of two records has, after the part that it belongs to: `-` was recorded, `+` is so
 * now.
 */
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

/** What is in the first more often than in the second. */
const without = (lines: readonly string[], taken: readonly string[]): readonly string[] => {
  const left = Map.groupBy(taken, (line) => line);
  return lines.filter((line) => left.get(line)?.pop() === undefined);
};

/**
 * `paths./articles.get.parameters[].name = "tag"`: without places in arrays, an item more is one difference.
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

/** A line that begins with a word or with `##` is the head of a part, and the lines below it belong to it. */
const linesOfText = (text: string): readonly string[] => {
  let head = '';
  return text.split('\n').flatMap((line) => {
    if (/^(##|\w)/.test(line)) head = line;
    return line.trim() === '' ? [] : [line === head ? line : `${head}: ${line.trim()}`];
  });
};
