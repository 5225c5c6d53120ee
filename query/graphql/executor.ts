import {
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  type GraphQLTypeResolver,
} from 'graphql';
import { itemType } from '#kernel/base/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { createCodec } from '#shared/events/codec.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createHistory, type HistoryOptions } from '../history/history.ts';
import type { Searches } from '../rows/searches.ts';
import { sourcesOf } from '../rows/sources.ts';
import type { PastOptions } from '../time-travel/options.ts';
import { viewSourcesOf } from '../views/source.ts';
import type { Execute } from './execute.ts';
import { federationOf } from './federation/entities.ts';
import { createCommits } from './resolvers/commits.ts';
import type { Context, PastRow, Resolver, SelectingResolver } from './resolvers/context.ts';
import { asksForCursor, readCursor } from './resolvers/cursor.ts';
import { eventProof } from './resolvers/histories.ts';
import { itemMutations } from './resolvers/item-mutations.ts';
import { itemResolversOf } from './resolvers/items.ts';
import { resolversOf } from './resolvers/kinds.ts';
import { createLoaders } from './resolvers/loaders.ts';
import { mutationOf } from './resolvers/mutations.ts';
import { noted } from './resolvers/noted.ts';
import { createNotes } from './resolvers/notes.ts';
import { queryOf } from './resolvers/reads.ts';
import type { Row } from './resolvers/rows.ts';
import { type CommandsOptions, createCheckCommand, createSendCommand } from './resolvers/send-command.ts';
import { createTimeTravel } from './resolvers/time-travel.ts';
import { viewQueries, viewResolversOf } from './resolvers/views.ts';
import { notedTypesOf } from './rules/noted.ts';
import { subscriptionOf } from './subscriptions/resolvers.ts';

type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolver>>>>;
type Selecting = Readonly<Record<string, Readonly<Record<string, SelectingResolver>>>>;

/** A field without a resolver is the member of that name of its parent’s value. */
const resolversFor = (domain: Domain, webhooks: Resolvers): Resolvers => {
  const sources = sourcesOf(domain);
  const types: Resolvers = Object.fromEntries([
    ...sources.all.map((source) => [source.kind.type, resolversOf(domain, source)] as const),
    ...sources.all.flatMap(({ items }) =>
      items.map((each) => [itemType(each.kind, each.list), itemResolversOf(domain, each)] as const),
    ),
  ]);
  return {
    ...webhooks,
    Query: { ...queryOf(domain), ...viewQueries(domain), ...federationOf(domain), ...webhooks.Query },
    Mutation: { ...mutationOf(domain), ...itemMutations(domain), ...webhooks.Mutation },
    ...subscriptionOf(domain),
    ...types,
    HistoryEntry: { proof: eventProof },
    ...Object.fromEntries(
      viewSourcesOf(domain).map((source) => [source.view.type, viewResolversOf(domain, source)]),
    ),
    User: { ...types.User, ...webhooks.User },
  };
};

const ERRORS_MAX = 50;

export type ExecutorOptions = CommandsOptions &
  Omit<PastOptions, 'codec' | 'tables'> &
  Pick<HistoryOptions, 'domain' | 'keys'> & {
    readonly schema: GraphQLSchema;
    readonly pool: Pool;
    readonly searches: Searches;
    readonly blobs: Context['blobs'];
    readonly uploadKey: Context['uploadKey'];
    readonly proof: Context['proof'];
    readonly proofs?: Context['proofs'];
    /** The resolvers of webhooks, if they are served. */
    readonly webhooks?: Resolvers;
    /** The resolvers of groups, if they are served. */
    readonly aggregates?: Selecting;
  };

/**
 * Executes operations field by field with graphql-js: those that the planner does not support, and as the
 * reference for those it does.
 */
export const createExecutor = (options: ExecutorOptions): Execute => {
  const {
    domain,
    schema,
    pool,
    searches,
    blobs,
    uploadKey,
    proof,
    proofs,
    eventLog,
    webhooks = {},
    aggregates = {},
  } = options;
  const folding = { codec: createCodec(options), tables: tablesOf(domain) };
  const resolvers = resolversFor(domain, webhooks);
  const fieldResolver = noted(notedTypesOf(domain), fieldResolverOf(resolvers, aggregates));
  const timeTravelOf = createTimeTravel({ ...options, ...folding });
  const readHistory = createHistory({ ...options, ...folding });
  return async (runnable, facts, event) => {
    const { prepared, operation, variables, caller } = runnable;
    // First of all: reads before it could be older than the cursor.
    const cursor = asksForCursor(runnable) ? await readCursor(pool, eventLog) : undefined;
    const commits = createCommits();
    const notes = createNotes();
    const commands = {
      check: createCheckCommand(options, caller, facts),
      send: createSendCommand(options, { caller, facts, commits }),
      commits,
    };
    const loaders = createLoaders({ domain, pool, searches }, caller);
    const shared = {
      domain,
      pool,
      searches,
      caller,
      facts,
      loaders,
      blobs,
      uploadKey,
      proof,
      proofs,
      eventLog,
      cursor,
      notes,
      readHistory,
      isSubscription: event !== undefined,
      ...commands,
    };
    const contextValue: Context = { ...shared, past: undefined, at: timeTravelOf(shared) };
    const { data, errors } = await execute({
      schema,
      document: prepared.document,
      rootValue: event,
      operationName: operation.node.name?.value ?? null,
      variableValues: variables,
      contextValue,
      fieldResolver,
      typeResolver,
      abortSignal: facts.signal,
    });
    return {
      data: data ?? null,
      ...(errors && { errors: errors.flatMap(separateErrors).slice(0, ERRORS_MAX) }),
      fates: commits.fates(),
      notes: notes.list(),
    };
  };
};

const fieldResolverOf =
  (resolvers: Resolvers, selecting: Selecting): GraphQLFieldResolver<unknown, Context> =>
  (parent, args, context, info) => {
    const { parentType, fieldName, path } = info;
    const select = selecting[parentType.name]?.[fieldName];
    if (select) return select(parent as never, args, contextOf(parent, context), info);
    const resolver = resolvers[parentType.name]?.[fieldName];
    // The resolvers of a type accept every value that resolves to it.
    if (resolver && parentType.name === 'Mutation') context.commits.begin(String(path.key));
    if (resolver) return resolver(parent as never, args, contextOf(parent, context), String(path.key));
    const member: unknown = (parent as Readonly<Record<string, unknown>>)[fieldName];
    return typeof member === 'function' ? member(path) : member;
  };

/** Fields of a former state are of the same point in time. */
const contextOf = (parent: unknown, context: Context): Context =>
  (parent as Partial<PastRow> | undefined)?.asOf ?? context;

const typeResolver: GraphQLTypeResolver<Row, Context> = ({ __typename }) => __typename;

/**
 * A service may report several errors for one field. graphql-tools combines them into one, which would be
 * masked.
 */
const separateErrors = (error: GraphQLError): readonly GraphQLError[] => {
  const { originalError, nodes, path } = error;
  if (!(originalError instanceof AggregateError)) return [error];
  return originalError.errors.map((cause: unknown) =>
    cause instanceof GraphQLError
      ? new GraphQLError(cause.message, { nodes, path, extensions: cause.extensions })
      : new GraphQLError(error.message, { nodes, path, originalError: cause as Error }),
  );
};
