import { expect, test } from 'vitest';
import { applied, MARKS } from './marks.ts';

/** A text in which `|` delimits the selection. */
const selectedIn = (marked: string) => {
  const [before = '', chosen, after] = marked.split('|');
  if (after === undefined) return { text: before + (chosen ?? ''), start: before.length, end: before.length };
  return { text: before + chosen + after, start: before.length, end: before.length + (chosen ?? '').length };
};

const after = (says: string, marked: string): string => {
  const selected = selectedIn(marked);
  const edit = MARKS.find((mark) => mark.says === says)?.edit(selected);
  if (edit === undefined) throw new Error(`there is no ${says}`);
  const text = applied(selected, edit);
  return `${text.slice(0, edit.start)}|${text.slice(edit.start, edit.end)}|${text.slice(edit.end)}`;
};

test.each([
  ['Bold', 'On |engines|.', 'On **|engines|**.'],
  ['Bold', 'On **|engines|**.', 'On |engines|.'],
  ['Bold', 'On |', 'On **|bold|**'],
  ['Italic', 'On |engines|.', 'On *|engines|*.'],
  ['Italic', 'On *|engines|*.', 'On |engines|.'],
  ['Italic', 'On **|engines|**.', 'On ***|engines|***.'],
  ['Italic', 'On ***|engines|***.', 'On **|engines|**.'],
  ['Heading', 'One\nTw|o\nThree', 'One\n|## Two|\nThree'],
  ['Heading', 'One\n## Tw|o', 'One\n|Two|'],
  ['List', '|One\nTwo|', '|- One\n- Two|'],
  ['List', '- O|ne\n- T|wo', '|One\nTwo|'],
  ['Numbered list', 'A\n|B\nC|', 'A\n|1. B\n2. C|'],
  ['Quote', '|', '|> |'],
  ['Link', 'See |the paper|.', 'See [the paper](|https://|).'],
  ['Link', 'See |https://a.example|.', 'See [|text|](https://a.example).'],
  ['Code', '|a = 1|', '`|a = 1|`'],
  ['Code', 'Do |a\nb|', 'Do \n```\n|a\nb|\n```'],
  ['Code', '|a\nb\n|', '```\n|a\nb|\n```'],
])('%s: %j becomes %j', (says, marked, expected) => {
  expect(after(says, marked)).toBe(expected);
});
