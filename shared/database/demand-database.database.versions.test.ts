import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { type PoolMode, pgBouncerMissing, startPgBouncer } from '../../test/engines/pgbouncer.ts';
import { demandDatabase } from './demand-database.ts';

if (pgBouncerMissing) console.warn(`Poolers are left out: ${pgBouncerMissing}.`);

const server = inject('postgresUrl');
const at = (url: string, path: string): string => Object.assign(new URL(url), { pathname: path }).href;

describe.skipIf(pgBouncerMissing)('the addresses of the database', () => {
  const resources = new AsyncDisposableStack();
  const through: Partial<Record<PoolMode, string>> = {};
  let database: TestDatabase;
  let direct: string;

  beforeAll(async () => {
    database = resources.use(await createDatabase());
    direct = at(server, `/${database.name}`);
    for (const mode of ['session', 'transaction', 'statement'] as const)
      through[mode] = resources.use(await startPgBouncer(server, mode)).through(direct);
  });

  afterAll(() => resources.disposeAsync());

  const refusalOf = async (databaseUrl: string | undefined, directUrl?: string): Promise<string> => {
    const error: unknown = await demandDatabase({ databaseUrl: databaseUrl ?? '', directUrl }).catch(
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(StartRefused);
    return (error as StartRefused).message;
  };

  test('say whether notifications are received', async () => {
    expect(await demandDatabase({ databaseUrl: direct })).toBe('notifications');
    for (const databaseUrl of [through.session ?? '', through.transaction ?? '']) {
      expect(await demandDatabase({ databaseUrl })).toBe('polling');
      expect(await demandDatabase({ databaseUrl, directUrl: direct })).toBe('notifications');
      expect(await demandDatabase({ databaseUrl, directUrl: through.session })).toBe('notifications');
    }
  });

  test('are refused if the statements of a transaction do not stay together', async () => {
    expect(await refusalOf(through.statement)).toMatch(
      /^The pooler at 127\.0\.0\.1:\d+ is in statement mode, .+: set it to/,
    );
  });

  test('are refused if the direct one is a pooler as well', async () => {
    expect(await refusalOf(direct, through.transaction)).toMatch(
      /^DATABASE_DIRECT_URL leads through a pooler in transaction mode/,
    );
  });

  test('are refused if the direct one is another database, or none', async () => {
    expect(await refusalOf(through.transaction, at(server, '/postgres'))).toMatch(
      /^DATABASE_DIRECT_URL leads to another database/,
    );
    expect(await refusalOf(through.transaction, at(server, '/nowhere'))).toMatch(
      /^PostgreSQL at .+ says that the database "nowhere" does not/,
    );
  });
});
