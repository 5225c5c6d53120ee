import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { positionHere } from '#kernel/base/events/log-positions.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Missed, Webhook, WebhookEvent } from '#kernel/webhook/webhook.ts';
import type { DisableWebhook } from '#shared/commands/webhook.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { EventOf } from '#shared/events/catalogue.ts';

type Mark = EventOf<'webhook.deleted'>['data'];
/** The context for disabling; `head` is a position in our log before the event. */
export type Disabled = {
  readonly log: LogIdentity;
  readonly head: Position;
  readonly at: string;
  readonly isByOwner: boolean;
};

/**
 * An owner who disables it renounces deliveries. The mark is one position before the event, so that nothing
 * lies in between.
 */
export const disable = (
  mark: Mark,
  { reason, log, head, at, isByOwner }: DisableWebhook & Disabled,
  { enabled, missed }: Webhook,
): readonly WebhookEvent[] => {
  if (!enabled) return [];
  const missedNow = isByOwner ? missed : (missed ?? { since: { log, position: head }, at });
  return [{ type: 'webhook.disabled', data: { ...mark, reason, missed: missedNow } }];
};

/** The span to replay: by default from the first missed change to the present. */
export type Replay = {
  /** A position, or a time. */
  readonly from: Position | string | undefined;
  readonly to: Position | undefined;
  readonly log: LogIdentity;
  readonly head: Position;
};

type Replayed = Pick<EventOf<'webhook.replay_requested'>['data'], 'from' | 'to' | 'time' | 'missed'>;

export const replay = ({ from: given, log, head, to = head }: Replay, missed: Missed): Replayed => {
  // If changes were missed in a log of which ours is a copy, their positions are unknown: everything is sent
  // again, rather than too little.
  const since = missed && positionHere(missed.since, { log, elsewhere: START });
  const from = given ?? since ?? undefined;
  if (from === undefined) throw refusalOf('/from', 'Is required, because no changes were missed.');
  if (to > head) throw refusalOf('/to', 'Must not be after the last event.');
  const end = { log, position: to };
  const after = (isFromThere: boolean): Missed => {
    if (missed === null || !isFromThere || to < (since ?? START)) return missed;
    return to === head ? null : { ...missed, since: end };
  };
  if (typeof from === 'string')
    return { from: null, to: end, time: from, missed: after(from <= (missed?.at ?? '')) };
  if (from > to) throw refusalOf('/from', 'Must not be after the end.');
  return { from: { log, position: from }, to: end, time: null, missed: after(from <= (since ?? START)) };
};

const refusalOf = (pointer: string, detail: string): Rejection =>
  new Rejection('invalid_command', { errors: [{ pointer, detail }] });
