// Takes minutes, so it starts first.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { JOURNAL, openPeople, type Person, type TokenHolder } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { startWebhookSink, type WebhookSink } from '../../testing/http/webhook-sink.ts';
import { PLENTY, type Settings } from '../../testing/installation.ts';
import { scaled } from '../../testing/load.ts';
import { PIXEL } from '../../testing/sample-file.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { annalsOf, releaseMissing, unpackRelease } from '../engines/release.ts';
import { startRole } from '../engines/role-process.ts';

/**
 * A data folder with its own database that an earlier release makes, this release takes over, the earlier
 * one takes back, and this release has in the end: docs/upgrade.md. Each of them reads what the others wrote,
 * and writes.
 */
const RELEASES = [
  ['0.1.0', '6c97decec3b1240b62a4ae5e15e1291385a86c69'],
  ['0.2.0', '331cc2caef46f8dfeba3982f5e8d117ebc933541'],
] as const;
const THIS = join(import.meta.dirname, '../..');
const TEST_MS = scaled(600_000);

for (const [name, commit] of RELEASES) {
  const missing = releaseMissing(commit);
  if (missing !== undefined)
    process.stderr.write(`The way from ${name} and back is not tried: ${missing}.\n`);
}

test.each(RELEASES.filter(([, commit]) => releaseMissing(commit) === undefined))(
  'a data folder of %s goes to this release, back, and to this release again',
  async (_name, commit) => {
    await using release = await unpackRelease(commit);
    await using folder = await makeDataFolder();
    const made = await folder.use(release.path);
    const here = await folder.use(THIS);
    expect(here.before).toMatchObject(made.after);
    const back = await folder.use(release.path);
    expect(here.after).toMatchObject(back.before);
    // Its tables are those of this release then, and the earlier one goes back to its own.
    const again = await folder.use(THIS, ['projection', 'rebuild']);
    expect(again.before).toMatchObject(back.after);
    const backAgain = await folder.use(release.path, ['projection', 'rollback']);
    expect(again.after).toMatchObject(backAgain.before);
    expect((await folder.use(THIS)).before).toMatchObject(backAgain.after);
  },
  TEST_MS,
);

type Answers = Readonly<Record<string, { readonly status: number; readonly body: unknown }>>;
/** The data that a release found, and the data when it was stopped. */
type Used = { readonly before: Answers; readonly after: Answers };

const ADMIN = 'test-admin';

const makeDataFolder = async () => {
  await using opening = new AsyncDisposableStack();
  const dataDir = opening.use(await temporaryDataDir());
  const sink = opening.use(await startWebhookSink());
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const settings: Settings = { DATA_DIR: dataDir.path, PUBLIC_URL: url, NODE_ENV: 'test', ...PLENTY };
  let made: Made | undefined;
  const use = async (root: string, command?: readonly string[]): Promise<Used> => {
    await using main = startRole('main.ts', { ...settings, PORT: port }, root);
    await main.logged('Annals is ready.');
    if (command !== undefined) await annalsOf(root, command, settings);
    made ??= await makeAccounts(root, url, settings);
    const user = await openUser(made, url, sink);
    const before = await user.answers();
    await user.write();
    const after = await user.answers();
    expect(await annalsOf(root, ['projection', 'parked'], settings)).toContain('Nothing is parked.');
    expect(await annalsOf(root, ['audit', 'verify'], settings)).toMatch(/^Proven, up to position/m);
    expect(await main.kill('SIGTERM')).toBe(0);
    return { before, after };
  };
  const resources = opening.move();
  return { use, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** The items that the first release has made, and those that each release changes. */
type Made = {
  readonly admin: { readonly clientId: string; readonly secret: string };
  readonly scopes: readonly string[];
  readonly articles: number[];
  readonly others: string[];
  ada?: Person;
  webhook?: { readonly path: string; readonly secret: string };
};

const makeAccounts = async (root: string, url: string, settings: Settings): Promise<Made> => {
  const { body } = await restClientOf({ url })('GET', '/.well-known/oauth-protected-resource');
  const scopes = (body as { readonly scopes_supported: readonly string[] }).scopes_supported;
  const args = ['--id', ADMIN, '--service', '--role', 'admin', '--scope', scopes.join(' ')];
  const output = await annalsOf(root, ['client', 'create', 'Administrator', ...args], settings);
  const secret = /"secret": "([^"]+)"/.exec(output)?.[1] ?? '';
  return { admin: { clientId: ADMIN, secret }, scopes, articles: [], others: [] };
};

/** Does what people and programs do, by HTTP alone. */
const openUser = async (made: Made, url: string, sink: WebhookSink) => {
  const ask = restClientOf({ url });
  const { scopes } = made;
  const people = await openPeople({ url, fetch, admin: made.admin, domain: publishing, scopes });
  const ada = made.ada ? await people.signInAt(JOURNAL, made.ada) : await people.signUp('Ada');
  made.ada ??= ada;
  const session = restSessionOver(ask);
  const askers = { administrator: people.administrator.token, ada: ada.token, nobody: undefined };
  return {
    async answers(): Promise<Answers> {
      const paths = pathsOf(made, ada.userId);
      const found: Record<string, Answers[string]> = {};
      for (const [by, token] of Object.entries(askers))
        for (const path of paths) {
          const { status, body } = await session.read(path, { token });
          // Titles may be worded anew, and each answer has an id of its own.
          const said = status < 400 ? withoutSignIns(body) : (body as { readonly code: string }).code;
          found[`${by} ${path}`] = { status, body: said };
        }
      return found;
    },
    write: () => write({ made, session, sink, token: people.administrator.token, ada }),
  };
};

/** Asking signs in, which is an event. */
const withoutSignIns = (body: unknown): unknown =>
  Array.isArray(body) ? body.filter(({ type }) => !String(type).startsWith('session.')) : body;

const pathsOf = ({ articles, others }: Made, ada: number): readonly string[] => [
  ...['/articles', '/articles?tag=engines&limit=1', '/users', '/audit/keys', '/jwks', '/events?limit=100'],
  ...[`/users/${ada}`, `/users/${ada}/history`],
  ...articles.flatMap((id) => [`/articles/${id}`, `/articles/${id}/history`, `/articles/${id}/comments`]),
  ...others,
];

type Writing = {
  readonly made: Made;
  readonly session: RestSession;
  readonly sink: WebhookSink;
  readonly token: string;
  readonly ada: TokenHolder;
};

const write = async ({ made, session, sink, token, ada }: Writing): Promise<void> => {
  const post = async (path: string, body: object, by = token): Promise<number> =>
    (await session.write('POST', path, { token: by, body })).written.id;
  made.webhook ??= await registerWebhook(session, sink, token);
  // Somebody who goes again, with what they wrote.
  const email = `${randomUUID()}@example.com`;
  const gone = await post('/users', { name: 'Erasmus', email, role: 'author' });
  const theirs = { title: 'Moria', body: '', tags: [], authorId: gone };
  const draft = await post('/articles', { ...theirs, publish: false });
  made.articles.push(await post('/articles', { ...theirs, publish: true }));
  for (const id of made.articles)
    await post(`/articles/${id}/comments`, { text: `The ${made.articles.length}.` }, ada.token);
  for (const id of made.articles.slice(1))
    await session.write('PATCH', `/articles/${id}`, { token, body: { title: `On ${made.articles.length}` } });
  const content = { title: 'Ours', body: '*ünï*', tags: ['engines'], publish: true };
  const own = await post('/articles', content, ada.token);
  const picture = { token: ada.token, type: 'image/png', body: PIXEL };
  await session.write('PUT', `/articles/${own}/cover`, picture);
  made.articles.push(own);
  await session.write('DELETE', `/users/${gone}`, { token });
  made.others.push(`/users/${gone}`, `/articles/${draft}`);
  await until(
    () => session.read(`/articles/${draft}`, { token }),
    ({ status }) => status === 404,
  );
  await untilDelivered(sink, made.webhook.secret, `article-${own}`);
};

const registerWebhook = async (session: RestSession, { url }: WebhookSink, token: string) => {
  const body = { url: `${url}/shop`, eventTypes: ['article.*', 'comment.*'] };
  const { headers, body: registered } = await session.write('POST', '/webhooks', { token, body });
  return {
    path: headers.get('location') ?? '',
    secret: (registered as unknown as { readonly secret: string }).secret,
  };
};

const untilDelivered = async (sink: WebhookSink, secret: string, subject: string): Promise<void> => {
  const { body, headers } = await until(
    () => sink.received.find((each) => each.body.includes(subject)) ?? NOTHING,
    (received) => received !== NOTHING,
    60_000,
  );
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ subject });
};

const NOTHING = { body: '', headers: {} };
