import { COLUMNS_MAX } from './text-of-field.ts';

/** A change of a text, between two offsets of it. */
export type Edit = { readonly from: number; readonly to: number; readonly text: string };

/** Everything else stays as it is, with its comments. */
export const withEdits = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((changed, edit) => changed.slice(0, edit.from) + edit.text + changed.slice(edit.to), text);

type Span = { readonly pos: number; readonly end: number };
type Nodes = Span & readonly Span[];

/** Adds an element after the last one of a list in brackets or braces, in the form that the list has. */
export const addedTo = (text: string, elements: Nodes, added: string): readonly Edit[] => {
  const last = elements.at(-1);
  if (last === undefined) {
    const isBrace = text[elements.pos - 1] === '{';
    return [{ from: elements.pos, to: elements.pos, text: isBrace ? ` ${added} ` : added }];
  }
  const close = closeOf(text, last.end);
  const rest = withoutComments(text.slice(last.end, close));
  const comma = rest.indexOf(',');
  const newline = rest.indexOf('\n');
  if (newline >= 0) {
    const indent = /^[ \t]*/.exec(lineAround(text, startOf(text, last)))?.[0] ?? '';
    const end = last.end + newline;
    const missing = comma < 0 ? [{ from: last.end, to: last.end, text: ',' }] : [];
    // At the same offset, the first edit stands behind the second in the text.
    return [{ from: end, to: end, text: `\n${indent}${added},` }, ...missing];
  }
  const inserted = `${comma < 0 ? ',' : ''} ${added}`;
  const from = last.end + (comma < 0 ? 0 : comma + 1);
  if (lineAround(text, from).length + inserted.length <= COLUMNS_MAX)
    return [{ from, to: from, text: inserted }];
  const indent = /^[ \t]*/.exec(lineAround(text, elements.pos))?.[0] ?? '';
  const each = [...elements.map(({ pos, end }) => text.slice(pos, end).trim()), added];
  const lines = each.map((one) => `\n${indent}  ${one},`).join('');
  return [{ from: elements.pos, to: close, text: `${lines}\n${indent}` }];
};

/** The offset of the first character of an element, after its comments. */
const startOf = (text: string, { pos, end }: Span): number => {
  const own = withoutComments(text.slice(pos, end));
  return pos + (own.length - own.trimStart().length);
};

const closeOf = (text: string, from: number): number =>
  from + withoutComments(text.slice(from)).search(/[\]})]/);

/** With blanks instead, so that offsets stay the same. */
const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (comment) => ' '.repeat(comment.length));

const lineAround = (text: string, offset: number): string => {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  return text.slice(start, end < 0 ? undefined : end);
};
