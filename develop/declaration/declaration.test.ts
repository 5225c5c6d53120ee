import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { withField } from './add-field.ts';
import { readList, withListed } from './add-to-list.ts';
import { commandTo } from './command-to.ts';
import { type AggregateSketch, whyNoAggregateOf } from './sketch.ts';
import { textOfAggregate } from './text-of-aggregate.ts';
import { literal } from './text-of-field.ts';

const template = (path: string): Promise<string> =>
  readFile(new URL(`../../create/template/domain/${path}`, import.meta.url), 'utf8');
const around = { base: './base.ts', language: 'annals', others: {} };

const note: AggregateSketch = {
  name: 'note',
  owner: 'author',
  fields: [
    { name: 'title', type: 'line' },
    { name: 'text', type: 'markdown', options: ['optional'] },
  ],
  states: [{ name: 'draft' }, { name: 'published' }],
  rights: { read: { anyone: ['published'], member: ['published', 'own'] }, write: { member: ['own'] } },
};

test('writes the aggregate of the template, to the letter', async () => {
  expect(whyNoAggregateOf(note)).toBeUndefined();
  expect(textOfAggregate(note, around)).toBe(await template('note.ts'));
});

test('adds an aggregate to the list of the template', async () => {
  const list = await readList(await template('domain.ts'), 'domain/domain.ts');
  expect(withListed(list, { name: 'invoice', module: './invoice.ts', shown: 'domain/domain.ts' })).toBe(
    `import { assemble } from 'annals';
import { base } from './base.ts';
import { invoice } from './invoice.ts';
import { note } from './note.ts';

/** All that is served. */
export const served = assemble(base, [note, invoice]);
`,
  );
});

test('adds an aggregate to a list of lines whose last one has no comma', async () => {
  const text = (await template('domain.ts')).replace('[note]', '[\n  note\n]');
  const list = await readList(text, 'domain/domain.ts');
  const listed = withListed(list, { name: 'invoice', module: './invoice.ts', shown: 'domain/domain.ts' });
  expect(listed).toContain('[\n  note,\n  invoice,\n]');
});

test('adds a field to the template, and to the events that give its content', async () => {
  const before = await template('note.ts');
  const field = { name: 'pages', type: 'integer', max: 5_000, options: ['optional', 'filter'] } as const;
  const after = await withField(before, { kind: 'note', field, shown: 'domain/note.ts', language: 'annals' });
  expect(after).toBe(
    before
      .replace("['title', 'text']", "['title', 'text', 'pages']")
      .replace('import { line,', 'import { integer, line,')
      .replace(
        "    status: states('draft', 'published'),\n",
        "    status: states('draft', 'published'),\n    pages: integer(0, 5_000).optional().filter(),\n",
      ),
  );
});

test.each([
  ['published', 'publish'],
  ['approved', 'approve'],
  ['submitted', 'submit'],
  ['rejected', 'reject'],
  ['paid', 'pay'],
  ['closed', 'close'],
  ['archived', 'archive'],
  ['cancelled', 'cancel'],
  ['opened', 'open'],
  ['done', 'makeDone'],
])('the state %s is reached by %s', (state, command) => {
  expect(commandTo(state)).toBe(command);
});

test.each([
  ['It’s', "'It’s'"],
  ["It's", '"It\'s"'],
  ['"a" \'b\'', `'"a" \\'b\\''`],
  [1_234_567, '1_234_567'],
  [200, '200'],
])('writes %s as %s', (value, text) => {
  expect(literal(value)).toBe(text);
});
