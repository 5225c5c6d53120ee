import { printedJson } from '../../command-line/domain/contract/printed-json.ts';
import type { Ask } from '../../testing/http/rest-client.ts';
import { PIXEL } from '../../testing/sample-file.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { expectRecorded } from './expect-recorded.ts';

const READING = ['read:users', 'read:articles', 'read:comments', 'read:events'];
const redirectUri = 'https://app.example/callback';

type Link = { readonly href: string; readonly method?: string };

const test = sharedTest
  .extend('reader', { scope: 'file' }, async ({ people, session }) => {
    const rita = await people.signUp('Rita');
    const { token } = people.administrator;
    await session.write('PATCH', `/users/${rita.userId}`, { token, body: { role: 'reader' } });
    return people.signIn(rita, 'reader');
  })
  .extend(
    'tokenAt',
    { scope: 'file' },
    ({ ada, people }) =>
      async (name: string, scopes: readonly string[]) => {
        const settings = {
          name,
          redirectUris: [redirectUri],
          grantTypes: ['authorization_code', 'refresh_token'],
          firstParty: true,
        };
        const { clientId } = await people.registerClient({ ...settings, scopes, defaultScopes: scopes });
        return (await people.signInAt({ clientId, redirectUri }, ada)).token;
      },
  )
  .extend('callers', { scope: 'file' }, async ({ ada, people, reader, tokenAt }) => ({
    anonymous: undefined,
    reader: reader.token,
    'the author': ada.token,
    'another author': (await people.signUp('Otto')).token,
    'an administrator': people.administrator.token,
    'the author by an application that only reads': await tokenAt('Feed', READING),
    'the author by an application that only publishes': await tokenAt('Clock', [
      ...READING,
      'publish:articles',
    ]),
  }))
  /** The administrator writes everything, in the name of the given user. */
  .extend(
    'write',
    { scope: 'file' },
    ({ people, session }) =>
      (method: string, path: string, asked: Omit<Ask, 'token'> = {}) =>
        session.write(method, path, { ...asked, token: people.administrator.token }),
  )
  .extend('makers', { scope: 'file' }, ({ write }) => {
    /** Returns the path. */
    const make = async (path: string, body: object, base = path): Promise<string> =>
      `${base}/${(await write('POST', path, { body })).written.id}`;
    return {
      articleOf: (authorId: number, publish: boolean) =>
        make('/articles', { authorId, title: 'On engines', body: '', tags: [], publish }),
      async withCover(article: string): Promise<string> {
        await write('PUT', `${article}/cover`, { body: PIXEL, type: 'image/png' });
        return article;
      },
      commentOf: (authorId: number, article: string) =>
        make(`${article}/comments`, { authorId, text: 'A comment.' }, '/comments'),
      /** To an address that nothing listens at, for events that do not happen here. */
      webhookOf: (ownerId: number, enabled = true) =>
        make('/webhooks', { ownerId, url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'], enabled }),
    };
  })
  /** The paths of an item of each kind in each state, and of each list. */
  .extend('paths', { scope: 'file' }, async ({ ada: { userId: author }, makers, reader, write }) => {
    const { articleOf, withCover, commentOf, webhookOf } = makers;
    const [draft, published] = [await articleOf(author, false), await articleOf(author, true)];
    const hidden = await articleOf(author, true);
    const onHidden = await commentOf(reader.userId, hidden);
    await write('POST', `${hidden}/unpublish`);
    return {
      'article: a draft': draft,
      'article: a draft with a cover': await withCover(await articleOf(author, false)),
      'article: published': published,
      'article: published with a cover': await withCover(await articleOf(author, true)),
      'comment: of the reader': await commentOf(reader.userId, published),
      'comment: of the author': await commentOf(author, published),
      'comment: of the reader, on a draft': onHidden,
      'user: the author': `/users/${author}`,
      'user: the reader': `/users/${reader.userId}`,
      'webhook: of the author': await webhookOf(author),
      'webhook: of the author, disabled': await webhookOf(author, false),
      'webhook: of the reader': await webhookOf(reader.userId),
      'list: the root': '/',
      'list: articles': '/articles?limit=1',
      'list: articles of the author': `/users/${author}/articles?limit=1`,
      'list: comments of a published article': `${published}/comments?limit=1`,
      'list: comments of a draft': `${draft}/comments?limit=1`,
      'list: users': '/users?limit=1',
      'list: webhooks': '/webhooks?limit=1',
    };
  })
  /** Each link as its method and path, or the status of a refusal. Ignores where pages end. */
  .extend(
    'linksFor',
    { scope: 'file' },
    ({ session }) =>
      async (path: string, token: string | undefined): Promise<unknown> => {
        const accept = path === '/' || path.includes('?') ? 'application/hal+json' : 'application/json';
        const { status, body } = await session.read<{ readonly _links: Readonly<Record<string, Link>> }>(
          path,
          {
            token,
            headers: { accept },
          },
        );
        if (status !== 200) return status;
        const links = Object.entries(body._links).filter(([name]) => name !== 'next');
        return Object.fromEntries(
          links.map(([name, { href, method = 'GET' }]) => [
            name,
            `${method} ${href.replaceAll(/\d{4,}/g, '{id}')}`,
          ]),
        );
      },
  );

test('each caller gets the recorded links, on each kind of item in each state', async ({
  callers,
  linksFor,
  paths,
}) => {
  const shown: Record<string, Record<string, unknown>> = {};
  for (const [name, path] of Object.entries(paths)) {
    shown[name] = {};
    for (const [caller, token] of Object.entries(callers)) shown[name][caller] = await linksFor(path, token);
  }
  expectRecorded('links.json', printedJson(shown));
});
