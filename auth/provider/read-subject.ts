import { REVOKED_AT, type SeenRevocations } from '#edge/authenticate/revocations.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { CheckPerson } from '#shared/persons/check-person.ts';
import { checkedPerson, PERSON_STATUS, type Person } from '../persons/person-table.ts';
import { isUserId } from './account.ts';

/**
 * The subject of a token to be issued: the user, if there is one, and the latest revocations of the user and
 * the client.
 */
type TokenSubject = { readonly person: Person | undefined; readonly seen: SeenRevocations };

export type ReadSubject = (of: {
  readonly userId: number;
  readonly clientId: string;
}) => Promise<TokenSubject>;

/** Tokens issued at the same time share a statement. */
export const createReadSubject = (pool: Pick<Pool, 'query'>, checkPerson: CheckPerson): ReadSubject => {
  const subjectOf = coalesce<string, TokenSubject>((keys) => selectSubjects(pool, keys));
  return async ({ userId, clientId }) => {
    const subject = isUserId(userId) ? await subjectOf(`${userId} ${clientId}`) : undefined;
    if (subject === undefined) return { person: undefined, seen: { user: 0, client: 0 } };
    const { person, seen } = subject;
    if (person === undefined || person.status === 'deleted') return subject;
    return { person: checkedPerson(person, await checkPerson(person)), seen };
  };
};

type Row = Pick<Person, 'role' | 'version'> & {
  readonly key: string;
  readonly userId: UserId;
  readonly status: Person['status'] | null;
  readonly user: number | null;
  readonly client: number | null;
};

/**
 * One statement reads user and revocations from one snapshot. A role change revokes the user's tokens in the
 * same transaction, so either the token has the new role, or the revocation is newer than those that the
 * token has seen.
 */
const selectSubjects = async (
  pool: Pick<Pool, 'query'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, TokenSubject>> => {
  const { rows } = await pool.query<Row>({
    name: 'auth-token-subjects',
    text: `select key, user_id as "userId", role, ${PERSON_STATUS}, version,
             (select ${REVOKED_AT} from auth.revoked where kind = 'user' and value = user_id::text) as user,
             (select ${REVOKED_AT} from auth.revoked where kind = 'client' and value = substr(key, strpos(key, ' ') + 1)) as client
           from unnest($1::text[]) key
             cross join lateral (select split_part(key, ' ', 1)::bigint as user_id) asked
             left join auth.person using (user_id)`,
    values: [keys],
  });
  return new Map(
    rows.map(({ key, userId, role, status, version, user, client }) => [
      key,
      {
        person: status === null ? undefined : { userId, role, status, version },
        seen: { user: user ?? 0, client: client ?? 0 },
      },
    ]),
  );
};
