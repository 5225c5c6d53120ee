import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { createClient } from '../../client/client.ts';
import { callsOf } from '../../query/docs/calls/calls.ts';
import { describeRest } from '../../query/docs/rest/description.ts';
import { openPeople } from '../../testing/people.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import { picture } from '../engines/pictures.ts';

/** The examples of the reference of REST, with ids of things that there are, against an installation. */
const description = describeRest({
  domain: publishing,
  publicUrl: 'http://localhost',
  issuerUrl: 'http://localhost',
  requireIfMatch: false,
});
const described = { domain: publishing, description };

/** Reads come first and deletions last, and an article is unpublished before it is published again. */
const ORDER = ['get', 'post', 'patch', 'put', 'delete'];
const OPERATIONS = description.operations.toSorted(
  (one, other) =>
    ORDER.indexOf(one.method) - ORDER.indexOf(other.method) ||
    other.path.split('/').length - one.path.split('/').length ||
    other.operationId.localeCompare(one.operationId),
);
/** Of these, a new installation has none, and a user who is there was not erased. */
const ABSENT = /\{(?:orderId|stream|deliveryId|replayId)\}|\/erasure$/;

const PICTURE = picture('image/png');
const runFile = promisify(execFile);

let installation: Installation;
let token: string;
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
beforeAll(async () => {
  installation = await shareInstallation();
  token = (await openPeople(installation)).administrator.token;
  folder = await temporaryDataDir();
  await writeFile(join(folder.path, 'picture.png'), PICTURE);
});
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]();
  await installation?.[Symbol.asyncDispose]();
});

type Client = ReturnType<typeof createClient<typeof publishing>>;
const clientWith = (given: string): Client => createClient<typeof publishing>({ url: installation.origin, token: given });

/** A user with a published article that has a comment and a cover, a webhook, and a client of OAuth. */
const prepare = async (client: Client) => {
  const { id: userId } = await client.users.create({ name: 'Ada', role: 'author' });
  const { id: articleId } = await client.articles.create({ title: 'One', body: 'Two.', publish: true });
  const { id: commentId } = await client.articles.of(articleId).comments.create({ text: 'Three.' });
  await client.articles.putFile(articleId, 'cover', new Blob([new Uint8Array(PICTURE)], { type: 'image/png' }));
  const { cover } = await client.articles.get(articleId);
  const hook = { url: 'https://shop.example/hooks', eventTypes: ['user.*'], headers: { 'X-Team': 'shop' } };
  const webhook = (await (await client.request('POST', '/webhooks', hook)).json()) as { readonly id: number };
  const clientId = `importer-${randomUUID().slice(0, 8)}`;
  const service = { ...CLIENT, clientId };
  await client.request('POST', '/clients', service);
  return { userId, articleId, commentId, webhookId: webhook.id, clientId, name: String(cover).replace('/uploads/', '') };
};
const CLIENT = {
  name: 'Importer',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: ['read:users'],
  serviceAccountRole: 'author',
};

/** What nobody else may have: addresses and names. */
const bodiesFor = (cursor: string) => {
  const email = `${randomUUID()}@example.com`;
  const user = { name: 'Ada Lovelace', email, role: 'author' };
  return {
    NewUser: user,
    UserReplacement: user,
    UserPatch: { email },
    NewReplay: { from: cursor },
    NewClient: { ...CLIENT, clientId: `importer-${randomUUID().slice(0, 8)}` },
  };
};

describe('every example of the reference runs', () => {
  const run = async (language: 'curl' | 'client' | 'graphql', ask: (text: string, client: Client) => Promise<number>) => {
    const client = clientWith(token);
    const ids = await prepare(client);
    const unexpected: string[] = [];
    for (const operation of OPERATIONS) {
      const filling = { origin: installation.origin, ids, bodies: bodiesFor(client.written ?? '') };
      const text = callsOf(operation, described, filling)[language];
      if (text === undefined) continue;
      const status = await ask(text, client);
      const isExpected = ABSENT.test(operation.path) ? status === 404 : status >= 200 && status < 300;
      if (!isExpected) unexpected.push(`${operation.operationId}: ${status}\n${text}`);
    }
    expect(unexpected.join('\n')).toBe('');
  };

  test('by curl', () =>
    run('curl', async (text) => {
      const shell = `curl() { command curl -sS -o answer -w '%{http_code}' "$@"; }\n${text}`;
      const { stdout } = await runFile('bash', ['-c', shell], { cwd: folder.path, env: { ...process.env, TOKEN: token } });
      return Number(stdout);
    }));

  test('by the client', () =>
    run('client', async (text, client) => {
      const file = new Blob([new Uint8Array(PICTURE)], { type: 'image/png' });
      try {
        await new Function('client', 'file', `return (async () => { ${text} })();`)(client, file);
        return 200;
      } catch (error) {
        if (client.isProblem(error)) return error.status;
        throw error;
      }
    }));

  test('by GraphQL', () =>
    run('graphql', async (query) => {
      const response = await fetch(`${installation.origin}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ query }),
      });
      const { errors } = (await response.json()) as { readonly errors?: unknown };
      expect([query, errors]).toEqual([query, undefined]);
      return response.status;
    }));
});
