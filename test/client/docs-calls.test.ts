import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { createClient } from '../../client/client.ts';
import { callsOf } from '../../site/calls/calls.ts';
import { describeRest } from '../../site/calls/description.ts';
import { shownGraphql } from '../../site/graphql/shown.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { sharedTest as base } from '../engines/installation-fixture.ts';
import { picture } from '../engines/pictures.ts';

/** Runs the examples of the REST reference, with existing ids, against an installation. */
const description = describeRest({
  domain: publishing,
  publicUrl: 'http://localhost',
  issuerUrl: 'http://localhost',
  requireIfMatch: false,
});
const described = { domain: publishing, description, graphql: shownGraphql };

/** Reads come first and deletions last, and an article is unpublished before it is published again. */
const ORDER = ['get', 'post', 'patch', 'put', 'delete'];
const OPERATIONS = description.operations.toSorted(
  (one, other) =>
    ORDER.indexOf(one.method) - ORDER.indexOf(other.method) ||
    other.path.split('/').length - one.path.split('/').length ||
    other.operationId.localeCompare(one.operationId),
);
/** A new installation has none of these, and an existing user was not erased. */
const ABSENT = /\{(?:orderId|stream|deliveryId|replayId|eventId)\}|\/erasure$/;
/** Only for people who have just signed in: the administrator of these tests is a program. */
const OF_PEOPLE = /^\/account\/(?:tokens|export|people)/;
/** Lists and deletions may also be answered. */
const REFUSED: ReadonlySet<number> = new Set([200, 204, 401, 403, 404]);

const PICTURE = picture('image/png');
const runFile = promisify(execFile);

/** A user with a published article that has a comment and a cover, a webhook, and a client of OAuth. */
const prepare = async (client: ReturnType<typeof createClient<typeof publishing>>) => {
  const { id: userId } = await client.users.create({ name: 'Ada', role: 'author' });
  const { id: articleId } = await client.articles.create({ title: 'One', body: 'Two.', publish: true });
  const { id: commentId } = await client.articles.of(articleId).comments.create({ text: 'Three.' });
  await client.articles.putFile(
    articleId,
    'cover',
    new Blob([new Uint8Array(PICTURE)], { type: 'image/png' }),
  );
  const { cover } = await client.articles.get(articleId);
  const hook = { url: 'https://shop.example/hooks', eventTypes: ['user.*'], headers: { 'X-Team': 'shop' } };
  const webhook = (await (await client.request('POST', '/webhooks', hook)).json()) as { readonly id: number };
  const clientId = `importer-${randomUUID().slice(0, 8)}`;
  const service = { ...CLIENT, clientId };
  await client.request('POST', '/clients', service);
  return {
    userId,
    articleId,
    commentId,
    webhookId: webhook.id,
    clientId,
    name: String(cover).replace('/uploads/', ''),
  };
};
const CLIENT = {
  name: 'Importer',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: ['read:users'],
  serviceAccountRole: 'author',
};

const DAY_MS = 86_400_000;
/** Unique values: addresses and names. */
const bodiesFor = (cursor: string) => {
  const email = `${randomUUID()}@example.com`;
  const user = { name: 'Ada Lovelace', email, role: 'author' };
  return {
    NewUser: user,
    UserReplacement: user,
    UserPatch: { email },
    NewReplay: { from: cursor },
    NewPersonalToken: {
      name: 'Import',
      scopes: ['read:users'],
      expiresAt: new Date(Date.now() + DAY_MS).toISOString(),
    },
    NewOAuthClient: { ...CLIENT, clientId: `importer-${randomUUID().slice(0, 8)}` },
  };
};

const LANGUAGES = ['curl', 'client', 'graphql'] as const;

const test = base
  .extend('token', { scope: 'file' }, ({ people }) => people.administrator.token)
  .extend('client', ({ installation, token }) =>
    createClient<typeof publishing>({ url: installation.origin, token }),
  )
  .extend('folder', { scope: 'file' }, async ({ installation: _used }, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    await writeFile(join(folder.path, 'picture.png'), PICTURE);
    return folder.path;
  })
  /** Each runs an example, and returns the status. */
  .extend('run', ({ client, folder, installation, token }) => ({
    async curl(text: string) {
      const shell = `curl() { command curl -sS -o answer -w '%{http_code}' "$@"; }\n${text}`;
      const { stdout } = await runFile('bash', ['-c', shell], {
        cwd: folder,
        env: { ...process.env, TOKEN: token },
      });
      return Number(stdout);
    },
    async client(text: string) {
      const file = new Blob([new Uint8Array(PICTURE)], { type: 'image/png' });
      try {
        await new Function('client', 'file', `return (async () => { ${text} })();`)(client, file);
        return 200;
      } catch (error) {
        if (client.isProblem(error)) return error.status;
        throw error;
      }
    },
    async graphql(query: string) {
      const response = await fetch(`${installation.origin}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ query }),
      });
      const { errors } = (await response.json()) as { readonly errors?: unknown };
      expect([query, errors]).toEqual([query, undefined]);
      return response.status;
    },
  }));

test.for(LANGUAGES)(
  'every example of the reference runs: %s',
  async (language, { client, installation, run }) => {
    const ids = await prepare(client);
    const unexpected: string[] = [];
    for (const operation of OPERATIONS) {
      const filling = { origin: installation.origin, ids, bodies: bodiesFor(client.written ?? '') };
      const text = callsOf(operation, described, filling)[language];
      if (text === undefined) continue;
      const status = await run[language](text);
      const isExpected = OF_PEOPLE.test(operation.path)
        ? REFUSED.has(status)
        : ABSENT.test(operation.path)
          ? status === 404
          : status >= 200 && status < 300;
      if (!isExpected) unexpected.push(`${operation.operationId}: ${status}\n${text}`);
    }
    expect(unexpected.join('\n')).toBe('');
  },
);

/** Blocks of guides that are shown as tabs. */
const GUIDE = readFileSync(new URL('../../docs/rest.md', import.meta.url), 'utf8');

test.for(LANGUAGES)(
  'every example of REST on one page runs: %s',
  async (language, { client, installation, run }) => {
    const { id } = await client.articles.create({ title: 'One', body: 'Two.' });
    await client.articles.get(id);
    const texts = [...GUIDE.matchAll(/^```\w+ (curl|client|graphql)\n(.*?)^```$/gms)].flatMap(
      ([, name, text = '']) => (name === language ? [text] : []),
    );
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) {
      const here = text
        .replaceAll('http://localhost:4000', installation.origin)
        .replaceAll('8001', String(id));
      expect([here, await run[language](here)]).toEqual([here, 200]);
    }
  },
);
