import { streamName } from '#shared/events/streams.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { createMomentFinder } from '../../as-of/moment.ts';
import type { PastOptions } from '../../as-of/options.ts';
import { createPastOpener } from '../../as-of/past.ts';
import type { Context } from './context.ts';
import { createPastLoaders } from './past-loaders.ts';
import { listingsOf } from './rows.ts';

type Moments = (context: Omit<Context, 'at' | 'past'>) => Context['at'];

/**
 * Makes contexts for points in time. Fields that name the same one share a context, and the data that it has
 * read.
 */
export const createMoments = (options: PastOptions): Moments => {
  const findMoment = createMomentFinder(options);
  const openPast = createPastOpener(options);
  return (context) => {
    const known = new Map<string, Promise<Context>>();
    const open: Context['at'] = async (moment, item) => {
      // An invalid id matches no aggregate, and has no versions.
      const id = item && (pathId(String(item.id)) ?? 0);
      const { charge } = context.facts;
      const position = await findMoment(
        moment,
        charge,
        item && streamName(listingsOf(context.domain).of(item.type).kind, id ?? 0),
      );
      const past = openPast(position, charge);
      const loaders = createPastLoaders({
        domain: context.domain,
        pool: context.pool,
        past,
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
