import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, prose, ref } from '#kernel/declare/fields.ts';
import { allEvents, by, system } from '../../test/engines/command-side.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { test as processes } from '../../test/engines/processes.ts';

const { aggregate, ...base } = domain({ name: 'tags', roles: ['member'] });
const anyone = { read: { signedIn: true }, write: { signedIn: true } } as const;
const tag = aggregate('tag', {
  fields: { code: integer(0, 99).unique(), text: prose(1_000_000) },
  events: { made: { creates: ['code', 'text'] }, coded: { computes: ['code'] } },
  commands: { make: { emits: 'made' } },
  rights: anyone,
});
const swap = aggregate('swap', {
  fields: { tag: ref(tag), word: line(20).unique(), code: integer(0, 99) },
  events: { planned: { creates: ['tag', 'code', 'word'] } },
  commands: {
    plan: {
      emits: ['planned'],
      also: { tag: ['coded'] },
      decide: ({ form: { code = 0 }, on }) => ['planned', on('tag', 'coded', { code })],
    },
  },
  rights: anyone,
});
const tags = assemble({ aggregate, ...base }, [tag, swap]);

const [[, startLog]] = LOG_ENGINES.filter(([name]) => /postgres/i.test(name)) as [
  (typeof LOG_ENGINES)[number],
];
const test = processes
  .extend('databaseOptions', { scope: 'file' }, { startLog })
  .extend('sideOptions', { scope: 'file' }, { domain: tags })
  .extend('tags', { scope: 'file' }, async ({ side }) => {
    const give = async (command: object) => (await side.send(command as never, by(system))).id;
    return {
      give,
      make: (code: number, content = 'One') => give({ type: 'MakeTag', code, text: content }),
      types: async () => (await allEvents(side)).map(({ type }) => type),
    };
  });

test('a creation that is too large for the log leaves no claim in it', async ({ tags: { make, types } }) => {
  await expect(make(1, 'ü'.repeat(1_000_000))).rejects.toThrow('but the limit is');
  expect(await types()).toEqual([]);
  await make(1);
});

test('a change whose other aggregate cannot have its value leaves no claim of its own', async ({
  tags: { give, make, types },
}) => {
  const [one] = [await make(2), await make(3)];
  const before = await types();
  const plan = { type: 'PlanSwap', tagId: one, word: 'new' };
  await expect(give({ ...plan, code: 3 })).rejects.toMatchObject({ code: 'tag_code_taken' });
  expect(await types()).toEqual(before);
  await give({ ...plan, code: 4 });
  // Both have their claims: the value of the other one is taken, and its former one is free.
  await expect(make(4)).rejects.toMatchObject({ code: 'tag_code_taken' });
  await make(2);
});
