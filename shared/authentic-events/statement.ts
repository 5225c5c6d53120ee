import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { position } from '#kernel/base/events/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
import { type Batch, batchesOfFormer, DECISIONS, type Former, unitedBatches } from './decided.ts';
import type { EventMac } from './event-mac.ts';

/** From which event on the events of a log need a MAC. Only a process with the master key can make one that counts. */
export type Statement = {
  readonly v: 1;
  /** Grows with each change. */
  readonly n: number;
  readonly log: LogIdentity;
  /** When the first process of a release with MACs started. */
  readonly since: string;
  /** Events after `from` need a MAC with this identity of the log; none while an upgrade is under way. */
  readonly epochs: readonly Epoch[];
  /** The decisions of operators about events without the right MAC. */
  readonly decided: readonly Batch[];
};

type Epoch = { readonly scope: LogIdentity; readonly from: Position };

const statement = z.object({
  v: z.literal(1),
  n: z.int().positive(),
  log: z.guid(),
  since: timestamp,
  epochs: z.array(z.object({ scope: z.guid(), from: position })),
  decided: z.union([
    z.array(
      z.object({
        n: z.int().positive(),
        is: z.enum(DECISIONS),
        count: z.int().positive(),
        sha256: z.string(),
      }),
    ),
    // By the ids of events, as a former release has written it.
    z.record(z.string(), z.object({ digest: z.string(), is: z.enum(DECISIONS) })),
  ]),
}) as unknown as z.ZodType<
  Omit<Statement, 'decided'> & { readonly decided: readonly Batch[] | Readonly<Record<string, Former>> }
>;

export type Authenticating = { readonly log: LogIdentity; readonly mac: Pick<EventMac, 'ofStatement'> };
export type Stored = { readonly statement: string; readonly mac: string };

/** Undefined if it is not about this log, or was not written by a process with the master key. */
export const opened = (stored: Stored | undefined, { log, mac }: Authenticating): Statement | undefined => {
  if (stored === undefined || mac.ofStatement(stored.statement) !== stored.mac) return undefined;
  const found = statement.parse(JSON.parse(stored.statement));
  if (found.log !== log) return undefined;
  const { decided, n } = found;
  return { ...found, decided: isOfNow(decided) ? decided : batchesOfFormer(Object.values(decided), n) };
};

const isOfNow = (decided: readonly Batch[] | Readonly<Record<string, Former>>): decided is readonly Batch[] =>
  Array.isArray(decided);

export const closed = (written: Statement, { mac }: Authenticating): Stored => {
  const text = JSON.stringify(written);
  return { statement: text, mac: mac.ofStatement(text) };
};

/**
 * Combines two statements about a log. Since when events need a MAC is only ever said more strictly, so no statement
 * of a process that did not know the other one takes that back.
 */
export const combined = (one: Statement, other: Statement): Statement => {
  const [lower, higher] = one.n < other.n ? [one, other] : [other, one];
  return {
    ...higher,
    since: one.since < other.since ? one.since : other.since,
    epochs: strictness(lower) < strictness(higher) ? lower.epochs : higher.epochs,
    decided: unitedBatches(lower.decided, higher.decided),
  };
};

export const isSame = (one: Statement | undefined, other: Statement): boolean =>
  isDeepStrictEqual(one, other);

/** The position after which events need a MAC. */
const strictness = ({ epochs }: Statement): number => Math.min(...epochs.map(({ from }) => from));
