import type { RequestHandler } from 'express';
import type { Foundation } from '#process/foundation.ts';
import type { Log } from '#shared/log.ts';

/** Records what auditors see of clients and accounts, which are no aggregates; nothing of others. */
export const recordingOfAuditors = async (
  foundation: Pick<Foundation, 'domain' | 'pool' | 'clock' | 'metrics'> & { readonly log: Log },
  opening: AsyncDisposableStack,
): Promise<readonly RequestHandler[]> => {
  if (foundation.domain.auditors !== true) return [];
  const [{ openReadLog }, { recordReads }] = await Promise.all([
    import('#shared/read-log/read-log.ts'),
    import('#edge/read-log/record-reads.ts'),
  ]);
  return [recordReads(opening.use(await openReadLog(foundation)))];
};
