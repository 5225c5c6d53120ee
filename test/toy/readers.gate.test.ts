import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Row } from '#kernel/registry/registry.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { test as base } from './clinic-fixture.ts';

type Page = { readonly nodes: readonly Row[]; readonly pageInfo: Row };
type Asked = { readonly by: { readonly token: string }; readonly args?: string; readonly request?: string };

/** The log of reads of a patient by GraphQL. */
const test = base.extend(
  'readersBy',
  { scope: 'file' },
  ({ installation, patient }) =>
    ({ by: { token }, args = 'first: 50', request = randomUUID() }: Asked) =>
      graphqlClientOf(installation)<{ readonly patient: { readonly readers: Page | null } | null }>(
        `query Readers { patient(id: "${patient.id}") { readers(${args}) { ${NODES} } } }`,
        { token, headers: { 'x-request-id': request } },
      ),
);
const NODES =
  'nodes { number at actor client via operation query request fields } pageInfo { hasNextPage endCursor }';

test('the readers of an item are the same by GraphQL as by REST, and reading them is logged', async ({
  dora,
  entriesOf,
  get,
  nick,
  patient,
  readersBy,
}) => {
  await get(patient.path, nick);
  const byRest = await get(`${patient.path}/readers`, dora);
  const rest = byRest.body as readonly Row[];
  expect(rest).toMatchObject([{ actor: `user:${nick.userId}`, operation: 'getPatient' }]);
  const request = randomUUID();
  const { data, errors } = await readersBy({ by: dora, request });
  expect(errors).toBe(undefined);
  const [last, ...others] = data.patient?.readers?.nodes ?? [];
  expect(last).toMatchObject({ actor: `user:${dora.userId}`, request: byRest.request, fields: ['readers'] });
  expect(others).toEqual(rest);
  expect(await entriesOf(request)).toMatchObject([
    { via: 'graphql', operation: 'Readers', kind: 'patient', items: [patient.id], fields: ['readers'] },
  ]);
  const first = await readersBy({ by: dora, args: 'first: 1' });
  const { nodes = [], pageInfo } = first.data.patient?.readers ?? {};
  expect([nodes.map(({ request: id }) => id), pageInfo?.hasNextPage]).toEqual([[request], true]);
  const next = await readersBy({ by: dora, args: `first: 2, after: "${String(pageInfo?.endCursor)}"` });
  expect(next.data.patient?.readers?.nodes).toEqual([last, rest[0]]);
});

test('those without the right to the readers get none, as by REST', async ({
  dan,
  get,
  nick,
  patient,
  people,
  readersBy,
}) => {
  for (const by of [dan, nick]) {
    expect((await get(`${patient.path}/readers`, by)).status).toBe(404);
    const { data, errors } = await readersBy({ by });
    expect([data, errors?.[0]?.extensions.code]).toEqual([
      { patient: { readers: null } },
      'patient_not_found',
    ]);
  }
  const { data } = await readersBy({ by: people.administrator });
  expect(data.patient?.readers?.nodes.length).toBeGreaterThan(0);
});

test('the log of reads is no part of a former state', async ({ dora, installation, patient }) => {
  const { data, errors } = await graphqlClientOf(installation)(
    `{ patient(id: "${patient.id}", at: "v1") { readers(first: 1) { ${NODES} } } }`,
    { token: dora.token },
  );
  expect([data, errors?.[0]?.extensions.code]).toEqual([{ patient: { readers: null } }, 'invalid_parameter']);
});
