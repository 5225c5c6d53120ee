// Over 200 lines, because it is one table: each mistake that the compiler must refuse, and the word it points
// to.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** A valid declaration. Each wrong one replaces one part of it. */
const RIGHT = `import { instant, integer, line, list, ref, states } from '${ROOT}/kernel/declare/fields.ts';
import { count, latest, sum } from '${ROOT}/kernel/declare/view.ts';
import { route } from '${ROOT}/kernel/declare/route.ts';
import { assemble } from '${ROOT}/kernel/registry/assemble.ts';
import { article } from '${ROOT}/domain/article.ts';
import * as base from '${ROOT}/domain/base.ts';

const note = base.aggregate('note', {
  owner: 'author',
  fields: {
    author: ref(base.user),
    article: ref(article),
    title: line(10).example('One'),
    rows: list({ amount: integer(0, 9) }, { max: 3 }),
    status: states('open', 'done'),
  },
  derived: { total: { sum: 'rows.amount' } },
  events: {
    made: { creates: ['title'], says: 'A note was made.' },
    added: { adds: 'rows' },
    finished: { sets: { status: 'done' } },
    gone: { ends: true },
    rated: { computes: ['title'] },
  },
  refusals: { open: 'It is done.', done: { code: 'still_open', says: 'It is open.' } },
  commands: {
    make: { emits: 'made', next: ['finish'] },
    finish: { emits: 'finished' },
    end: { emits: ['finished', 'gone'], decide: ({ state }) => (state.title === '' ? ['gone'] : ['finished']) },
    rate: { emits: ['rated', 'gone'], decide: ({ state }) => (state.id === 1 ? ['gone'] : [['rated', { title: state.title }]]) },
  },
  rights: { read: { anyone: 'open' }, write: { author: 'own' } },
  fieldRights: { readTotal: { reads: ['total', 'updatedAt'], items: { rows: { amount: { min: 5 } } }, author: 'own' } },
  reactions: { article: { deleted: { run: 'finish' } } },
  timers: { remind: { after: 'made', wait: '3 days', run: 'finish', while: 'open' } },
  limits: { few: { max: 3, per: 'author', while: 'open', says: 'You have three already.' } },
});

const memo = base.aggregate('memo', {
  fields: { author: ref(base.user), article: ref(article), subject: line(10) },
  events: { begun: { creates: ['author', 'article', 'subject'] }, thrown: { ends: true } },
  commands: { begin: { emits: 'begun' } },
  rights: { read: { anyone: true } },
  react: {
    begun: ({ data }, { state, run }) => (data.subject === '' ? [] : run(article, 'edit', state.article, { title: data.subject }, { when: 'draft' })),
    thrown: (_, { state, run }) => run(article, 'draft', { authorId: state.author, title: state.subject }),
  },
});
const tale = base.aggregate('tale', {
  fields: { author: ref(base.user), article: ref(article), name: line(10), words: integer(0, 9) },
  events: { heard: { creates: ['author', 'article', 'name', 'words'] }, told: { notes: true, carries: ['words', 'name'] }, lost: { notes: true } },
  commands: { hear: { emits: 'heard' } },
  rights: { read: { anyone: true } },
});
const tallies = base.view('tallies', {
  of: [article, tale],
  key: { article: ref(article) },
  values: { tales: count(), words: sum(), toldAt: latest(instant()), name: latest(line(10)) },
  from: {
    article: { by: { article: 'id' }, on: { drafted: { gives: { tales: 0 } } } },
    tale: {
      by: { article: 'article' },
      on: {
        heard: { gives: { tales: 1, name: 'name' } },
        told: { changes: { words: 'words', toldAt: 'now' }, adds: { tales: 2 } },
        lost: { ends: true },
      },
    },
  },
  rights: { read: { author: { article: 'published' } } },
});

const leaf = base.aggregate('leaf', {
  fields: { heading: line(10), shown: line(10).optional(), pages: integer(0, 9) },
  events: { printed: { creates: ['heading'] } },
  commands: { print: { emits: 'printed' } },
  rights: { read: { anyone: true } },
  expressions: { size: { type: 'Int', sql: ({ heading }) => 'length(' + heading + ')', value: ({ heading }) => heading.length } },
  filters: { thick: { takes: 'Int', sql: ({ pages }, least) => pages + ' > ' + least, holds: ({ pages }, least) => pages > least } },
  projects: { shown: { by: { printed: ({ heading }) => heading.toUpperCase() } } },
});
const shelf = route('listShelves', {
  path: '/shelves',
  says: 'Shelves',
  right: 'leaf.read',
  takes: { thickness: integer(0, 9).optional() },
  gives: { count: integer(0, 9) },
  sql: ({ thickness, callerId }) => 'select 1 as count where ' + thickness + ' > ' + callerId,
});
export const domain = assemble(base, [article, note, memo, tale, leaf], [tallies], [shelf]);
`;

type Wrong = readonly [promise: string, right: string, wrong: string, at: string, code: string, says: string];

/** Mistakes: the replaced text, its replacement, the place of the error, and its message. */
const WRONG: readonly Wrong[] = [
  [
    'a route that asks for what it does not take',
    `({ thickness, callerId })`,
    `({ thicknes: thickness, callerId })`,
    'thicknes',
    'TS2339',
    `'thicknes' does not exist`,
  ],
  [
    'a route that says nothing of its answer',
    `gives: { count: integer(0, 9) },`,
    ``,
    `{`,
    'TS2741',
    `'gives' is missing`,
  ],
  [
    'an unknown column of an expression',
    `sql: ({ heading }) =>`,
    `sql: ({ heding: heading }) =>`,
    'heding',
    'TS2339',
    `'heding' does not exist`,
  ],
  [
    'an expression that is another value in memory',
    `heading.length }`,
    `heading }`,
    'size',
    'TS2322',
    `'string' is not assignable to type 'number'`,
  ],
  [
    'an expression without its value in memory',
    `, value: ({ heading }) => heading.length`,
    ``,
    'size',
    'TS2322',
    `'value' is missing`,
  ],
  [
    'an expression of an unknown type',
    `type: 'Int'`,
    `type: 'Number'`,
    'type',
    'TS2322',
    `'"Number"' is not assignable`,
  ],
  [
    'a filter that is not answered in memory',
    `, holds: ({ pages }, least) => pages > least`,
    ``,
    'thick',
    'TS2322',
    `'holds' is missing`,
  ],
  [
    'a filter that compares what cannot be equal',
    `pages > least }`,
    `pages === String(least) }`,
    'pages',
    'TS2367',
    `have no overlap`,
  ],
  [
    'a projection of an unknown field',
    `projects: { shown: { by: { printed: ({ heading }) => heading.toUpperCase() } } }`,
    `projects: { showed: { by: { printed: () => '' } } }`,
    'showed',
    'TS2353',
    `'showed' does not exist`,
  ],
  [
    'a projection by an unknown event',
    `{ printed: ({ heading })`,
    `{ prined: ({ heading }: { heading: string })`,
    'prined',
    'TS2561',
    `'prined' does not exist`,
  ],
  [
    'a projection of what an event does not hold',
    `({ heading }) => heading.to`,
    `({ pages }) => pages.to`,
    'pages',
    'TS2339',
    `'pages' does not exist`,
  ],
  [
    'a projection to another type',
    `heading.toUpperCase()`,
    `heading.length`,
    'printed',
    'TS2322',
    `'number' is not assignable`,
  ],
  ['an unknown field', `['title']`, `['titel']`, `'titel'`, 'TS2820', `Did you mean '"title"'?`],
  [
    'an event without an effect',
    `gone: { ends: true }`,
    `gone: {}`,
    'gone',
    'TS2322',
    `EventSpec<"article" | "author" | "title"`,
  ],
  [
    'a misspelt effect',
    `creates: ['title']`,
    `create: ['title']`,
    'create',
    'TS2353',
    `'create' does not exist`,
  ],
  [
    'an unknown list',
    `adds: 'rows'`,
    `adds: 'row'`,
    'adds',
    'TS2322',
    `'"row"' is not assignable to type '"rows"'`,
  ],
  [
    'a word that is no state',
    `status: 'done'`,
    `status: 'dune'`,
    'status',
    'TS2322',
    `'"dune"' is not assignable`,
  ],
  [
    'a text for a word that is no state',
    `'done')`,
    `'done').means({ dune: '' })`,
    'dune',
    'TS2353',
    `'dune' does not exist`,
  ],
  [
    'the time of the event in a text',
    `status: 'done'`,
    `title: 'now', author: 'now'`,
    'author',
    'TS2322',
    `'"now"' is not assignable to type '"caller"'`,
  ],
  ['an unknown event', `emits: 'made'`, `emits: 'maed'`, 'emits', 'TS2322', `'"maed"' is not assignable`],
  ['an unknown command to follow', `['finish']`, `['finnish']`, 'next', 'TS2322', `Did you mean '"finish"'?`],
  [
    'a choice that nothing decides',
    `, decide: ({ state }) => (state.title === '' ? ['gone'] : ['finished'])`,
    '',
    'end',
    'TS2322',
    `'decide' is missing`,
  ],
  [
    'a decision by an unknown field',
    'state.title',
    'state.titel',
    'titel',
    'TS2551',
    `'titel' does not exist`,
  ],
  [
    'a command that reads what is no reference',
    `next: ['finish']`,
    `reads: ['title']`,
    `'title'`,
    'TS2322',
    `'"title"' is not assignable`,
  ],
  [
    'a decision by an unknown field of what it reads',
    `decide: ({ state }) => (state.title`,
    `reads: ['article'], decide: ({ reads }) => (reads.article?.titel`,
    'titel',
    'TS2551',
    `'titel' does not exist`,
  ],
  [
    'a decision by what may not be there',
    `decide: ({ state }) => (state.title`,
    `reads: ['article'], decide: ({ reads }) => (reads.article.title`,
    'reads.article',
    'TS18047',
    `'reads.article' is possibly 'null'`,
  ],
  [
    'a decision for an unknown event',
    `['gone'] :`,
    `['went'] :`,
    `(state.title === ''`,
    'TS2322',
    `'"went"' is not assignable`,
  ],
  [
    'a decision by an unknown field of the form',
    '({ state }) => (state.title',
    '({ form }) => (form.titel',
    'titel',
    'TS2551',
    `'titel' does not exist`,
  ],
  [
    'a decision for an event of another command',
    `['gone'] :`,
    `['made'] :`,
    'decide',
    'TS2322',
    `'"made"' is not assignable`,
  ],
  [
    'an unknown field that is computed',
    `computes: ['title']`,
    `computes: ['titel']`,
    `'titel'`,
    'TS2820',
    `Did you mean '"title"'?`,
  ],
  [
    'a computed value of another type',
    '{ title: state.title }',
    '{ title: 1 }',
    'decide',
    'TS2322',
    `'number' is not assignable`,
  ],
  [
    'a computed value that is missing',
    '{ title: state.title }',
    '{}',
    'decide',
    'TS2322',
    `Property 'title' is missing`,
  ],
  [
    'an event that computes, by its name alone',
    `[['rated', { title: state.title }]]`,
    `['rated']`,
    'decide',
    'TS2322',
    `'"rated"'`,
  ],
  [
    'values that nothing decides',
    `emits: 'made', next`,
    `emits: 'rated', next`,
    'emits',
    'TS2322',
    `'"rated"' is not assignable`,
  ],
  ['an unknown fact', `anyone: 'open'`, `anyone: 'opne'`, 'anyone', 'TS2322', `'"opne"' is not assignable`],
  [
    'an unknown fact among several',
    `anyone: 'open'`,
    `anyone: { opne: true }`,
    'opne',
    'TS2353',
    `'opne' does not exist`,
  ],
  [
    'an unknown fact of what is referred to',
    `anyone: 'open'`,
    `anyone: { article: 'publshed' }`,
    'anyone',
    'TS2322',
    `'"publshed"' is not assignable`,
  ],
  [
    'a guard by a word that is no state',
    `emits: 'made'`,
    `when: { article: { status: 'publshed' } }, emits: 'made'`,
    'when',
    'TS2322',
    `Did you mean '"published"'?`,
  ],
  [
    'a condition on an unknown field of an item',
    `anyone: 'open'`,
    `anyone: { rows: { some: { amonut: 1 } } }`,
    'amonut',
    'TS2561',
    `'amonut' does not exist`,
  ],
  [
    'the caller in a field of an item that leads to no user',
    `anyone: 'open'`,
    `anyone: { rows: { some: { amount: 'caller' } } }`,
    'anyone',
    'TS2322',
    `The types of 'rows.some.amount' are incompatible`,
  ],
  [
    'a refusal by an unknown fact',
    `open: 'It is done.'`,
    `opne: 'It is done.'`,
    'opne',
    'TS2353',
    `'opne' does not exist`,
  ],
  [
    'a refusal without a sentence',
    `, says: 'It is open.' }`,
    ' }',
    'done',
    'TS2322',
    `Property 'says' is missing`,
  ],
  ['an unknown role', `author: 'own' }`, `editor: 'own' }`, 'editor', 'TS2353', `'editor' does not exist`],
  ['a right to an unknown command', 'write:', 'finnish:', 'finnish', 'TS2561', `'finnish' does not exist`],
  [
    'a parent that is no reference',
    `owner: 'author'`,
    `owner: 'author', parent: 'title'`,
    'parent',
    'TS2322',
    `'"title"' is not assignable`,
  ],
  [
    'a sum of what is no number',
    `'rows.amount'`,
    `'rows.amonut'`,
    'sum',
    'TS2322',
    `'"rows.amonut"' is not assignable`,
  ],
  [
    'a key that is no field of the items',
    '{ max: 3 }',
    `{ max: 3, key: 'amonut' }`,
    'key',
    'TS2322',
    `'"amonut"' is not assignable to type '"amount"'`,
  ],
  ['a list without a limit', '{ max: 3 }', '{}', '{}', 'TS2741', `Property 'max' is missing`],
  [
    'an event that creates with a list',
    `creates: ['title']`,
    `creates: ['rows']`,
    `'rows'`,
    'TS2322',
    `'"rows"' is not assignable`,
  ],
  [
    'a decision by an unknown field of an item',
    `state.title === ''`,
    `state.rows[0]?.amonut === 1`,
    'amonut',
    'TS2551',
    `Did you mean 'amount'?`,
  ],
  [
    'a decision by the id of an item as a text',
    `state.title === ''`,
    `state.rows[0]?.id === 'a'`,
    'state.rows',
    'TS2367',
    `no overlap`,
  ],
  [
    'a right to an unknown field',
    `reads: ['total',`,
    `reads: ['totl',`,
    `'totl'`,
    'TS2820',
    `Did you mean '"total"'?`,
  ],
  [
    'a right to items of an unknown list',
    'items: { rows:',
    'items: { row:',
    'row',
    'TS2561',
    `'row' does not exist`,
  ],
  [
    'a right to items by an unknown field',
    '{ rows: { amount:',
    '{ rows: { amonut:',
    'amonut',
    'TS2561',
    `'amonut' does not exist`,
  ],
  [
    'a right to items by another type',
    'amount: { min: 5 }',
    `amount: { min: '5' }`,
    'amount',
    'TS2322',
    `'string' is not assignable`,
  ],
  [
    'a right to a part for an unknown role',
    `} }, author: 'own' }`,
    `} }, editor: 'own' }`,
    'editor',
    'TS2322',
    `'editor' does not exist`,
  ],
  ['a reaction to an unknown event', 'deleted:', 'delted:', 'delted', 'TS2561', `'delted' does not exist`],
  [
    'a timer after an unknown event',
    `after: 'made'`,
    `after: 'maed'`,
    'after',
    'TS2322',
    `'"maed"' is not assignable`,
  ],
  [
    'a timer of an unknown command',
    `'3 days', run: 'finish'`,
    `'3 days', run: 'finnish'`,
    'run',
    'TS2820',
    `Did you mean '"finish"'?`,
  ],
  [
    'a timer that waits for an unknown unit',
    `'3 days'`,
    `'3 moons'`,
    'wait',
    'TS2322',
    `'"3 moons"' is not assignable`,
  ],
  [
    'a timer while an unknown fact',
    `while: 'open'`,
    `while: 'opne'`,
    'while',
    'TS2322',
    `'"opne"' is not assignable`,
  ],
  [
    'a limit by an unknown field',
    `per: 'author'`,
    `per: 'autor'`,
    'per',
    'TS2820',
    `Did you mean '"author"'?`,
  ],
  ['a limit by a list', `per: 'author'`, `per: ['rows']`, `'rows'`, 'TS2322', `'"rows"' is not assignable`],
  [
    'a limit while an unknown fact',
    `while: 'open', says`,
    `while: 'opne', says`,
    'while',
    'TS2322',
    `'"opne"' is not assignable`,
  ],
  ['a limit without a number', `max: 3, per`, 'per', 'few', 'TS2741', `Property 'max' is missing`],
  [
    'a limit without a sentence',
    `, says: 'You have three already.'`,
    '',
    'few',
    'TS2741',
    `Property 'says' is missing`,
  ],
  [
    'code that reacts to an unknown event',
    'thrown: (_',
    'thronw: (_',
    'thronw',
    'TS2561',
    `'thronw' does not exist`,
  ],
  [
    'code that reads an unknown field',
    'data.subject ===',
    'data.subjetc ===',
    'subjetc',
    'TS2551',
    `'subjetc' does not exist`,
  ],
  [
    'an unknown command by code',
    `'draft', {`,
    `'drfat', {`,
    `'drfat'`,
    'TS2345',
    `'"drfat"' is not assignable`,
  ],
  [
    'an unknown field of a form by code',
    `title: state.subject })`,
    `titel: state.subject })`,
    'titel',
    'TS2561',
    `'titel' does not exist`,
  ],
  [
    'another type of a value by code',
    `title: state.subject })`,
    `title: state.id })`,
    'title',
    'TS2322',
    `'number' is not assignable`,
  ],
  [
    'a command by code to nobody',
    `state.article, { title: data.subject }, { when: 'draft' }`,
    `{ title: state.subject }`,
    '{ title',
    'TS2345',
    `not assignable to parameter of type 'number'`,
  ],
  [
    'an unknown condition by code',
    `{ when: 'draft' }`,
    `{ when: 'drfat' }`,
    'when',
    'TS2820',
    `Did you mean '"draft"'?`,
  ],
  [
    'a reaction by an unknown command',
    `run: 'finish'`,
    `run: 'finnish'`,
    'run',
    'TS2820',
    `Did you mean '"finish"'?`,
  ],
  [
    'a view from an unknown event',
    'told: { changes',
    'tolled: { changes',
    'tolled',
    'TS2561',
    `'tolled' does not exist`,
  ],
  [
    'a view from what it is not made of',
    'of: [article, tale]',
    'of: [tale]',
    'article: { by',
    'TS2353',
    `'article' does not exist`,
  ],
  [
    'a view that leaves a source out',
    'of: [article, tale]',
    'of: [article, tale, memo]',
    'from',
    'TS2741',
    `Property 'memo' is missing`,
  ],
  [
    'a view by an unknown field',
    `by: { article: 'article' }`,
    `by: { article: 'artikel' }`,
    `article: 'artikel'`,
    'TS2322',
    `'"artikel"'`,
  ],
  [
    'a view by another reference',
    `by: { article: 'article' }`,
    `by: { article: 'author' }`,
    'article',
    'TS2322',
    `'"author"' is not assignable`,
  ],
  [
    'a view by the id of another aggregate',
    `by: { article: 'article' }`,
    `by: { article: 'id' }`,
    'article',
    'TS2322',
    `'"id"' is not assignable`,
  ],
  [
    'a sum of a field that is no number',
    `words: 'words'`,
    `words: 'name'`,
    'words',
    'TS2322',
    `'"name"' is not assignable`,
  ],
  [
    'a sum of what the event does not hold',
    'lost: { ends: true }',
    `lost: { gives: { words: 'words' } }`,
    'words',
    'TS2322',
    `not assignable to type 'number`,
  ],
  [
    'a count of a field',
    'tales: 1',
    `tales: 'name'`,
    'tales',
    'TS2322',
    `'string' is not assignable to type 'number'`,
  ],
  [
    'a latest value of another type',
    `name: 'name'`,
    `name: 'words'`,
    'name',
    'TS2322',
    `'"words"' is not assignable`,
  ],
  [
    'an unknown value of a view',
    'adds: { tales: 2 }',
    'adds: { tails: 2 }',
    'tails',
    'TS2561',
    `'tails' does not exist`,
  ],
  [
    'an addition to a latest value',
    'adds: { tales: 2 }',
    'adds: { toldAt: 2 }',
    'toldAt',
    'TS2322',
    `'number' is not assignable to type 'never'`,
  ],
  [
    'a right to a view by an unknown fact',
    `author: { article: 'published' }`,
    `author: { article: 'publshed' }`,
    'author',
    'TS2322',
    `'"publshed"'`,
  ],
  [
    'a right to a view of an unknown role',
    `author: { article: 'published' }`,
    `editor: { article: 'published' }`,
    'editor',
    'TS2353',
    `'editor' does not exist`,
  ],
  [
    'a right to a view by what is not its key',
    `author: { article: 'published' }`,
    'author: { words: 1 }',
    'words',
    'TS2353',
    `'words' does not exist`,
  ],
  ['an example of another type', `example('One')`, 'example(1)', '1', 'TS2345', `'number' is not assignable`],
  [
    'a reference to what is not declared',
    'ref(article)',
    'ref(folder)',
    'folder',
    'TS2304',
    `Cannot find name 'folder'`,
  ],
  [
    'a reference to what is not in the domain',
    'article: ref(article)',
    `article: ref(article), folder: ref('folder')`,
    '[article, note, memo, tale, leaf]',
    'TS2345',
    'refers to an aggregate that is not in the domain',
  ],
];

const fileOf = (index: number): string => `wrong-${index}.ts`;
let folder: string;
/** The compiler’s messages for each file, with their continuation lines. */
let said: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annals-rejected-'));
  const options = { typeRoots: [join(ROOT, 'node_modules/@types')], noUnusedLocals: false };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: options, include: ['*.ts'] }),
  );
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'right.ts'), RIGHT);
  for (const [index, [, right, wrong]] of WRONG.entries())
    await writeFile(join(folder, fileOf(index)), RIGHT.replace(right, wrong));
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(
    compiler,
    ['-p', folder, '--pretty', 'false'],
    { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
    (_error, output) => resolve(output),
  );
  const errors = (await promise).split(/\n(?=\S)/);
  said = Map.groupBy(errors, (error) => /^[^(]+/.exec(error)?.[0] ?? '');
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

test('a valid declaration compiles', () => {
  expect([...said].filter(([file]) => !file.startsWith('wrong-') && file !== '')).toEqual([]);
});

test.each(WRONG.map((wrong, index) => ({ promise: wrong[0], wrong, file: fileOf(index) })))(
  '$promise does not compile',
  ({ wrong, file }) => {
    const [, right, replaced, at, code, says] = wrong;
    expect(RIGHT).toContain(right);
    const errors = said.get(file) ?? [];
    expect(errors).toHaveLength(1);
    const [, line, column, found] =
      /\((\d+),(\d+)\): error (TS\d+)/.exec(errors.find((error) => error.includes(says)) ?? '') ?? [];
    const place = RIGHT.replace(right, replaced)
      .split('\n')
      [Number(line) - 1]?.slice(Number(column) - 1);
    expect({ errors, found, place: place?.slice(0, at.length) }).toEqual({ errors, found: code, place: at });
  },
);
