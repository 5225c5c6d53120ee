import { afterAll, beforeAll, test } from 'vitest';
import { printedJson } from '../../command-line/domain/contract/printed-json.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { PIXEL } from '../../testing/pixel.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import { expectRecorded } from './expect-recorded.ts';

let installation: Installation;
let session: RestSession;
let people: People;
let author: Person;
let reader: Person;
let callers: Readonly<Record<string, string | undefined>>;
beforeAll(async () => {
  installation = await shareInstallation();
  session = restSessionOver(restClientOf(installation));
  people = await openPeople(installation);
  const [someone, ada, otto] = (await Promise.all(['Rita', 'Ada', 'Otto'].map(people.signUp))) as [
    Person,
    Person,
    Person,
  ];
  await session.write('PATCH', `/users/${someone.userId}`, { ...asAdmin(), body: { role: 'reader' } });
  [author, reader] = [ada, await people.signIn(someone, 'reader')];
  callers = {
    anonymous: undefined,
    reader: reader.token,
    'the author': author.token,
    'another author': otto.token,
    'an administrator': people.administrator.token,
    'the author by an application that only reads': await tokenAt('Feed', READING),
    'the author by an application that only publishes': await tokenAt('Clock', [
      ...READING,
      'publish:articles',
    ]),
  };
});
afterAll(() => installation?.[Symbol.asyncDispose]());

const READING = ['read:users', 'read:articles', 'read:comments', 'read:events'];
const redirectUri = 'https://app.example/callback';

const tokenAt = async (name: string, scopes: readonly string[]): Promise<string> => {
  const settings = {
    name,
    redirectUris: [redirectUri],
    grantTypes: ['authorization_code', 'refresh_token'],
    firstParty: true,
  };
  const { clientId } = await people.registerClient({ ...settings, scopes, defaultScopes: scopes });
  return (await people.signInAt({ clientId, redirectUri }, author)).token;
};

const asAdmin = () => ({ token: people.administrator.token });

/** The administrator makes everything, in the name of the given user; returns the path. */
const make = async (path: string, body: object, base = path): Promise<string> =>
  `${base}/${(await session.write('POST', path, { ...asAdmin(), body })).written.id}`;

const articleOf = (authorId: number, publish: boolean) =>
  make('/articles', { authorId, title: 'On engines', body: '', tags: [], publish });

const withCover = async (article: string): Promise<string> => {
  await session.write('PUT', `${article}/cover`, { ...asAdmin(), body: PIXEL, type: 'image/png' });
  return article;
};

const commentOf = (authorId: number, article: string) =>
  make(`${article}/comments`, { authorId, text: 'A comment.' }, '/comments');

/** To an address that nothing listens at, for events that do not happen here. */
const webhookOf = (ownerId: number, enabled = true) =>
  make('/webhooks', { ownerId, url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'], enabled });

/** The paths of an item of each kind in each state, and of each list. */
const makeAll = async (): Promise<Readonly<Record<string, string>>> => {
  const [draft, published] = [await articleOf(author.userId, false), await articleOf(author.userId, true)];
  const hidden = await articleOf(author.userId, true);
  const onHidden = await commentOf(reader.userId, hidden);
  await session.write('POST', `${hidden}/unpublish`, asAdmin());
  return {
    'article: a draft': draft,
    'article: a draft with a cover': await withCover(await articleOf(author.userId, false)),
    'article: published': published,
    'article: published with a cover': await withCover(await articleOf(author.userId, true)),
    'comment: of the reader': await commentOf(reader.userId, published),
    'comment: of the author': await commentOf(author.userId, published),
    'comment: of the reader, on a draft': onHidden,
    'user: the author': `/users/${author.userId}`,
    'user: the reader': `/users/${reader.userId}`,
    'webhook: of the author': await webhookOf(author.userId),
    'webhook: of the author, disabled': await webhookOf(author.userId, false),
    'webhook: of the reader': await webhookOf(reader.userId),
    'list: the root': '/',
    'list: articles': '/articles?limit=1',
    'list: articles of the author': `/users/${author.userId}/articles?limit=1`,
    'list: comments of a published article': `${published}/comments?limit=1`,
    'list: comments of a draft': `${draft}/comments?limit=1`,
    'list: users': '/users?limit=1',
    'list: webhooks': '/webhooks?limit=1',
  };
};

type Link = { readonly href: string; readonly method?: string };

/** Each link as its method and path, or the status of a refusal. Ignores where pages end. */
const linksFor = async (path: string, token: string | undefined): Promise<unknown> => {
  const accept = path === '/' || path.includes('?') ? 'application/hal+json' : 'application/json';
  const { status, body } = await session.read<{ readonly _links: Readonly<Record<string, Link>> }>(path, {
    token,
    headers: { accept },
  });
  if (status !== 200) return status;
  const links = Object.entries(body._links).filter(([name]) => name !== 'next');
  return Object.fromEntries(
    links.map(([name, { href, method = 'GET' }]) => [
      name,
      `${method} ${href.replaceAll(/\d{4,}/g, '{id}')}`,
    ]),
  );
};

test('each caller gets the recorded links, on each kind of item in each state', async () => {
  const shown: Record<string, Record<string, unknown>> = {};
  for (const [name, path] of Object.entries(await makeAll())) {
    shown[name] = {};
    for (const [caller, token] of Object.entries(callers)) shown[name][caller] = await linksFor(path, token);
  }
  expectRecorded('links.json', printedJson(shown));
});
