import { execFile } from 'node:child_process';
import { expect } from 'vitest';
import { follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';

/** The feed as programs follow it, only by HTTP. */

type Event = {
  readonly type: string;
  readonly cursor: string;
  readonly subject: string;
  readonly data: { readonly title?: string };
};

const bearer = ({ token }: { readonly token: string }, lastEventId?: string) => ({
  authorization: `Bearer ${token}`,
  ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
});

const test = sharedTest
  .extend('publish', { scope: 'file' }, ({ ada, ask }) => async (title: string): Promise<number> => {
    const made = await ask('POST', '/articles', {
      token: ada.token,
      body: { title, body: '', tags: [], publish: true },
    });
    expect(made.status).toBe(201);
    return (made.body as { id: number }).id;
  })
  .extend(
    'streamOf',
    { scope: 'file' },
    ({ installation }) =>
      (by: { readonly token: string }, query = '', lastEventId?: string) =>
        follow(`${installation.origin}/events${query}`, { headers: bearer(by, lastEventId) }),
  )
  /** One more query process, with settings of its own. */
  .extend(
    'startQuery',
    { scope: 'file' },
    ({ installation }) =>
      async (
        settings: Readonly<Record<string, string>> = {},
      ): Promise<RoleProcess & { readonly url: string }> => {
        const role = startRole('query/main.ts', { ...installation.settings, ...settings });
        const { url } = await role.logged('Annals is ready.');
        return { ...role, url: String(url) };
      },
  );

const PUBLISHED = '?types=article.published';

test('curl shows events as they happen', async ({ installation, publish, rita }) => {
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

test('after a disconnection nothing is missing and nothing is repeated', async ({
  publish,
  rita,
  streamOf,
}) => {
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

test('a process that stops ends its streams cleanly, and they resume at another', async ({
  publish,
  rita,
  startQuery,
  streamOf,
}) => {
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
