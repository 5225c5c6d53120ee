import { expect, test } from 'vitest';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { startInstallation } from '../engines/installation.ts';
import { lending } from './lending.ts';

test('refusals have their reason, in REST and GraphQL as described, and events of claims are not listed', async () => {
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
    'loan_out_full',
    'book_code_taken',
  ])
    expect(JSON.stringify(openapi)).toContain(text);

  const hidden = await session.read('/event-types', { token: administrator.token });
  expect(JSON.stringify(hidden.body)).not.toMatch(/limit\.|claim_abandoned/);
});
