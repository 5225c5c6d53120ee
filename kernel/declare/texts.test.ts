import { expect, test } from 'vitest';
import { email, integer, line, markdown, prose, set, states, word } from './fields.ts';
import { formTextOf, textOf } from './texts.ts';

test.each([
  [line(200), '1 to 200 characters.', '1 to 200 characters.'],
  [markdown(100_000).says('Markdown.'), 'Markdown.', 'Markdown. At most 100,000 characters.'],
  [
    prose(5_000).personal({ erased: '[deleted]' }),
    '1 to 5,000 characters; “[deleted]” for deleted users.',
    '1 to 5,000 characters.',
  ],
  [email().says('One.'), 'One.', 'One. 3 to 254 characters.'],
  [integer(0, 9_000), '0 to 9,000.', '0 to 9,000.'],
  [set(word(/^[a-z]+$/, 'Must be letters.'), 10), 'At most 10.', 'At most 10.'],
  [word(/^[a-z]+$/, 'Must be letters.'), undefined, undefined],
  [states('draft', 'published').says('How far it is.'), 'How far it is.', 'How far it is.'],
])('%#: the description of a field is its author’s, or derived from its limits', ({ def }, read, written) => {
  expect([textOf(def), formTextOf(def)]).toEqual([read, written]);
});

test('the words of a choice can have descriptions', () => {
  const { values, means } = states({ draft: 'For its author.', published: '' }).def;
  expect(values).toEqual(['draft', 'published']);
  expect(means).toEqual({ draft: 'For its author.' });
  expect(states('draft', 'published').def.means).toBeUndefined();
});
