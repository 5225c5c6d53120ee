import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { runCommandLine } from '../../command-line/program.ts';
import { ALL_PARTS } from '../../parts.ts';
import { openPeople, type TokenHolder } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { type Cuttable, openCuttable } from './cuttable.ts';
import type { Installation } from './installation.ts';
import { openPublishing, type Publishing } from './publishing.ts';

/**
 * A network in front of an installation, which can be cut, and a subscriber to published articles, written
 * according to docs/changes.md.
 */
export type Following = AsyncDisposable & {
  readonly publishing: Publishing;
  readonly network: Cuttable;
  readonly environment: Readonly<Record<'ANNALS_URL' | 'CLIENT_ID' | 'CLIENT_SECRET', string>>;
  tokenOfFollower(): Promise<string>;
  /** Revokes all tokens of the subscriber. */
  endTokens(): Promise<void>;
  /** The cursors of published articles after one, from the pages of `/events`. */
  publishedAfter(cursor: string): Promise<readonly string[]>;
};

const CHANGES_PAGE = readFileSync(fileURLToPath(new URL('../../docs/changes.md', import.meta.url)), 'utf8');

/** The one line of the page that begins so. */
export const commandOf = (beginning: string): string => {
  const found = CHANGES_PAGE.split('\n').filter((line) => line.startsWith(beginning));
  expect(found, `the line of the page that begins with ${beginning}`).toHaveLength(1);
  return found[0] ?? '';
};

export const openFollowing = async (installation: Installation): Promise<Following> => {
  await using opening = new AsyncDisposableStack();
  const network = opening.use(await openCuttable(installation.origin));
  const people = await openPeople(installation);
  const [author, client] = await Promise.all([people.signUp('Ada'), createClient(installation)]);
  const ask = restClientOf(installation);
  const tokenOfFollower = () => tokenOf(installation, client);
  const resources = opening.move();
  return {
    publishing: openPublishing(installation, author),
    network,
    environment: { ANNALS_URL: network.url, CLIENT_ID: client.clientId, CLIENT_SECRET: client.secret },
    tokenOfFollower,
    async endTokens() {
      const [administrator, follower] = await Promise.all([
        tokenOf(installation, installation.admin),
        tokenOfFollower(),
      ]);
      const path = `/users/${userOf(follower)}`;
      const { status } = await ask('PATCH', path, { token: administrator, body: { role: 'author' } });
      expect(status).toBe(200);
    },
    async publishedAfter(cursor) {
      const path = `/events?types=article.published&limit=100&after=${cursor}`;
      const { status, body } = await ask('GET', path, { token: author.token });
      expect(status).toBe(200);
      return (body as { cursor: string }[]).map((event) => event.cursor);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Client = Installation['admin'];

/** By the command of the page, but in this process. */
const createClient = async (installation: Installation): Promise<Client> => {
  const words = commandOf('npm run annals -- client create').match(/'[^']*'|\S+/g) ?? [];
  const printed: string[] = [];
  const exit = await runCommandLine(
    words.slice('npm run annals --'.split(' ').length).map((word) => word.replaceAll("'", '')),
    {
      domain: publishing,
      parts: ALL_PARTS,
      environment: { NODE_ENV: 'test', ...installation.settings },
      clock: REAL_TIME,
      signal: new AbortController().signal,
      write: async (line) => void printed.push(line),
      complain: (line) => void printed.push(line),
    },
  );
  const output = printed.join('\n');
  const secret = /"secret": "([^"]+)"/.exec(output)?.[1];
  if (exit !== 0 || secret === undefined) throw new Error(`there is no client:\n${output}`);
  return { clientId: 'follower', secret };
};

const tokenOf = async (
  installation: Installation,
  { clientId, secret }: Client,
): Promise<TokenHolder['token']> => {
  const options = {
    body: 'grant_type=client_credentials',
    type: 'application/x-www-form-urlencoded',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`,
    },
  };
  // The authorization server follows the log, and may not know the client yet.
  const { body } = await until(
    () => restClientOf(installation)('POST', '/token', options),
    ({ status }) => status === 200,
  );
  return (body as { access_token: string }).access_token;
};

const userOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;
