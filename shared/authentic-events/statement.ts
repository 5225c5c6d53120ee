import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { position } from '#kernel/base/events/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
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
  /** The decisions of operators about events without the right MAC, by their ids. */
  readonly decided: Readonly<Record<string, Decision>>;
};

type Epoch = { readonly scope: LogIdentity; readonly from: Position };

/** `digest` names the event, so that the decision is about this content at this place alone. */
export type Decision = {
  readonly digest: string;
  /** An accepted event counts like any other; the chain may already cover it as a record of somebody else. */
  readonly is: 'accepted' | 'accepted, chained as foreign' | 'rejected';
};

const statement = z.object({
  v: z.literal(1),
  n: z.int().positive(),
  log: z.guid(),
  since: timestamp,
  epochs: z.array(z.object({ scope: z.guid(), from: position })),
  decided: z.record(
    z.string(),
    z.object({
      digest: z.string(),
      is: z.enum(['accepted', 'accepted, chained as foreign', 'rejected']),
    }),
  ),
}) as unknown as z.ZodType<Statement>;

export type Authenticating = { readonly log: LogIdentity; readonly mac: Pick<EventMac, 'ofStatement'> };
export type Stored = { readonly statement: string; readonly mac: string };

/** Undefined if it is not about this log, or was not written by a process with the master key. */
export const opened = (stored: Stored | undefined, { log, mac }: Authenticating): Statement | undefined => {
  if (stored === undefined || mac.ofStatement(stored.statement) !== stored.mac) return undefined;
  const found = statement.parse(JSON.parse(stored.statement));
  return found.log === log ? found : undefined;
};

export const closed = (written: Statement, { mac }: Authenticating): Stored => {
  const text = JSON.stringify(written);
  return { statement: text, mac: mac.ofStatement(text) };
};

/**
 * Combines two statements about a log. Since when events need a MAC is only ever said more strictly, so no statement
 * of a process that did not know the other one takes that back. Of two decisions about an event, that of the higher
 * number counts.
 */
export const combined = (one: Statement, other: Statement): Statement => {
  const [lower, higher] = one.n < other.n ? [one, other] : [other, one];
  return {
    ...higher,
    since: one.since < other.since ? one.since : other.since,
    epochs: strictness(lower) < strictness(higher) ? lower.epochs : higher.epochs,
    decided: decidedBy(lower, higher),
  };
};

export const isSame = (one: Statement | undefined, other: Statement): boolean =>
  isDeepStrictEqual(one, other);

/** The position after which events need a MAC. */
const strictness = ({ epochs }: Statement): number => Math.min(...epochs.map(({ from }) => from));

const decidedBy = (lower: Statement, higher: Statement): Statement['decided'] => {
  const decided = { ...lower.decided, ...higher.decided };
  if (lower.n < higher.n) return decided;
  for (const [id, decision] of Object.entries(lower.decided))
    if (order(decision) > order(decided[id] ?? decision)) decided[id] = decision;
  return decided;
};

/** Of two decisions with the same number, every process takes the same one, and a rejection before the others. */
const order = ({ is, digest }: Decision): string => `${is} ${digest}`;
