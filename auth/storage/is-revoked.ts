import { REVOKED_AT, type Revocable } from '#edge/authenticate/revocations.ts';
import type { Queryable } from './statements.ts';

/** Returns whether a token is revoked right now: introspection must not use a cache that is a second old. */
export const isRevokedNow = async (
  database: Queryable,
  { jti, grantId, clientId, application, userId, issuedAtS, seen }: Omit<Revocable, 'userVersion'>,
): Promise<boolean> => {
  const { rows } = await database.query<{ revoked: boolean }>({
    name: 'auth-is-revoked',
    text: `select exists (
             select from auth.revoked
             where kind = 'jti' and value = $1
                or kind = 'grant' and value = $2
                or kind = 'client' and value = $3 and coalesce(${REVOKED_AT} > $6, revoked_at >= to_timestamp($5 - 1))
                or kind = 'client' and value = $8 and coalesce(${REVOKED_AT} > $9, revoked_at >= to_timestamp($5 - 1))
                or kind = 'user' and value = $4 and coalesce(${REVOKED_AT} > $7, revoked_at >= to_timestamp($5 - 1))
           ) as revoked`,
    values: [
      jti,
      grantId ?? null,
      clientId,
      String(userId),
      issuedAtS,
      seen?.client ?? null,
      seen?.user ?? null,
      application ?? null,
      seen?.application ?? null,
    ],
  });
  return rows[0]?.revoked ?? true;
};
