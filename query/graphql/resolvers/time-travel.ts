import { streamName } from '#kernel/base/events/streams.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { createPositionFinder } from '../../time-travel/find-position.ts';
import type { PastOptions } from '../../time-travel/options.ts';
import { createPastOpener } from '../../time-travel/past.ts';
import type { Context } from './context.ts';
import { createPastLoaders } from './past-loaders.ts';
import { listingsOf } from './rows.ts';

type TimeTravel = (context: Omit<Context, 'at' | 'past'>) => Context['at'];

/**
 * Makes contexts for points in time. Fields that name the same one share a context, and the data that it has
 * read.
 */
export const createTimeTravel = (options: PastOptions): TimeTravel => {
  const findPosition = createPositionFinder(options);
  const openPast = createPastOpener(options);
  return (context) => {
    const known = new Map<string, Promise<Context>>();
    const open: Context['at'] = async (moment, item) => {
      // An invalid id matches no aggregate, and has no versions.
      const id = item && (pathId(String(item.id)) ?? 0);
      const { charge } = context.facts;
      const position = await findPosition(
        moment,
        charge,
        item && streamName(listingsOf(context.domain).of(item.type).kind, id ?? 0),
      );
      const past = await openPast(position, charge);
      const loaders = createPastLoaders({
        domain: context.domain,
        pool: context.pool,
        past,
        openCounted: () => openPast(position, charge),
        caller: context.caller,
        now: context.loaders,
        asOf: () => asOf,
      });
      const asOf: Context = { ...context, at, past, loaders };
      return asOf;
    };
    const at: Context['at'] = (moment, item) => {
      const key = moment.startsWith('v') ? `${moment} ${item?.type} ${item?.id}` : moment;
      const found = known.get(key) ?? open(moment, item);
      known.set(key, found);
      return found;
    };
    return at;
  };
};
