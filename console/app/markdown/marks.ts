/** A text with a selection. */
export type Selected = { readonly text: string; readonly start: number; readonly end: number };

/** The part of the text that a mark replaces, and the selection afterwards. */
export type Edit = {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  readonly start: number;
  readonly end: number;
};

export type Mark = {
  readonly says: string;
  readonly label: string;
  readonly key?: string;
  readonly edit: (selected: Selected) => Edit;
};

/** Puts signs around the selection, or removes them. */
const around =
  (sign: string, sample: string) =>
  ({ text, start, end }: Selected): Edit => {
    const { length } = sign;
    const isOuter = text.slice(start - length, start) === sign && text.slice(end, end + length) === sign;
    const chosen = text.slice(start, end);
    // `**` begins with `*`, which is another mark.
    const isOfStrong =
      sign === '*' && text.slice(start - 2, start) === '**' && text.slice(start - 3, start) !== '***';
    if (isOuter && !isOfStrong)
      return {
        ...{ from: start - length, to: end + length, insert: chosen },
        ...{ start: start - length, end: end - length },
      };
    const insert = chosen === '' ? sample : chosen;
    return {
      ...{ from: start, to: end, insert: sign + insert + sign },
      ...{ start: start + length, end: start + length + insert.length },
    };
  };

/** Puts a sign before each selected line, or removes it from all of them. */
const before =
  (sign: RegExp, prefix: (index: number) => string) =>
  ({ text, start, end }: Selected): Edit => {
    const from = text.lastIndexOf('\n', start - 1) + 1;
    const stop = text.indexOf('\n', end);
    const to = stop === -1 ? text.length : stop;
    const lines = text.slice(from, to).split('\n');
    const isMarked = lines.every((line) => sign.test(line));
    const insert = lines
      .map((line, index) => (isMarked ? line.replace(sign, '') : prefix(index) + line))
      .join('\n');
    return { from, to, insert, start: from, end: from + insert.length };
  };

const URL_SAMPLE = 'https://';

const linked = ({ text, start, end }: Selected): Edit => {
  const chosen = text.slice(start, end);
  if (/^https?:\/\/\S+$/.test(chosen)) {
    const insert = `[text](${chosen})`;
    return { from: start, to: end, insert, start: start + 1, end: start + 1 + 'text'.length };
  }
  const title = chosen === '' ? 'text' : chosen;
  const insert = `[${title}](${URL_SAMPLE})`;
  const at = start + title.length + '[]('.length;
  return { from: start, to: end, insert, start: at, end: at + URL_SAMPLE.length };
};

/** A selection of several lines becomes a block. */
const coded = (selected: Selected): Edit => {
  const { text, start, end } = selected;
  const chosen = text.slice(start, end);
  if (!chosen.includes('\n')) return around('`', 'code')(selected);
  const above = start === 0 || text[start - 1] === '\n' ? '' : '\n';
  const below = end === text.length || text[end] === '\n' ? '' : '\n';
  const inner = chosen.replace(/\n$/, '');
  const insert = `${above}\`\`\`\n${inner}\n\`\`\`${below}`;
  const at = start + above.length + '```\n'.length;
  return { from: start, to: end, insert, start: at, end: at + inner.length };
};

export const MARKS: readonly Mark[] = [
  { says: 'Bold', label: 'B', key: 'b', edit: around('**', 'bold') },
  { says: 'Italic', label: 'I', key: 'i', edit: around('*', 'italic') },
  { says: 'Heading', label: 'H', edit: before(/^## /, () => '## ') },
  { says: 'List', label: '•', edit: before(/^[-*] /, () => '- ') },
  { says: 'Numbered list', label: '①', edit: before(/^\d+\. /, (index) => `${index + 1}. `) },
  { says: 'Quote', label: '”', edit: before(/^> ?/, () => '> ') },
  { says: 'Link', label: '↗', edit: linked },
  { says: 'Code', label: '‹›', edit: coded },
];

export const applied = ({ text }: Selected, { from, to, insert }: Edit): string =>
  text.slice(0, from) + insert + text.slice(to);
