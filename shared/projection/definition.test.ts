import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, list } from '#kernel/declare/fields.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { readDefinition } from './definition.ts';

const ROWS = {
  'user/name': 'dCNOmK_nSY',
  'user/email': 'dCNOmK_nSY',
  'user/role': '9zSq6m0-Lu',
  'user.registered': 'lmReIzmG8S',
  'user.updated': '6ThnV2M9w5',
  'user.deleted': 'Nzes2x2xx9',
  'user.email_abandoned': 'z3kP7mn2c9',
  'article/author': 'dCNOmK_nSY',
  'article/title': 'dCNOmK_nSY',
  'article/body': 'dCNOmK_nSY',
  'article/tags': 'T1PNoYwrqg',
  'article/cover': 'dCNOmK_nSY',
  'article/status': 'auBI8I_KtE',
  'article/publishedAt': 'dCNOmK_nSY',
  'article.drafted': 'lmReIzmG8S',
  'article.edited': '6ThnV2M9w5',
  'article.published': 'Zn_QCPkckr',
  'article.unpublished': '4eQYLtbc4p',
  'article.deleted': 'Nzes2x2xx9',
  'comment/article': 'dCNOmK_nSY',
  'comment/author': 'dCNOmK_nSY',
  'comment/text': 'dCNOmK_nSY',
  'comment.added': 'lmReIzmG8S',
  'comment.edited': '6ThnV2M9w5',
  'comment.deleted': 'Nzes2x2xx9',
};

test('the tables of publishing are those of earlier releases: an upgrade needs no rebuild', async () => {
  const { fingerprint } = await readDefinition(tablesOf(publishing));
  expect(fingerprint.schema).toBe('9TDbH3lQU3SpJMTfonWwBByJw2pPkQGSwzS75uimxRY');
});

// Additions go here; changing an existing entry would make every installation rebuild.
test('the rows of publishing are those of earlier releases', async () => {
  const { fingerprint } = await readDefinition(tablesOf(publishing));
  expect(fingerprint.rows).toEqual(ROWS);
});

test('the definition changes if a sum adds something else', async () => {
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
    [{ sum: 'rows.one' }, { sum: 'rows.other' }, { sum: 'rows.one' }].map((derived) =>
      readDefinition(tablesOf(summing(derived))),
    ),
  );
  const [one, other, same] = all.map(({ fingerprint }) => fingerprint.schema);
  expect([one === other, one === same]).toEqual([false, true]);
});

test('the tables need a rebuild once an event has a new version, though they look the same', async () => {
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
  const inCents = { upcasts: [({ price }: { price: number }) => ({ price: price * 100 })] };
  const [one, other, same] = await Promise.all(
    [{}, inCents, { upcasts: [] }].map((each) => readDefinition(tablesOf(priced(each)))),
  );
  expect([
    one?.fingerprint.schema === other?.fingerprint.schema,
    one?.fingerprint.schema === same?.fingerprint.schema,
    one?.tables === other?.tables,
  ]).toEqual([false, true, true]);
});
