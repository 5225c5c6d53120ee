import type { UserId } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { createKeyWrap } from '#shared/keys/postgres/key-wrap.ts';
import { selectKeys } from '#shared/keys/postgres/statements.ts';
import { type Person, storePersons } from '../export/persons.ts';

/** Gives another database the keys of persons, before it gets what is sealed with them. */
export type CopyKeys = (subjects: Iterable<UserId>) => Promise<void>;

type Databases = { readonly from: Pool; readonly to: Pool; readonly masterKey: MasterKey };

/** Both databases must use this master key. A key that was destroyed in either stays destroyed there. */
export const createKeyCopy = ({ from, to, masterKey }: Databases): CopyKeys => {
  const wrap = createKeyWrap(masterKey);
  const copied = new Set<UserId>();
  return async (subjects) => {
    const missing = [...new Set(subjects)].filter((subject) => !copied.has(subject));
    if (missing.length === 0) return;
    const persons = await personsIn(from, missing);
    const there = new Map((await selectKeys(to, missing)).map(({ subject, wrapped }) => [subject, wrapped]));
    for (const subject of missing) {
      const wrapped = persons.get(subject)?.wrapped;
      const present = there.get(subject);
      if (wrapped === undefined && present === undefined)
        throw new StartRefused(
          `The key of person ${subject} is not in this database, so their personal data cannot be copied.`,
        );
      const isSame = (one: Buffer, other: Buffer): boolean =>
        one.equals(other) || wrap.unwrap(subject, one).equals(wrap.unwrap(subject, other));
      if (wrapped && present && !isSame(Buffer.from(wrapped, 'base64'), present))
        throw new StartRefused(
          `Person ${subject} has another key in the other database: personal data of this person was recorded there before the copy, and that key cannot decrypt the copied events.`,
        );
    }
    await storePersons(to, [...persons.values()]);
    for (const subject of missing) copied.add(subject);
  };
};

const personsIn = async (pool: Pool, subjects: readonly UserId[]): Promise<ReadonlyMap<UserId, Person>> => {
  const { rows } = await pool.query<{ subject: UserId; wrapped: Buffer | null; destroyedAt: Date | null }>(
    'select subject, wrapped, destroyed_at as "destroyedAt" from public.person_key where subject = any($1::bigint[])',
    [subjects],
  );
  return new Map(
    rows.map(({ subject, wrapped, destroyedAt }) => [
      subject,
      {
        subject,
        wrapped: wrapped?.toString('base64') ?? null,
        destroyedAt: destroyedAt?.toISOString() ?? null,
      },
    ]),
  );
};
