import type { StreamCut } from '#shared/event-log/errors.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import { exceptionsAmong, park } from './parked.ts';
import { cutAt } from './refused.ts';
import { type Mending, whileProjectorStands } from './retry.ts';

/**
 * Parks the aggregates of streams that an operator has cut: the read model shows their last states, but
 * nobody can prove them any more. Returns those that were not parked yet.
 */
export const parkCut = (mending: Mending, cuts: readonly StreamCut[]): Promise<readonly Parked[]> =>
  whileProjectorStands(mending, async (connection, position) => {
    const { parked } = await exceptionsAmong(connection, new Set(cuts.map(({ stream }) => stream)));
    const found = cuts.flatMap((cut) => (parked.has(cut.stream) ? [] : [cutAt(cut, position)]));
    await park(connection, mending.tables, found);
    return found;
  });
