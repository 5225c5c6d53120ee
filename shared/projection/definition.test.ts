import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, list } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/assemble.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { readDefinition } from './definition.ts';

test('the tables of publishing are those of the releases before: an upgrade needs no rebuild', async () => {
  const { fingerprint } = await readDefinition(tablesOf(publishing));
  expect(fingerprint).toBe('9TDbH3lQU3SpJMTfonWwBByJw2pPkQGSwzS75uimxRY');
});

test('the tables are others once a sum is one of something else', async () => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const summing = (derived: object) =>
    assemble(base, [
      base.aggregate('note', {
        fields: { rows: list({ one: integer(1, 9), other: integer(1, 9) }, { max: 3 }) },
        derived: { total: derived },
        events: { made: { creates: [] } },
        commands: { make: { emits: 'made' } },
        rights: { read: { anyone: true } },
      } as never),
    ] as never);
  const all = await Promise.all(
    [{ sum: 'rows.one' }, { sum: 'rows.other' }, { sum: 'rows.one' }].map((derived) => readDefinition(tablesOf(summing(derived)))),
  );
  const [one, other, same] = all.map(({ fingerprint }) => fingerprint);
  expect([one === other, one === same]).toEqual([false, true]);
});

test('the tables are to be made anew once an event has another version, though they look the same', async () => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const priced = (versions: object) =>
    assemble(base, [
      base.aggregate('note', {
        fields: { price: integer(1, 9) },
        events: { made: { creates: ['price'], ...versions } },
        commands: { make: { emits: 'made' } },
        rights: { read: { anyone: true } },
      } as never),
    ] as never);
  const inCents = { version: 2, upcast: { 1: ({ price }: { price: number }) => ({ price: price * 100 }) } };
  const [one, other, same] = await Promise.all([{}, inCents, { version: 1 }].map((each) => readDefinition(tablesOf(priced(each)))));
  expect([one?.fingerprint === other?.fingerprint, one?.fingerprint === same?.fingerprint, one?.tables === other?.tables]).toEqual([
    false,
    true,
    true,
  ]);
});
