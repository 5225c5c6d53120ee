import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase, type TestDatabase } from '../engines/database.ts';
import type { Installation } from '../engines/installation.ts';

/**
 * The environment of an operator: the settings of an installation, and the folder of backups, named as in
 * `docs/backup.md`.
 */
export type Operated = AsyncDisposable & {
  readonly settings: Readonly<Record<string, string>>;
  readonly environment: Environment;
};

type Environment = Readonly<
  Record<'DATABASE_URL' | 'AUDIT_DIR' | 'MASTER_KEY' | 'BLOB_URL' | 'UPLOADS' | 'BACKUP' | 'DATA_DIR', string>
>;

export const operate = async (databaseUrl: string): Promise<Operated> => {
  const folder = await temporaryDataDir();
  const at = (name: string) => join(folder.path, name);
  for (const name of ['backup', 'uploads']) await mkdir(at(name));
  const settings = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: at('data'),
    AUDIT_DIR: at('audit'),
    BLOB_URL: `file://${at('uploads')}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    AUDIT_HEAD_EVERY_MS: '500',
  };
  const environment = { ...settings, UPLOADS: at('uploads'), BACKUP: at('backup') };
  return { settings, environment, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
};

/** Sends requests as the administrator. */
export type Asking = { readonly ask: RestClient; readonly token: string };

export const askAs = async (installation: Installation): Promise<Asking> => {
  const ask = restClientOf(installation);
  const { clientId, secret } = installation.admin;
  const authorization = `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`;
  const asked = {
    body: 'grant_type=client_credentials',
    type: 'application/x-www-form-urlencoded',
    headers: { authorization },
  };
  // The authorization server may not know the service's user yet.
  const { body } = await until(
    () => ask('POST', '/token', asked),
    ({ status }) => status === 200,
    30_000,
  );
  return { ask, token: (body as { access_token: string }).access_token };
};

/** From the acknowledgement. */
export type Written = { readonly id: number; readonly title: string; readonly cursor: string };

type Writer = {
  readonly acknowledged: readonly Written[];
  /** Waits for this number of further articles. */
  more(count: number): Promise<void>;
  /** Resolves once no request is in flight. */
  end(): Promise<void>;
};

/** Publishes one article after the other, and records the acknowledged ones; failed ones were not. */
export const startWriter = ({ ask, token }: Asking): Writer => {
  const acknowledged: Written[] = [];
  const ending = new AbortController();
  const write = async (): Promise<void> => {
    const title = randomUUID();
    const reply = await ask('POST', '/articles', {
      token,
      body: { title, body: '', tags: [], publish: true },
    });
    if (reply.status !== 201) return;
    acknowledged.push({
      id: (reply.body as { id: number }).id,
      title,
      cursor: reply.headers.get('consistency-token') ?? '',
    });
  };
  const writing = (async () => {
    while (!ending.signal.aborted) await write().catch(() => ending.abort());
  })();
  return {
    acknowledged,
    more: async (count) => {
      const enough = acknowledged.length + count;
      await until(
        () => acknowledged.length,
        (length) => length >= enough,
        60_000,
      );
    },
    end: async () => {
      ending.abort();
      await writing;
    },
  };
};

/** Deletes a user, and waits until the list outside the database has them. */
export const erase = async (
  { ask, token }: Asking,
  userId: number,
  { AUDIT_DIR }: Environment,
): Promise<void> => {
  const { status } = await ask('DELETE', `/users/${userId}`, { token });
  if (status !== 204) throw new Error(`the user was not deleted: ${status}`);
  await until(
    () => readFile(join(AUDIT_DIR, 'erasures.jsonl'), 'utf8').catch(() => ''),
    (list) => list.includes(`"userId":${userId}`),
    60_000,
  );
};

const OTHERS = 'select from pg_stat_activity where datname = $1';

/** Copies a database, once nobody is connected to it. */
export const backUp = async ({ name, url }: TestDatabase): Promise<TestDatabase> => {
  await until(
    () => inDatabase(url.replace(name, 'postgres'), (client) => client.query(OTHERS, [name])),
    ({ rows }) => rows.length === 0,
  );
  return createDatabase({ template: name });
};

/** The titles of the existing articles among these. */
export const titlesOf = async (
  { ask, token }: Asking,
  written: readonly Written[],
  cursor?: string,
): Promise<readonly string[]> => {
  const titles: string[] = [];
  for (const { id } of written) {
    const headers = cursor === undefined ? {} : { 'consistency-token': cursor };
    const { status, body } = await ask('GET', `/articles/${id}`, { token, headers });
    if (status !== 200 && status !== 404)
      throw new Error(`an article was answered with ${status}: ${JSON.stringify(body)}`);
    if (status === 200) titles.push((body as { title: string }).title);
  }
  return titles;
};
