// Over 200 lines, because every part of the demo is checked in the one installation that it fills here.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { planDemo } from '#domain/demo/plan.ts';
import { readDemoAccess } from '#process/first-minute-file.ts';
import { callLine } from '../../test/engines/call-line.ts';
import { createCommandDatabase, registerUser } from '../../test/engines/command-side.ts';
import { startInstallation } from '../../test/engines/installation.ts';
import { test as base } from '../../test/engines/processes.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { startReceiver } from './receiver.ts';

const FILLS_MS = scaled(240_000);
const ARTICLES = 21;
const DAY_MS = 86_400_000;

const fill = (given: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  callLine(given, ['demo', '--articles', String(ARTICLES), '--fill-only', ...args]);

const test = base
  .extend('settings', { scope: 'file' }, ({ database }) => database.settings)
  .extend('first', { scope: 'file' }, ({ settings }) => fill(settings))
  .extend('installation', { scope: 'file' }, async ({ first: _filled, settings }, { onCleanup }) => {
    await startReceiver((await readDemoAccess(settings.DATA_DIR ?? ''))?.receiverPort ?? 0);
    const installation = await startInstallation({ settings });
    onCleanup(() => installation[Symbol.asyncDispose]());
    return installation;
  })
  .extend('ask', { scope: 'file' }, ({ installation }) => restClientOf(installation))
  .extend('token', { scope: 'file' }, async ({ installation }) => {
    const { administrator } = await openPeople(installation);
    return administrator.token;
  })
  .extend('listed', { scope: 'file' }, ({ ask, token }) => async <Item>(path: string) => {
    const { body } = await ask('GET', path, { token });
    return body as readonly Item[];
  });

test.beforeAll(({ installation: _running }) => {}, FILLS_MS);

const { people } = planDemo(1, ARTICLES - 1);

test('it reports what it has made', ({ first }) => {
  expect(first).toMatchObject({ exit: 0, complaint: '' });
  const said = first.lines.join('\n');
  expect(said).toContain('Demo 1 is ready: 16 people, and 4 weeks of their activity.');
  expect(said).toContain(`${ARTICLES} articles: `);
  expect(said).toMatch(/Look first at http:\S+\/console\/items\/articles\/\d+: somebody changed/);
});

type Event = {
  readonly type: string;
  readonly metadata: { readonly at: string; readonly actor: string; readonly client: string | null };
};

const eventsOf = async (given: Readonly<Record<string, string>>): Promise<readonly Event[]> => {
  const { lines } = await callLine(given, ['log', 'tail', '--from', '1', '--limit', '1000', '--json']);
  return lines.map((line) => JSON.parse(line));
};
/** The events before today. */
const storyOf = async (given: Readonly<Record<string, string>>): Promise<readonly Event[]> => {
  const events = await eventsOf(given);
  const lastMidnight = Math.floor(Date.parse(events.at(-1)?.metadata.at ?? '') / DAY_MS) * DAY_MS;
  return events.filter(({ metadata }) => Date.parse(metadata.at) < lastMidnight);
};

test('people act under their own names over weeks, and event times never decrease', async ({ settings }) => {
  const times = (await eventsOf(settings)).map(({ metadata }) => Date.parse(metadata.at));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  const story = await storyOf(settings);
  expect(Date.parse(story.at(-1)?.metadata.at ?? '') - (times[0] ?? 0)).toBeGreaterThan(24 * DAY_MS);
  const actors = new Set(
    story.map(({ metadata }) => metadata.actor).filter((actor) => actor.startsWith('user:')),
  );
  expect(actors.size).toBeGreaterThanOrEqual(12);
  expect(new Set(story.map(({ metadata }) => metadata.client))).toEqual(
    new Set([null, 'console', 'demo-1-reading-list']),
  );
});

test('the read model of the demo is proven', async ({ settings }) => {
  const proof = await callLine(settings, ['audit', 'verify']);
  expect(proof).toMatchObject({
    exit: 0,
    lines: expect.arrayContaining([expect.stringContaining('Proven, up to position')]),
  });
});

type Entry = {
  readonly at: string;
  readonly actor: string;
  readonly changes?: readonly { readonly field: string }[];
};

test('an article was changed at night by a new administrator, and restored by its author', async ({
  ask,
  listed,
  token,
}) => {
  const article = (
    await listed<{ id: number; title: string; body: string; author: { id: number } }>('/articles?limit=100')
  ).find(({ title }) => title === 'What the harbour bridge really cost');
  const path = `/articles/${article?.id}`;
  const [restored, changed] = await listed<Entry>(`${path}/history?limit=2`);
  expect(restored?.actor).toBe(`user:${article?.author.id}`);
  expect(changed?.actor).not.toBe(restored?.actor);
  expect(changed).toMatchObject({
    at: expect.stringContaining('T23:41:00'),
    changes: [expect.objectContaining({ field: 'body' })],
  });
  const { body: atNight } = await ask('GET', `${path}?at=${changed?.at}`, { token });
  expect(atNight).toMatchObject({ body: expect.stringContaining('Paid so far: 21.9 million') });
  expect(article?.body).toContain('Paid so far: 31.9 million');
  const changer = await ask('GET', `/users/${changed?.actor.slice('user:'.length)}`, { token });
  expect(changer.body).toMatchObject({ name: people[1]?.name, role: 'author' });
});

type Health = { readonly lastSuccessAt: string | null; readonly lastFailure: object | null };

test('one webhook delivers, and one fails at an address where nobody listens', async ({
  ask,
  listed,
  token,
}) => {
  const webhooks = await listed<{ id: number; description: string }>('/webhooks');
  const healthOf = async (name: string): Promise<Health> => {
    const { id } = webhooks.find(({ description }) => description === name) ?? {};
    return ((await ask('GET', `/webhooks/${id}`, { token })).body as { health: Health }).health;
  };
  const well = await until(
    () => healthOf('Search index'),
    ({ lastSuccessAt }) => lastSuccessAt !== null,
  );
  expect(well.lastFailure).toBe(null);
  const failing = await until(
    () => healthOf('Newsletter'),
    ({ lastFailure }) => lastFailure !== null,
  );
  expect(failing).toMatchObject({
    lastSuccessAt: null,
    lastFailure: { reason: expect.stringMatching(/refused/i) },
  });
});

test('persons who left are erased, with their texts', async ({ listed, settings }) => {
  const users = await listed<{ name: string | null; email: string | null }>('/users?limit=100');
  const left = people[9]?.email;
  expect(users.map(({ email }) => email)).not.toContain(left);
  expect(users.map(({ email }) => email)).toEqual(
    expect.arrayContaining(people.filter(({ email }) => email !== left).map(({ email }) => email)),
  );
  expect((await callLine(settings, ['erasure', 'list'])).lines.join('\n')).toMatch(/\d/);
});

test('its administrator can sign in with the printed password', async ({ first, installation }) => {
  const [, email = '', password = ''] =
    /as (\S+), an administrator, with the password (\S+)/.exec(first.lines.join('\n')) ?? [];
  const browser = openHandBrowser(installation.fetch);
  const signIn = await browser.follow(await browser.get(`${installation.url}/account`));
  const page = await browser.follow(await browser.post(signIn.action, { ...signIn.hidden, email, password }));
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining(people[0].name) });
});

test('a second run makes nothing twice, and people continue', async ({ installation, settings }) => {
  const before = await eventsOf(settings);
  const second = await fill(settings);
  expect(second).toMatchObject({ exit: 0, complaint: '' });
  expect(second.lines.join('\n')).toContain('Demo 1 already exists: nothing was created again.');
  expect(await eventsOf(settings)).toHaveLength(before.length);
  const going = await callLine(settings, [
    'demo',
    '--articles',
    String(ARTICLES),
    '--traffic',
    '1s',
    '--url',
    installation.url,
  ]);
  expect(going).toMatchObject({ exit: 0, complaint: expect.stringContaining('actions were performed.') });
});

test(
  'the same seed makes the same demo, also in production, where no password is stored',
  async ({ settings }) => {
    await using empty = await createCommandDatabase();
    const production = {
      ...empty.settings,
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://annals.example',
    };
    const filled = await fill(production, '--yes');
    expect(filled).toMatchObject({ exit: 0, complaint: '' });
    expect(filled.lines.join('\n')).toContain('https://annals.example/console');
    await expect(access(join(empty.settings.DATA_DIR ?? '', 'demo-access.json'))).rejects.toThrow();
    const made = async (given: Readonly<Record<string, string>>) =>
      (await storyOf(given))
        .filter(({ type }) => !type.startsWith('webhook.'))
        .map(({ type, metadata }) => [type, metadata.at]);
    expect(await made(production)).toEqual(await made(settings));
  },
  FILLS_MS,
);

test('an installation that has events, or runs, is refused', async () => {
  await using database = await createCommandDatabase();
  const refused = async () => (await fill(database.settings)).complaint;
  {
    await using side = await database.open();
    await registerUser(side);
    expect(await refused()).toContain('This installation already has events');
  }
  await using running = await createCommandDatabase();
  await using side = await running.open();
  await until(
    async () =>
      (await side.pool.query('select from public.lease where expires_at > clock_timestamp()')).rowCount,
    (count) => (count ?? 0) > 0,
  );
  expect((await fill(running.settings)).complaint).toContain('Annals runs: ');
});
