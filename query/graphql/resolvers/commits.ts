import type { GraphQLFormattedError } from 'graphql';
import { Rejection } from '#kernel/base/rejection.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';

/** The outcome of a root field’s command; `null` means unknown. */
type Fate = { readonly committed: false | null } | Committed;
type Committed = {
  readonly committed: true;
  readonly id: string;
  readonly cursor: string;
  readonly eventId?: string;
};

/**
 * The fate of one root field of a mutation, as clients see it in `extensions.mutation`. `field` is its name
 * in the answer.
 */
export type FieldFate = { readonly field: string } & Fate;

/**
 * The commits of one mutation’s root fields. An error removes `data`, so this is how a client learns of the
 * fields that came before.
 */
export type Commits = {
  /** A root field starts: nothing of it is committed yet. */
  begin(field: string): void;
  /** Sends the command of a root field, and records the outcome. */
  record(field: string, send: () => Promise<CommandResult>): Promise<CommandResult>;
  /** The root fields that ran, in order. */
  fates(): readonly FieldFate[];
};

export const createCommits = (): Commits => {
  const fates = new Map<string, Fate>();
  return {
    begin: (field) => void fates.set(field, NOT_COMMITTED),
    async record(field, send) {
      fates.set(field, UNKNOWN);
      try {
        const result = await send();
        const { id, cursor, eventId } = result;
        fates.set(field, {
          committed: true,
          id: String(id),
          cursor,
          ...(eventId !== undefined && { eventId }),
        });
        return result;
      } catch (error) {
        if (isRefusal(error)) fates.set(field, NOT_COMMITTED);
        throw error;
      }
    },
    fates: () => [...fates].map(([field, fate]) => ({ field, ...fate })),
  };
};

const NOT_COMMITTED: Fate = { committed: false };
const UNKNOWN: Fate = { committed: null };

/**
 * A refusal has changed nothing. But a request with the same key that still runs may yet commit, so that one
 * is unknown.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof Rejection && error.code !== 'idempotency_key_in_use';

/** Adds to an error of a mutation whether its root field was committed, and which fields before it were. */
export const addCommits = (
  fates: readonly FieldFate[],
  error: GraphQLFormattedError,
): GraphQLFormattedError => {
  const index = fates.findIndex(({ field }) => field === error.path?.[0]);
  // Only a composed service knows the outcome of its fields; a field of ours that did not start committed
  // nothing.
  const other = error.extensions?.service === undefined ? NOT_COMMITTED : UNKNOWN;
  const { field: _, ...fate } = fates[index] ?? { field: '', ...other };
  const before = index === -1 ? fates : fates.slice(0, index);
  const committedBefore = before
    .filter(({ committed }) => committed === true)
    .map(({ committed: __, ...where }) => where);
  return { ...error, extensions: { ...error.extensions, ...fate, committedBefore } };
};
