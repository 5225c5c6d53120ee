import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import { createClient } from '../../client/client.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { startExample } from '../engines/example.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';

/** The job of docs/client.md, registered and started as the page says, which is killed again and again. */
const DEADLINE_MS = 60_000;
const ARTICLES = 8;
const open = new AsyncDisposableStack();
let installation: Installation;
let ada: Person;
let environment: Record<string, string>;
let file: string;
let command: string;

beforeAll(async () => {
  installation = open.use(await startInstallation());
  const people = await openPeople(installation);
  ada = await people.signUp('Ada');
  const page = await readFile(new URL('../../docs/client.md', import.meta.url), 'utf8');
  const line = (beginning: string) => page.split('\n').find((each) => each.startsWith(beginning)) ?? '';
  const words = (line('npm run annals -- client create Greeter').match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
  const output = await operate(words.slice('npm run annals --'.split(' ').length), installation.settings);
  const secret = /"secret": "([^"]+)"/.exec(output)?.[1] ?? '';
  // Signs in once it is known, so that the job need not wait.
  await people.tokenOf({ clientId: 'greeter', secret });
  environment = { ANNALS_URL: installation.origin, CLIENT_ID: 'greeter', CLIENT_SECRET: secret };
  const folder = await mkdtemp(join(tmpdir(), 'annals-'));
  open.defer(() => rm(folder, { recursive: true }));
  file = join(folder, 'greet.cursor');
  command = line('node docs/examples/greet.js').replace('greet.cursor', file);
});
afterAll(() => open.disposeAsync());

const clientOf = () => createClient<typeof publishing>({ url: installation.origin, token: ada.token });

test('each article has one comment, wherever the job was killed', async () => {
  const client = clientOf();
  const first = startExample(command, environment);
  await until(first.complaints, (text) => text.includes('following after'), DEADLINE_MS);
  await first.kill('SIGKILL');
  const articles: number[] = [];
  for (let index = 0; index < ARTICLES; index++)
    articles.push((await client.articles.create({ title: `Article ${index}`, body: '', publish: true })).id);
  const cursors: string[] = [];
  while (new Set(cursors).size < ARTICLES) {
    await using job = startExample(command, environment);
    // Between the comment and the cursor that is saved, or a little later.
    await until(
      () => [job.cursors().length, job.complaints()],
      ([count]) => count !== 0,
      DEADLINE_MS,
    );
    await job.kill('SIGKILL');
    cursors.push(...job.cursors());
  }
  for (const id of articles) expect(await Array.fromAsync(client.articles.of(id).comments.list()), `article ${id}`).toHaveLength(1);
});

test('it goes on after an article that is gone, and ends when it is told to', async () => {
  const client = clientOf();
  const gone = await client.articles.create({ title: 'Gone', body: '', publish: true });
  await client.articles.delete(gone.id);
  const { id } = await client.articles.create({ title: 'There', body: '', publish: true });
  await using job = startExample(command, environment);
  const comments = () => Array.fromAsync(client.articles.of(id).comments.list());
  await until(comments, ({ length }) => length === 1, DEADLINE_MS);
  await job.kill('SIGTERM');
  expect(job.complaints()).not.toContain('Error');
});
