import type { Queryable } from './statements.ts';

/** The tokens that are no JWT, and so are looked up here each time they are used. */
export const deleteAccessTokensOfClient = async (database: Queryable, clientId: string): Promise<void> => {
  await database.query(`delete from auth.record where kind = 'AccessToken' and client_id = $1`, [clientId]);
};
