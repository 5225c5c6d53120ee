import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { inDatabase, searchDatabase, searchFolder } from '../../testing/database/search-everywhere.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { openPeople } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { operate, startInstallation } from '../engines/installation.ts';
import { lending } from './lending.ts';

test('refusals have their reason, in REST and GraphQL as described, and claims are shown nowhere', async () => {
  await using installation = await startInstallation({
    of: { domain: lending, main: 'test/toy/lending-main.ts' },
  });
  const people = await openPeople(installation);
  const [ask, graphql] = [restClientOf(installation), graphqlClientOf(installation)];
  const session = restSessionOver(ask);
  const { administrator } = people;
  const ada = await people.signUp('Ada');
  const buy = async (code: string) =>
    (await session.write('POST', '/books', { token: ada.token, body: { code } })).written.id;
  const first = await buy('Dune');
  const taken = await ask('POST', '/books', { token: ada.token, body: { code: 'DUNE' } });
  expect([taken.status, taken.body]).toMatchObject([
    409,
    { code: 'book_code_taken', title: 'The book code is taken.' },
  ]);
  for (const bookId of [first, await buy('Two'), await buy('Three')])
    await session.write('POST', '/loans', { token: ada.token, body: { bookId } });
  const fourth = await buy('Four');
  const full = await ask('POST', '/loans', { token: ada.token, body: { bookId: fourth } });
  const sentence = 'You have three books already: return one first.';
  expect([full.status, full.body]).toMatchObject([
    409,
    { code: 'loan_open_full', title: sentence, details: { max: 3 } },
  ]);
  const mutation = `mutation { createLoan(input: { book: "${fourth}" }) { id } }`;
  expect(await graphql(mutation, { token: ada.token })).toMatchObject({
    errors: [{ message: sentence, extensions: { code: 'loan_open_full' } }],
  });
  const { body: openapi } = await session.read('/openapi.json');
  for (const text of [
    sentence,
    'loan_open_full',
    'Somebody else has the book.',
    'book_is_out',
    'book_code_taken',
  ])
    expect(JSON.stringify(openapi)).toContain(text);

  const secret = `card-${randomBytes(8).toString('hex')}`;
  await session.write('POST', '/cards', { token: ada.token, body: { number: secret } });
  const hidden = await session.read('/event-types', { token: administrator.token });
  expect(JSON.stringify(hidden.body)).not.toMatch(/limit\.|claim_abandoned/);
  await session.write('DELETE', `/users/${ada.userId}`, { token: administrator.token });
  const { DATABASE_URL = '', DATA_DIR = '' } = installation.settings;
  await until(
    async () => [
      ...(await searchDatabase(DATABASE_URL, [secret])),
      ...(await searchFolder(DATA_DIR, [secret])),
    ],
    (found) => found.length === 0,
  );
  // After their loans have ended, their places are free.
  const bert = await people.signUp('Bert');
  const lent = await until(
    () => ask('POST', '/loans', { token: bert.token, body: { bookId: first } }),
    ({ status }) => status === 201,
  );
  expect(lent.status).toBe(201);
  const claims = await inDatabase(DATABASE_URL, (client) =>
    client.query(`select data from event_log.event where type like 'limit.%' and data::text ilike $1`, [
      `%${secret}%`,
    ]),
  );
  expect(claims.rows).toEqual([]);
  expect(await operate(['audit', 'verify'], installation.settings, lending)).toContain('Proven');
});
