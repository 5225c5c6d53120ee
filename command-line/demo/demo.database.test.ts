import { afterAll, beforeAll, expect, test } from 'vitest';
import { planDemo } from '#domain/demo/plan.ts';
import { publishing } from '#domain/publishing.ts';
import { type Called, callLine } from '../../test/engines/call-line.ts';
import { type Installation, startInstallation } from '../../test/engines/installation.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { openPeople } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { runCommandLine } from '../program.ts';

const FILLS_MS = scaled(240_000);
const ARTICLES = 24;

const open = new AsyncDisposableStack();
let installation: Installation;
let ask: RestClient;
let token: string;
let first: Called;

const access = () => ['--client', installation.admin.clientId, '--secret', installation.admin.secret, '--url', installation.url];
const demo = (...args: readonly string[]) => callLine(installation.settings, ['demo', ...access(), ...args]);
const listed = async <Item>(path: string): Promise<readonly Item[]> => (await ask('GET', path, { token })).body as Item[];

beforeAll(async () => {
  installation = open.use(await startInstallation());
  ask = restClientOf(installation);
  ({ token } = (await openPeople(installation)).administrator);
  first = await demo('--articles', String(ARTICLES), '--traffic', '1s');
}, FILLS_MS);
afterAll(() => open.disposeAsync());

const { people, articles } = planDemo(1, ARTICLES);
const fates = (fate: string) => articles.filter((article) => article.fate === fate).length;

test('it says what it has made', () => {
  expect(first).toMatchObject({ exit: 0, complaint: expect.stringContaining('things were done') });
  const said = first.lines.join('\n');
  expect(said).toContain('Demo 1 is there:\n  16 people');
  expect(said).toContain(`${ARTICLES} articles: ${fates('published')} published, ${fates('draft')} drafts`);
  expect(said).toContain('3 webhooks');
  expect(said).toContain(`${installation.url.replace('127.0.0.1', 'localhost')}/console `);
});

type Article = { readonly id: number; readonly title: string; readonly status: string; readonly cover: string | null };

test('what it has made can be read by REST and by GraphQL', async () => {
  const users = await listed<{ email: string | null }>('/users?limit=100');
  const staying = people.filter(({ later }) => later !== 'deleted').map(({ email }) => email);
  expect(users.map(({ email }) => email)).toEqual(expect.arrayContaining(staying));
  const drafts = await listed<Article>('/articles?limit=100&status=draft');
  expect(drafts).toHaveLength(fates('draft') + fates('unpublished'));
  const published = await listed<Article>('/articles?limit=100&status=published');
  expect(published.length).toBeGreaterThanOrEqual(fates('published'));
  const cover = published.find((article) => article.cover !== null)?.cover ?? '';
  expect((await ask('GET', new URL(cover, installation.url).pathname)).headers.get('content-type')).toBe('image/png');
  const query = '{ posts(limit: 30) { title author { name } comments { text author { name } } } }';
  const { body } = await ask('POST', '/graphql', { body: { query } });
  const { posts } = (body as { data: { posts: { title: string; comments: { text: string }[] }[] } }).data;
  expect(posts.map(({ title }) => title).toSorted()).toEqual(published.map(({ title }) => title).toSorted());
  expect(posts.some(({ comments }) => comments.length > 0)).toBe(true);
});

test('its webhooks have sent, failed and given up, and are disabled now that nobody listens', async () => {
  const webhooks = await until(
    () => listed<{ id: number; description: string; enabled: boolean; disabledReason?: string }>('/webhooks'),
    (all) => all.length === 3 && all.every(({ enabled }) => !enabled),
  );
  expect(webhooks.find(({ description }) => description.includes('Old mailing list'))?.disabledReason).toBe('gone');
  const { id = 0 } = webhooks.find(({ description }) => description.includes('Search index')) ?? {};
  await until(
    () => listed(`/webhooks/${id}/deliveries?state=delivered`),
    (deliveries) => deliveries.length > 0,
  );
});

test('its administrator signs in with the password that it has told', async () => {
  const [, email = '', password = ''] = /Sign in as (\S+), an administrator, with the password (\S+)/.exec(first.lines.join('\n')) ?? [];
  const browser = openHandBrowser(installation.fetch);
  const signIn = await browser.follow(await browser.get(`${installation.url}/account`));
  const page = await browser.follow(await browser.post(signIn.action, { ...signIn.hidden, email, password }));
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining(people[0]?.name ?? '') });
  expect((await listed<{ email: string; role: string }>('/users?limit=100')).find((user) => user.email === email)?.role).toBe('admin');
});

const everything = async () => ({
  users: await listed<{ id: number }>('/users?limit=100'),
  articles: await listed<Article>('/articles?limit=100'),
  webhooks: await listed<{ id: number }>('/webhooks'),
  clients: await listed<{ clientId: string }>('/clients'),
});

test('a second time nothing is made twice, and no password is told', async () => {
  const before = await everything();
  const second = await demo('--articles', String(ARTICLES), '--traffic', '0s');
  expect(second).toMatchObject({ exit: 0, complaint: '' });
  expect(second.lines.join('\n')).toContain('Demo 1 is there already, and nothing was made twice.');
  expect(second.lines.join('\n')).not.toContain('with the password');
  expect(await everything()).toEqual(before);
});

test('in a production it is asked for at one address, and shown at the public one', async () => {
  const settings = { ...installation.settings, NODE_ENV: 'production', PUBLIC_URL: 'https://annals.example' };
  const shown = await callLine(settings, ['demo', ...access(), '--articles', String(ARTICLES), '--traffic', '0s', '--yes']);
  expect(shown).toMatchObject({ exit: 0, complaint: '' });
  expect(shown.lines.join('\n')).toContain('https://annals.example/console ');
});

test('what was cut off is gone on with, and ends as if it had not been', { timeout: FILLS_MS }, async () => {
  const cut = new AbortController();
  const complaints: string[] = [];
  const exit = await runCommandLine(['demo', ...access(), '--seed', '2', '--articles', '6', '--traffic', '0s'], {
    domain: publishing,
    demo: () => import('#domain/demo/demo.ts'),
    environment: { NODE_ENV: 'test', ...installation.settings },
    signal: cut.signal,
    write: async () => {},
    complain: (line) => {
      complaints.push(line);
      if (line.includes('articles')) cut.abort();
    },
  });
  expect({ exit, last: complaints.at(-1) }).toEqual({ exit: 0, last: expect.stringContaining('run the same again') });
  await until(
    () => listed<{ enabled: boolean }>('/webhooks'),
    (webhooks) => webhooks.every(({ enabled }) => !enabled),
  );
  const whole = await demo('--seed', '2', '--articles', '6', '--traffic', '0s');
  expect(whole.lines.join('\n')).toContain('Demo 2 is there:');
  const plan = planDemo(2, 6);
  const users = await listed<{ email: string | null }>('/users?limit=100');
  for (const { email, later } of plan.people)
    expect(users.filter((user) => user.email === email)).toHaveLength(later === 'deleted' ? 0 : 1);
  const titles = (await listed<Article>('/articles?limit=100')).map(({ title }) => title);
  const finalTitle = ({ title, edits }: (typeof plan.articles)[number]) =>
    edits.findLast((edit) => edit.title !== undefined)?.title ?? title;
  for (const article of plan.articles.filter(({ fate }) => fate !== 'deleted')) expect(titles).toContain(finalTitle(article));
});
