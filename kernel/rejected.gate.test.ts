// Over 200 lines, because it is one table: each mistake that the compiler must refuse, and the word it points
// to.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test as base } from '../test/engines/folder-fixture.ts';

const ROOT = join(import.meta.dirname, '..');

/** A valid declaration. Each wrong one replaces one part of it. */
const RIGHT = `import { instant, integer, line, list, ref, states } from '${ROOT}/kernel/declare/fields.ts';
import { latest, sum } from '${ROOT}/kernel/declare/view.ts';
import { assemble } from '${ROOT}/kernel/assembly/assemble.ts';
import { article } from '${ROOT}/domain/article.ts';
import * as base from '${ROOT}/domain/base.ts';

const note = base.aggregate('note', {
  owner: 'author',
  fields: {
    author: ref(base.user),
    article: ref(article),
    title: line(10).example('One'),
    low: integer(0, 9).optional(),
    high: integer(0, 9).optional(),
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
  commands: {
    make: { emits: 'made', next: ['finish'] },
    finish: { emits: 'finished' },
    keep: { emits: 'finished', refuses: { kept: 'It is kept.' }, decide: ({ state, refuse }) => (state.title === '' ? refuse('kept') : ['finished']) },
    also: { emits: ['finished'], also: { article: ['unpublished'] }, decide: ({ on }) => ['finished', on('article', 'unpublished')] },
    end: { emits: ['finished', 'gone'], decide: ({ state }) => (state.title === '' ? ['gone'] : ['finished']) },
    rate: { emits: ['rated', 'gone'], decide: ({ state }) => (state.id === 1 ? ['gone'] : [['rated', { title: state.title }]]) },
  },
  facts: { done: { says: 'It is open.' }, even: { when: { low: 2 }, says: 'It is odd.' }, inOrder: { high: { min: { field: 'low' } } }, alike: { article: { author: { field: 'author' } } } },
  rights: { read: { anyone: 'open' }, write: { author: 'own' } },
  fieldRights: { readTotal: { reads: ['total', 'updatedAt'], items: { rows: { amount: { min: 5 } } }, author: 'own' } },
  reactions: { article: { deleted: { run: 'finish' } } },
  timers: { remind: { after: 'made', wait: '3 days', run: 'finish', when: 'open' } },
  limits: { few: { max: 3, per: 'author', when: 'open', says: 'You have three already.' } },
});

const memo = base.aggregate('memo', {
  fields: { author: ref(base.user), article: ref(article), subject: line(10) },
  events: { begun: { creates: ['author', 'article', 'subject'] }, thrown: { ends: true }, kept: {} },
  commands: { begin: { emits: 'begun' } },
  rights: { read: { anyone: true } },
  reactions: {
    begun: ({ form, state, run }) => (form.subject === '' ? [] : run(article, 'edit', { id: state.article, form: { title: form.subject }, when: 'draft' })),
    kept: () => [],
    thrown: ({ state, run }) => run(article, 'draft', { form: { authorId: state.author, title: state.subject } }),
  },
});
const tale = base.aggregate('tale', {
  fields: { author: ref(base.user), article: ref(article), name: line(10), words: integer(0, 9) },
  events: { heard: { creates: ['author', 'article', 'name', 'words'] }, told: { carries: ['words', 'name'] }, lost: {} },
  commands: { hear: { emits: 'heard' } },
  rights: { read: { anyone: true } },
});
const tallies = base.view('tallies', {
  of: [article, tale],
  key: { article: ref(article) },
  values: { tales: sum(), words: sum(), toldAt: latest(instant()), name: latest(line(10)) },
  from: {
    article: { by: { article: 'id' }, on: { drafted: { gives: { tales: 0 } } } },
    tale: {
      by: { article: 'article' },
      on: {
        heard: { gives: { tales: 1, name: 'name' } },
        told: { changes: { words: 'words', toldAt: 'now' }, adds: { tales: 2 } },
        lost: { gives: null },
      },
    },
  },
  read: { author: { article: 'published' } },
});

export const domain = assemble(base, [article, note, memo, tale], [tallies]);
`;

type Wrong = Readonly<Record<'promise' | 'right' | 'wrong' | 'at' | 'code' | 'says', string>>;

/** Three lines each: the error with its place, the text that is replaced, and its replacement. */
const mistakesIn = (text: string): readonly Wrong[] => {
  const lines = text.trim().split('\n');
  expect(lines.length % 3).toBe(0);
  return Array.from({ length: lines.length / 3 }, (_, index) => {
    const [head = '', right = '', wrong = ''] = lines.slice(3 * index);
    const [, promise = '', at = '', code = '', says = ''] =
      /^(.+?) \| (.+?) \| (TS\d+) (.+)$/.exec(head) ?? [];
    return { promise, at, code, says, right: right.slice('  - '.length), wrong: wrong.slice('  + '.length) };
  });
};

const WRONG = mistakesIn(`
an unknown field | 'titel' | TS2820 Did you mean '"title"'?
  - ['title']
  + ['titel']
a misspelt effect | create | TS2322 is not assignable to type 'never'
  - creates: ['title']
  + create: ['title']
an unknown list | adds | TS2322 '"row"' is not assignable to type '"rows"'
  - adds: 'rows'
  + adds: 'row'
a word that is no state | status | TS2322 '"dune"' is not assignable
  - status: 'done'
  + status: 'dune'
the time of the event in a text | author | TS2322 '"now"' is not assignable to type '"caller"'
  - status: 'done'
  + title: 'now', author: 'now'
an unknown event | emits | TS2322 '"maed"' is not assignable
  - emits: 'made'
  + emits: 'maed'
an unknown command to follow | next | TS2322 Did you mean '"finish"'?
  - ['finish']
  + ['finnish']
a choice that nothing decides | end | TS2322 'decide' is missing
  - , decide: ({ state }) => (state.title === '' ? ['gone'] : ['finished'])
  +
a refusal that the command does not declare | decide | TS2322 '"kep"' is not assignable to type '"kept"'
  - refuse('kept')
  + refuse('kep')
refusals that nothing decides on | finish | TS2322 'decide' is missing
  - finish: { emits: 'finished' }
  + finish: { emits: 'finished', refuses: { late: 'It is late.' } }
a decision for another event than the one that the command emits | decide | TS2322 '"gone"' is not assignable
  - refuse('kept') : ['finished']
  + refuse('kept') : ['gone']
a decision by an unknown field | titel | TS2551 'titel' does not exist
  - state.title
  + state.titel
a command that reads what is no reference | 'title' | TS2322 '"title"' is not assignable
  - next: ['finish']
  + reads: ['title']
a decision by an unknown field of what it reads | titel | TS2551 'titel' does not exist
  - decide: ({ state }) => (state.title
  + reads: ['article'], decide: ({ reads }) => (reads.article?.titel
a decision by what may not be there | reads.article | TS18047 'reads.article' is possibly 'null'
  - decide: ({ state }) => (state.title
  + reads: ['article'], decide: ({ reads }) => (reads.article.title
a command that also changes the target of an unknown reference | artcle | TS2561 Did you mean to write 'article'
  - also: { article:
  + also: { artcle:
a command that also changes a target by an unknown event | 'unpublishd' | TS2820 Did you mean '"unpublished"'?
  - also: { article: ['unpublished'] }
  + also: { article: ['unpublishd'] }
a decision for an event of a target that the command does not declare | decide | TS2322 'OnTarget<"article", "edited">' is not assignable
  - on('article', 'unpublished')
  + on('article', 'edited')
a value of an unknown field for a target | titel | TS2561 Did you mean to write 'title'?
  - also: { article: ['unpublished'] }, decide: ({ on }) => ['finished', on('article', 'unpublished')]
  + also: { article: ['edited'] }, decide: ({ on }) => ['finished', on('article', 'edited', { titel: '' })]
a decision for an unknown event | (state.title === '' | TS2322 '"went"' is not assignable
  - ['gone'] :
  + ['went'] :
a decision by an unknown field of the form | titel | TS2551 'titel' does not exist
  - ({ state }) => (state.title
  + ({ form }) => (form.titel
a decision for an event of another command | decide | TS2322 '"made"' is not assignable
  - ['gone'] :
  + ['made'] :
an unknown field that is computed | 'titel' | TS2820 Did you mean '"title"'?
  - computes: ['title']
  + computes: ['titel']
a computed value of another type | decide | TS2322 'number' is not assignable
  - { title: state.title }
  + { title: 1 }
a computed value that is missing | decide | TS2322 Property 'title' is missing
  - { title: state.title }
  + {}
an event that computes, by its name alone | decide | TS2322 '"rated"'
  - [['rated', { title: state.title }]]
  + ['rated']
values that nothing decides | make | TS2322 'decide' is missing
  - emits: 'made', next
  + emits: 'rated', next
an unknown fact | anyone | TS2322 '"opne"' is not assignable
  - anyone: 'open'
  + anyone: 'opne'
an unknown fact among several | opne | TS2353 'opne' does not exist
  - anyone: 'open'
  + anyone: { opne: true }
an unknown fact of what is referred to | anyone | TS2322 '"publshed"' is not assignable
  - anyone: 'open'
  + anyone: { article: 'publshed' }
a guard by a word that is no state | when | TS2322 Did you mean '"published"'?
  - emits: 'made'
  + when: { article: { status: 'publshed' } }, emits: 'made'
a condition on an unknown field of an item | amonut | TS2561 'amonut' does not exist
  - anyone: 'open'
  + anyone: { rows: { some: { amonut: 1 } } }
the caller in an item’s field that is no user | anyone | TS2322 The types of 'rows.some.amount' are incompatible
  - anyone: 'open'
  + anyone: { rows: { some: { amount: 'caller' } } }
a comparison with an unknown field | inOrder | TS2322 { field: "lwo"; }
  - { field: 'low' }
  + { field: 'lwo' }
a comparison with a field of another type | inOrder | TS2322 { field: "title"; }
  - { field: 'low' }
  + { field: 'title' }
a comparison of a reference with a reference to another aggregate | alike | TS2322 { field: "article"; }
  - author: { field: 'author' }
  + author: { field: 'article' }
an unknown role | editor | TS2353 'editor' does not exist
  - author: 'own' }
  + editor: 'own' }
a right to an unknown command | finnish | TS2561 'finnish' does not exist
  - write:
  + finnish:
a parent that is no reference | parent | TS2322 '"title"' is not assignable
  - owner: 'author'
  + owner: 'author', parent: 'title'
a sum of what is no number | sum | TS2322 '"rows.amonut"' is not assignable
  - 'rows.amount'
  + 'rows.amonut'
a key that is no field of the items | key | TS2322 '"amonut"' is not assignable to type '"amount"'
  - { max: 3 }
  + { max: 3, key: 'amonut' }
a list without a limit | {} | TS2741 Property 'max' is missing
  - { max: 3 }
  + {}
an event that creates with a list | 'rows' | TS2322 '"rows"' is not assignable
  - creates: ['title']
  + creates: ['rows']
a decision by an unknown field of an item | amonut | TS2551 Did you mean 'amount'?
  - state.title === ''
  + state.rows[0]?.amonut === 1
a decision by the id of an item as a text | state.rows | TS2367 no overlap
  - state.title === ''
  + state.rows[0]?.id === 'a'
a right to an unknown field | 'totl' | TS2820 Did you mean '"total"'?
  - reads: ['total',
  + reads: ['totl',
a right to items of an unknown list | row | TS2561 'row' does not exist
  - items: { rows:
  + items: { row:
a right to items by an unknown field | amonut | TS2561 'amonut' does not exist
  - { rows: { amount:
  + { rows: { amonut:
a right to items by another type | amount | TS2322 'string' is not assignable
  - amount: { min: 5 }
  + amount: { min: '5' }
a right to a part for an unknown role | editor | TS2322 'editor' does not exist
  - } }, author: 'own' }
  + } }, editor: 'own' }
a reaction to an unknown event | delted | TS2561 'delted' does not exist
  - deleted:
  + delted:
a timer after an unknown event | after | TS2322 '"maed"' is not assignable
  - after: 'made'
  + after: 'maed'
a timer of an unknown command | run | TS2820 Did you mean '"finish"'?
  - '3 days', run: 'finish'
  + '3 days', run: 'finnish'
a timer that waits for an unknown unit | wait | TS2322 '"3 moons"' is not assignable
  - '3 days'
  + '3 moons'
a timer when an unknown fact | when | TS2322 '"opne"' is not assignable
  - run: 'finish', when: 'open'
  + run: 'finish', when: 'opne'
a limit by an unknown field | per | TS2820 Did you mean '"author"'?
  - per: 'author'
  + per: 'autor'
a limit by a list | 'rows' | TS2322 '"rows"' is not assignable
  - per: 'author'
  + per: ['rows']
a limit of an unknown fact | when | TS2322 '"opne"' is not assignable
  - when: 'open', says
  + when: 'opne', says
a limit without a number | few | TS2741 Property 'max' is missing
  - max: 3, per
  + per
a limit without a sentence | few | TS2741 Property 'says' is missing
  - , says: 'You have three already.'
  +
code that reacts to an unknown event | kpet | TS2353 'kpet' does not exist
  - kept: (
  + kpet: (
code that reads an unknown field | subjetc | TS2551 'subjetc' does not exist
  - form.subject ===
  + form.subjetc ===
an unknown command by code | 'drfat' | TS2345 '"drfat"' is not assignable
  - 'draft', {
  + 'drfat', {
an unknown field of a form by code | titel | TS2561 'titel' does not exist
  - title: state.subject }
  + titel: state.subject }
another type of a value by code | title | TS2322 'number' is not assignable
  - title: state.subject }
  + title: state.id }
a command by code to nobody | { form | TS2345 Property 'id' is missing
  - id: state.article, form: { title: form.subject }, when: 'draft'
  + form: { title: state.subject }
an unknown condition by code | when | TS2820 Did you mean '"draft"'?
  - when: 'draft'
  + when: 'drfat'
a condition by code in the form | when | TS2353 'when' does not exist
  - }, when: 'draft' }
  + , when: 'draft' } }
a condition by code as the form of a command without one | form | TS2322 is not assignable to type 'never'
  - 'edit', { id: state.article, form: { title: form.subject }, when: 'draft' }
  + 'publish', { id: state.article, form: { when: 'draft' } }
a reaction by an unknown command | run | TS2820 Did you mean '"finish"'?
  - run: 'finish'
  + run: 'finnish'
a view from an unknown event | tolled | TS2561 'tolled' does not exist
  - told: { changes
  + tolled: { changes
a view from what it is not made of | article: { by | TS2353 'article' does not exist
  - of: [article, tale]
  + of: [tale]
a view that leaves a source out | from | TS2741 Property 'memo' is missing
  - of: [article, tale]
  + of: [article, tale, memo]
a view by an unknown field | article: 'artikel' | TS2322 '"artikel"'
  - by: { article: 'article' }
  + by: { article: 'artikel' }
a view by another reference | article | TS2322 '"author"' is not assignable
  - by: { article: 'article' }
  + by: { article: 'author' }
a view by the id of another aggregate | article | TS2322 '"id"' is not assignable
  - by: { article: 'article' }
  + by: { article: 'id' }
a sum of a field that is no number | words | TS2322 '"name"' is not assignable
  - words: 'words'
  + words: 'name'
a sum of what the event does not hold | words | TS2322 not assignable to type 'number
  - lost: { gives: null }
  + lost: { gives: { words: 'words' } }
a count of a field that is no number | tales | TS2322 '"name"' is not assignable
  - tales: 1
  + tales: 'name'
a latest value of another type | name | TS2322 '"words"' is not assignable
  - name: 'name'
  + name: 'words'
an unknown value of a view | tails | TS2561 'tails' does not exist
  - adds: { tales: 2 }
  + adds: { tails: 2 }
an addition to a latest value | toldAt | TS2322 'number' is not assignable to type 'never'
  - adds: { tales: 2 }
  + adds: { toldAt: 2 }
a right to a view by an unknown fact | author | TS2322 '"publshed"'
  - author: { article: 'published' }
  + author: { article: 'publshed' }
a right to a view of an unknown role | editor | TS2353 'editor' does not exist
  - author: { article: 'published' }
  + editor: { article: 'published' }
a right to a view by what is not its key | words | TS2353 'words' does not exist
  - author: { article: 'published' }
  + author: { words: 1 }
an example of another type | 1 | TS2345 'number' is not assignable
  - example('One')
  + example(1)
a reference to what is not declared | folder | TS2304 Cannot find name 'folder'
  - ref(article)
  + ref(folder)
a reference out of the domain | [article, note, memo, tale] | TS2345 refers to an aggregate that is not in the domain
  - article: ref(article)
  + article: ref(article), folder: ref('folder')
`);

const fileOf = (index: number): string => `wrong-${index}.ts`;

/** The compiler’s messages for each file, with their continuation lines. */
const test = base.extend('said', { scope: 'file' }, async ({ folder }) => {
  const options = { typeRoots: [join(ROOT, 'node_modules/@types')], noUnusedLocals: false };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: options, include: ['*.ts'] }),
  );
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'right.ts'), RIGHT);
  for (const [index, { right, wrong }] of WRONG.entries())
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
  return Map.groupBy(errors, (error) => /^[^(]+/.exec(error)?.[0] ?? '');
});

// The first test waits for the compiler.
test('a valid declaration compiles', { timeout: 120_000 }, ({ said }) => {
  expect([...said].filter(([file]) => !file.startsWith('wrong-') && file !== '')).toEqual([]);
});

test.for(WRONG.map((wrong, index) => ({ ...wrong, file: fileOf(index) })))(
  '$promise does not compile',
  ({ right, wrong, at, code, says, file }, { said }) => {
    expect(RIGHT).toContain(right);
    const errors = said.get(file) ?? [];
    expect(errors).toHaveLength(1);
    const [, line, column, found] =
      /\((\d+),(\d+)\): error (TS\d+)/.exec(errors.find((error) => error.includes(says)) ?? '') ?? [];
    const place = RIGHT.replace(right, wrong)
      .split('\n')
      [Number(line) - 1]?.slice(Number(column) - 1);
    expect({ errors, found, place: place?.slice(0, at.length) }).toEqual({ errors, found: code, place: at });
  },
);
