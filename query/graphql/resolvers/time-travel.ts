import { GraphQLError } from 'graphql';
import { streamName } from '#kernel/base/events/streams.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may, mayAlways } from '#shared/policy.ts';
import { filtersIn } from '../../kinds/list-rows.ts';
import { isAuditor } from '../../time-travel/auditor.ts';
import { findPast } from '../../time-travel/candidates.ts';
import { createPositionFinder } from '../../time-travel/find-position.ts';
import { pastListing } from '../../time-travel/listed.ts';
import { allPastItems, pastItems } from '../../time-travel/lists-of-items.ts';
import type { PastOptions } from '../../time-travel/options.ts';
import { createPastOpener, type Past } from '../../time-travel/past.ts';
import { ANSWER_BYTES_MAX, beyondLimit } from '../documents/limits.ts';
import type { Context, PastRow } from './context.ts';
import { type Loaders, resourceOfRow } from './loaders.ts';
import { type ListOf, type Row, sourceOfType } from './rows.ts';

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
        item && streamName(sourceOfType(context.domain, item.type).kind.name, id ?? 0),
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

type Options = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly past: Past;
  /** The same again for counting, so that it does not use up the reads of pages. */
  openCounted(): Promise<Past>;
  readonly caller: Caller;
  /** Reads current rows, because nobody but auditors sees what they can no longer read. */
  readonly now: Loaders;
  /** The context in which references of the rows are read. */
  asOf(): Context;
};

/** Reads former states for one request: each item from its own stream. */
const createPastLoaders = ({ domain, pool, past, openCounted, caller, now, asOf }: Options): Loaders => {
  let bytesLeft = ANSWER_BYTES_MAX;
  const rowOf = (type: string, row: object): PastRow =>
    ({ ...row, __typename: type, asOf: asOf() }) as unknown as PastRow;
  const find: Loaders['find'] = async (type, id) => {
    const row = await past.row<object>(sourceOfType(domain, type).kind.name, id);
    return row && rowOf(type, row);
  };
  const readResource: Loaders['resourceOf'] = (row) => resourceOfRow(domain, row, find);
  const isReadableNow = async ({ __typename, id }: Row): Promise<boolean> => {
    const row = await now.find(__typename, id);
    return row !== undefined && now.isReadable(row);
  };
  const listed = async (then: Past, { type, parent, asked }: ListOf, parentId: number) => {
    const source = sourceOfType(domain, type);
    if (source.sorts[0]?.name !== asked.sort.name) throw refused('With `at`, a list is ordered by creation.');
    if (filtersIn(source, asked.filter).some(({ by }) => by === 'words'))
      throw refused('With `at`, a list cannot be searched.');
    const under = parent === undefined ? undefined : { column: parent, id: parentId };
    return pastListing(then, caller, { source, under, filter: asked.filter });
  };
  return {
    find,
    async text(row, column) {
      const text = (row[column] ?? null) as string | null;
      bytesLeft -= text?.length ?? 0;
      if (bytesLeft < 0) throw beyondLimit('answer_too_large', { max: ANSWER_BYTES_MAX });
      return text;
    },
    async list(of, parentId) {
      const { asked, type } = of;
      const { found, stoppedAt } = await findPast<object>({
        pool,
        past,
        ...(await listed(past, of, parentId)),
        stretch: asked.stretch,
        rowsMax: asked.rowsMax,
      });
      if (stoppedAt) throw tooMany();
      return found.map((row) => rowOf(type, row));
    },
    async count(of, parentId) {
      const counted = await openCounted();
      const { found, stoppedAt } = await findPast({
        pool,
        past: counted,
        ...(await listed(counted, of, parentId)),
        stretch: { isDownward: true, beyond: undefined },
        rowsMax: Infinity,
      });
      return stoppedAt ? null : found.length;
    },
    items: async (source, of, asked) =>
      (await pastItems(past, source, { of, asked })).map((row) => ({ ...row, asOf: asOf() })),
    countItems: async (source, of, asked) => (await allPastItems(past, source, { of, ...asked })).length,
    together: () => Promise.reject(refused('Deliveries are not available with `at`.')),
    resourceOf: readResource,
    async mayRead(row, rights) {
      const resource = await readResource(row);
      if (resource === undefined || !rights.every((right) => may(caller, right, resource))) return false;
      if (rights.every((right) => mayAlways(caller, right))) return true;
      const present = await now.find(row.__typename, row.id);
      return present !== undefined && now.mayRead(present, rights);
    },
    async isReadable(row) {
      const { right } = sourceOfType(domain, row.__typename);
      const resource = await readResource(row);
      if (resource === undefined) return false;
      return isAuditor(caller, right) || (may(caller, right, resource) && (await isReadableNow(row)));
    },
  };
};

const refused = (detail: string): HttpProblem => new HttpProblem('invalid_parameter', { detail });

/** Over REST, a page may be short though others follow; a connection cannot express that. */
const tooMany = (): GraphQLError =>
  new GraphQLError('Time travel of this list needs too many reads: request fewer items, or use REST.', {
    extensions: { code: 'too_much_to_look_at' },
  });
