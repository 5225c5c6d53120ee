import type { GraphQLResolveInfo } from 'graphql';
import type { Cursor } from '#kernel/base/cursor.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { ReceivingBlobs } from '#shared/blobs/set-upload.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { SeeingLog } from '#shared/event-log/own-cursor.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadHistory } from '../../history/history.ts';
import type { Proof, Proofs } from '../../proof.ts';
import type { Searches } from '../../rows/searches.ts';
import type { Past } from '../../time-travel/past.ts';
import type { RequestFacts } from '../execute.ts';
import type { Commits } from './commits.ts';
import type { Loaders } from './loaders.ts';
import type { Notes } from './notes.ts';
import type { Row } from './rows.ts';
import type { CheckCommand, SendCommand } from './send-command.ts';

/** The state shared by the resolvers of one request. */
export type Context = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly searches: Searches;
  readonly caller: Caller;
  /** The log that cursors belong to. */
  readonly eventLog: SeeingLog & Pick<EventLog, 'head'>;
  readonly facts: RequestFacts;
  readonly loaders: Loaders;
  /** The requested point in time; undefined for current data. */
  readonly past: Past | undefined;
  /** The same context at a point in time. `type` and `id` are of the item whose version `moment` may name. */
  at(moment: string, item?: { readonly type: string; readonly id: unknown }): Promise<Context>;
  readonly readHistory: ReadHistory;
  /** True for an event of a subscription, false for a request. */
  readonly isSubscription: boolean;
  readonly check: CheckCommand;
  readonly send: SendCommand;
  /** The commits of a mutation’s root fields. */
  readonly commits: Commits;
  readonly notes: Notes;
  /** The position of the read model before the first read, if the operation asks for it. */
  readonly cursor: Cursor | undefined;
  readonly blobs: ReceivingBlobs;
  /** Signs addresses of files. */
  readonly uploadKey: Buffer;
  readonly proof: Pick<Proof, 'readStatus'> | undefined;
  readonly proofs: Proofs | undefined;
};

/** A row at a point in time, and the context in which its references are read. */
export type PastRow = Row & { readonly asOf: Context };

/** Resolves a field: its parent, its arguments, the shared context, and its key in the answer. */
export type Resolver = (
  parent: never,
  args: Readonly<Record<string, unknown>>,
  context: Context,
  key: string,
) => unknown;

/** Resolves a field whose selection decides what is read. */
export type SelectingResolver = (
  parent: never,
  args: Readonly<Record<string, unknown>>,
  context: Context,
  info: GraphQLResolveInfo,
) => unknown;
