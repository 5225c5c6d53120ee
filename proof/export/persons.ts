import * as z from 'zod';
import type { UserId } from '#kernel/base/brands.ts';
import { userId } from '#kernel/base/events/fields.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { LinesFile } from './folder.ts';
import type { Manifest } from './manifest.ts';

/** The keys that seal persons’ data, as in the database: wrapped under the master key. */
const PERSONS = 'persons.jsonl';

const PAGE = 10_000;

const Person = z.strictObject({
  subject: userId,
  /** In base64; null if the key was destroyed. */
  wrapped: z.base64().nullable(),
  destroyedAt: z.iso.datetime().nullable(),
});
export type Person = z.output<typeof Person>;

export const personFrom = (line: string): Person => Person.parse(JSON.parse(line));

/**
 * The keys of all persons, without those that are destroyed meanwhile: an erasure looks for keys in finished
 * files.
 */
export const exportPersons = async (
  pool: Pick<Pool, 'query'>,
  folder: string,
): Promise<Manifest['persons']> => {
  let destroyed = await countDestroyed(pool);
  for (let times = 0; times < TIMES_MAX; times += 1) {
    const persons = await writePersons(pool, folder);
    const before = destroyed;
    destroyed = await countDestroyed(pool);
    if (destroyed === before) return persons;
  }
  throw new StartRefused('People are being erased without a pause: export again later.');
};

const TIMES_MAX = 20;

const countDestroyed = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*) from public.person_key where destroyed_at is not null',
  );
  return rows[0]?.count ?? 0;
};

const writePersons = async (
  pool: Pick<Pool, 'query'>,
  folder: string,
): Promise<NonNullable<Manifest['persons']>> => {
  await using file = await LinesFile.create(folder, PERSONS);
  let keys = 0;
  for (let after = 0; ; ) {
    const { rows } = await pool.query<{ subject: UserId; wrapped: Buffer | null; destroyedAt: Date | null }>(
      `select subject, wrapped, destroyed_at as "destroyedAt" from public.person_key where subject > $1 order by subject limit ${PAGE}`,
      [after],
    );
    const persons = rows.map(
      ({ subject, wrapped, destroyedAt }): Person => ({
        subject,
        wrapped: wrapped?.toString('base64') ?? null,
        destroyedAt: destroyedAt?.toISOString() ?? null,
      }),
    );
    await file.write(persons.map((person) => `${JSON.stringify(person)}\n`).join(''));
    keys += rows.length;
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.subject ?? after;
  }
  return { name: PERSONS, ...(await file.finish()), keys };
};

/** A key that was destroyed, here or there, stays destroyed. */
export const storePersons = (pool: Pool, persons: readonly Person[]): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query(
      `insert into public.person_key as present (subject, wrapped, destroyed_at)
       select subject, decode(wrapped, 'base64'), destroyed_at from unnest($1::bigint[], $2::text[], $3::timestamptz[]) given (subject, wrapped, destroyed_at)
       on conflict (subject) do update set wrapped = null, destroyed_at = excluded.destroyed_at
         where present.destroyed_at is null and excluded.destroyed_at is not null`,
      [
        persons.map(({ subject }) => subject),
        persons.map(({ wrapped }) => wrapped),
        persons.map(({ destroyedAt }) => destroyedAt),
      ],
    );
  });
