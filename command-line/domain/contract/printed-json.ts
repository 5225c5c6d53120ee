const COLUMNS = 140;

/**
 * JSON that gives readable diffs: keys in order, a value on one line if it fits. The order of keys carries no
 * meaning.
 */
export const printedJson = (value: unknown): string => `${print(value, '')}\n`;

const print = (value: unknown, indent: string, before = 0): string => {
  const short = inline(value);
  if (typeof value !== 'object' || value === null || indent.length + before + short.length < COLUMNS)
    return short;
  const within = `${indent}  `;
  const [open, items, close] = Array.isArray(value)
    ? ['[', value.map((item) => print(item, within)), ']']
    : [
        '{',
        sorted(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item, within, key.length + 4)}`),
        '}',
      ];
  return `${open}\n${items.map((item) => within + item).join(',\n')}\n${indent}${close}`;
};

const inline = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = sorted(value).map(([key, item]) => `${JSON.stringify(key)}: ${inline(item)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
};

const sorted = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
