import { streamName } from '#kernel/base/events/streams.ts';
import { isoText } from '#kernel/base/instant.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { eventTypesOf } from '../../event-types/event-types.ts';
import { refuseParked } from '../../rows/parked.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { listsOf } from '../rules/names.ts';
import type { Context, Resolver } from './context.ts';
import { history, itemProof } from './histories.ts';
import { type Listed, readConnection, readPlainList } from './lists.ts';
import { readers } from './readers.ts';
import { NO_PARENT, type Row, sourceOfType, sourcesByType } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Resolvers = Readonly<Record<string, Resolver>>;

/** Null if there is none that the caller may read. A parked one is an error, because it is not absent. */
export const readById = async (context: Context, type: string, given: unknown): Promise<Row | null> => {
  const { domain, pool, loaders, past } = context;
  const id = pathId(String(given));
  if (id === undefined) return null;
  const { kind, parent } = sourceOfType(domain, type);
  const row = await loaders.find(type, id);
  // `find` has refused aggregates that were parked at that time.
  if (row === undefined) {
    if (!past) await refuseParked(pool, streamName(kind.name, id));
    return null;
  }
  if (await loaders.isReadable(row)) return row;
  if (!past && parent?.target)
    await refuseParked(pool, streamName(parent.target.name, row[parent.column] as number));
  return null;
};

/** The target of a reference that always exists, unless it is parked. */
export const demandRow = async (
  { domain, pool, loaders }: Context,
  type: string,
  id: number,
): Promise<Row> => {
  const row = await loaders.find(type, id);
  if (row !== undefined) return row;
  const { kind } = sourceOfType(domain, type);
  await refuseParked(pool, streamName(kind.name, id));
  throw new Rejection(notFound(kind.name));
};

type Target = {
  readonly kind: Kind;
  /** True if every reader of the row that refers to it may read it. */
  readonly isReadable: boolean;
};

/** The target of a reference: null if it has ended or is parked, or if the caller may not read it. */
export const findTarget = async (
  { loaders, past }: Context,
  { kind, isReadable }: Target,
  id: unknown,
): Promise<Row | null> => {
  const row = typeof id === 'number' ? await loaders.find(kind.type, id) : undefined;
  if (row === undefined) return null;
  // A former target must be readable now too.
  const isSeen = isReadable && (!past || staysWhenEnded(kind));
  return isSeen || (await loaders.isReadable(row)) ? row : null;
};

/** The id of a reference, also if its target is absent. */
export const idIn =
  (column: string): Resolver =>
  (row: Readonly<Record<string, unknown>>) => {
    const id = row[column] ?? null;
    return id === null ? null : String(id);
  };

export const byId =
  (type: string): Resolver =>
  async (_query, { id, at }, context) =>
    readById(isGiven(at) ? await context.at(at, { type, id }) : context, type, id);

const isGiven = (at: unknown): at is string => (at ?? null) !== null;

/** A list of everything, at a point in time if requested. */
const listedAt =
  (type: string, read: typeof readPlainList | typeof readConnection): Resolver =>
  async (_query, args, context) =>
    read(
      isGiven(args.at) ? await context.at(args.at) : context,
      { type, parent: undefined, parentId: NO_PARENT },
      args,
    );

export const listed =
  <Parent>(
    of: (parent: Parent, context: Context) => Listed | Promise<Listed>,
    read: typeof readPlainList | typeof readConnection,
  ) =>
  async (parent: Parent, args: Arguments, context: Context): Promise<unknown> =>
    read(context, await of(parent, context), args);

/** The fields of the root. */
export const queryOf = (domain: Context['domain']): Resolvers => {
  const { all } = sourcesOf(domain);
  const types = [...sourcesByType(domain).keys()];
  return {
    ...Object.fromEntries(all.map(({ kind }) => [kind.field, byId(kind.type)])),
    ...Object.fromEntries(
      all.flatMap(({ kind, parent }) => (parent ? [] : listsAt(listsOf(kind), kind.type))),
    ),
    cursor: (_query, _args, { cursor }) => cursor,
    async node(_query, { id }, context) {
      for (const type of types) {
        const row = await readById(context, type, id);
        if (row) return row;
      }
      return null;
    },
    me: (_query, _args, context) =>
      context.caller.kind === 'user' ? readById(context, 'User', context.caller.userId) : null,
    eventTypes: (_query, _args, context) => eventTypesOf(context.domain),
    auditStatus,
  };
};

export const listsAt = (name: string, type: string): readonly (readonly [string, Resolver])[] => [
  [name, listedAt(type, readPlainList)],
  [`${name}Connection`, listedAt(type, readConnection)],
];

export const common = {
  id: ({ id }: Row) => String(id),
  version: ({ version }: Row) => version,
  asOf: (_row: Row, _args: Arguments, { past }: Context) => past?.cursor ?? null,
  history,
  proof: itemProof,
  readers,
};

export const dated = {
  createdAt: ({ created_at }: Row) => isoText(created_at),
  updatedAt: ({ updated_at }: Row) => isoText(updated_at),
};

/** The value of a field. An erased value is replaced by its word for erasure, if there is one. */
export const fieldValue = ({ personal }: FieldDef, value: unknown): unknown =>
  value instanceof Date ? isoText(value) : (value ?? personal?.erased ?? null);

/** The numbers of the status that REST returns in full. */
const auditStatus: Resolver = async (_query, _args, { pool, eventLog, caller, proof }) => {
  if (proof === undefined) throw new Error('The proof is not served, and nevertheless in the schema');
  const { chain, signed, unproven, verified } = await proof.readStatus({ pool, eventLog }, caller);
  return {
    chained: chain.count,
    chainHead: chain.head,
    signed: signed?.count ?? 0,
    signedAt: signed?.at,
    unproven: unproven.events,
    verified: verified?.count ?? 0,
    verifiedAt: verified?.finished,
    differences: verified?.differences ?? 0,
  };
};
