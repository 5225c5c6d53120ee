import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { assembled } from './grow.ts';
import { largePlan } from './large.ts';
import { hostFor, writeDomain } from './served.ts';

const AGGREGATES = 60;
const SEED = 60;
const plan = largePlan(AGGREGATES);

test('a domain of sixty aggregates starts, and its tokens, reads, writes, documents and console work', async () => {
  const domain = assembled(plan);
  if (typeof domain === 'string') throw new Error(domain);
  const host = await hostFor({ seed: SEED, plan, domain });
  await using installation = await host.start({});
  const { administrator } = await openPeople(installation);
  const ask = restClientOf(installation);
  const session = restSessionOver(ask);
  const { token } = administrator;
  for (const path of ['/openapi.json', '/docs', '/console', '/event-types', '/graphql']) {
    const accept = path.endsWith('json') ? '*/*' : 'text/html,*/*';
    expect([path, (await ask('GET', path, { headers: { accept } })).status]).toEqual([path, 200]);
  }
  for (const index of [0, AGGREGATES - 1]) {
    const collection = `/record${index}s`;
    const { written } = await session.write('POST', collection, { token, body: { title: 'A', amount: 5 } });
    const { body } = await session.read<{ title: string }>(`${collection}/${written.id}`, { token });
    expect(body.title).toBe('A');
  }
  const fields = Array.from({ length: 5 }, (_, index) => `record${index}s { id title parts { text } }`);
  const { body } = await ask('POST', '/graphql', { token, body: { query: `{ ${fields.join(' ')} }` } });
  expect(body).toMatchObject({ data: { record0s: [{ title: 'A' }] } });
});

const CLIENT = `import { createClient } from '../../client/client.ts';
import type { generated } from './seed-${SEED}.ts';

const client = createClient<typeof generated>({ url: 'http://localhost:4000' });
export const read = async (): Promise<string> => {
  const { title } = await client.record${AGGREGATES - 1}s.get(1);
  return title;
};
`;

test('the typed client of a domain of sixty aggregates compiles', async () => {
  const file = await writeDomain({ seed: SEED, plan });
  const folder = file.slice(0, file.lastIndexOf('/'));
  await writeFile(`${folder}/large-client.ts`, CLIENT);
  const project = {
    extends: '../../tsconfig.json',
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
    include: ['./large-client.ts'],
    exclude: [],
  };
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify(project));
  await promisify(execFile)('node_modules/.bin/tsc', ['-p', folder]).catch(({ stdout }) => {
    throw new Error(String(stdout).slice(0, 2_000));
  });
});
