import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { PREVIOUS } from '#shared/database/read-model-schemas.ts';
import { catchUp, demandLive, type Work } from './catch-up.ts';
import { isOfThisRelease } from './definition.ts';
import { demandAsideGone, underWay } from './rebuild.ts';
import { swapIn } from './swap.ts';
import { lockVersions, takePrevious } from './versions.ts';

/**
 * Makes the previous version live again, brought up to date; the live one becomes the previous, so that a
 * rollback can be undone too.
 */
export const rollback = async (work: Work): Promise<Position> => {
  const { pool, eventLog, tables } = work;
  await using lock = await lockVersions(pool);
  if (!lock) throw underWay();
  await demandLive(work);
  const previous = await takePrevious(pool);
  if (!previous)
    throw new StartRefused('There is no previous version of the read model: a rebuild leaves one.');
  if (previous.log !== eventLog.identity)
    throw new StartRefused('The previous version of the read model followed another event log.');
  if (!(await isOfThisRelease(pool, tables, PREVIOUS.schema))) {
    throw new StartRefused(
      'The previous version of the read model has other tables than this release writes: rebuild instead.',
    );
  }
  await demandAsideGone(pool);
  await catchUp(work, previous, previous.position);
  return swapIn(work, previous, new Date(0));
};
