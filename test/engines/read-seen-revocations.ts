import { migrateAccounts } from '../../auth/persons/person-table.ts';
import { createReadSubject } from '../../auth/provider/read-subject.ts';
import type { Revocable, SeenRevocations } from '../../edge/authenticate/revocations.ts';
import type { Pool } from '../../shared/database/pool.ts';

/** The revocations that the authorization server would write into a token now. */
export const readSeenRevocations = async (
  pool: Pool,
  { userId, clientId }: Pick<Revocable, 'userId' | 'clientId'>,
): Promise<SeenRevocations> => {
  await migrateAccounts(pool);
  return (await createReadSubject(pool, async () => undefined)({ userId, clientId })).seen;
};
