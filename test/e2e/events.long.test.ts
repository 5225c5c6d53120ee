import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { follow } from '../../testing/http/event-source.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';

/** The feed as programs follow it, only by HTTP. */
let installation: Installation;
let people: People;
let ask: RestClient;
let ada: Person;
let rita: Person;

type Event = {
  readonly type: string;
  readonly cursor: string;
  readonly subject: string;
  readonly data: { readonly title?: string };
};

beforeAll(async () => {
  installation = await startInstallation();
  people = await openPeople(installation);
  ask = restClientOf(installation);
  [ada, rita] = (await Promise.all([people.signUp('Ada'), people.signUp('Rita')])) as [Person, Person];
});
afterAll(() => installation?.[Symbol.asyncDispose]());

const publish = async (title: string, by = ada, body = ''): Promise<number> => {
  const made = await ask('POST', '/articles', {
    token: by.token,
    body: { title, body, tags: [], publish: true },
  });
  expect(made.status).toBe(201);
  return (made.body as { id: number }).id;
};

const bearer = ({ token }: { readonly token: string }, lastEventId?: string) => ({
  authorization: `Bearer ${token}`,
  ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
});
const streamOf = (by: { readonly token: string }, query = '', lastEventId?: string) =>
  follow(`${installation.origin}/events${query}`, { headers: bearer(by, lastEventId) });

const PUBLISHED = '?types=article.published';

test('curl shows events as they happen', async () => {
  const args = [
    '-sN',
    '--max-time',
    '60',
    '-H',
    'Accept: text/event-stream',
    '-H',
    `Authorization: Bearer ${rita.token}`,
  ];
  const curl = execFile('curl', [...args, `${installation.origin}/api/events${PUBLISHED}`]);
  let printed = '';
  curl.stdout?.on('data', (text: string) => {
    printed += text;
  });
  // The first lines contain the cursor to resume from.
  await until(
    () => printed,
    (text) => /^id: \S+$/m.test(text),
  );
  const id = await publish('For curl');
  await until(
    () => printed,
    (text) => text.includes(`"subject":"article-${id}"`),
  );
  expect(printed).toMatch(/^:\n\nid: \S+\n\nid: (\S+)\ndata: \{.*"cursor":"\1".*\}\n\n/);
  curl.kill();
});

test('after a disconnection nothing is missing and nothing is repeated', async () => {
  const first = await streamOf(rita, PUBLISHED);
  await until(first.lastEventId, Boolean);
  const ids = [await publish('One')];
  await first.data(1);
  await first.close();
  ids.push(await publish('Two'), await publish('Three'));
  const again = await streamOf(rita, PUBLISHED, first.lastEventId());
  ids.push(await publish('Four'));
  const seen = [...(await first.data<Event>(1)), ...(await again.data<Event>(3))];
  expect(seen.map(({ subject }) => subject)).toEqual(ids.map((id) => `article-${id}`));
  // A reconnect also repeats the first cursor; the last id takes precedence.
  const twice = await streamOf(rita, `${PUBLISHED}&after=${seen[0]?.cursor}`, again.lastEventId());
  const last = await publish('Five');
  expect((await twice.data<Event>(1)).map(({ subject }) => subject)).toEqual([`article-${last}`]);
  await Promise.all([again.close(), twice.close()]);
});

/** One more query process, with settings of its own. */
const startQuery = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<RoleProcess & { readonly url: string }> => {
  const role = startRole('query/main.ts', { ...installation.settings, ...settings });
  const { url } = await role.logged('Annals is ready.');
  return { ...role, url: String(url) };
};

test('a process that stops ends its streams cleanly, and they resume at another', async () => {
  await using role = await startQuery({ DRAIN_MS: '60000' });
  const stream = await follow(`${role.url}/events${PUBLISHED}`, { headers: bearer(rita) });
  await publish('Before');
  await stream.data(1);
  const stopping = role.kill('SIGTERM');
  await stream.over();
  expect(await stopping).toBe(0);
  expect(role.printed()).not.toMatch(/cut off/);
  const id = await publish('After');
  await using onwards = await streamOf(rita, PUBLISHED, stream.lastEventId());
  expect((await onwards.data<Event>(1))[0]?.subject).toBe(`article-${id}`);
});
