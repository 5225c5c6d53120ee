import type { Position } from '#shared/brands.ts';
import type { DisableWebhook } from '#shared/commands/webhook.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import { Rejection } from '#shared/rejection.ts';
import type { PresentWebhook, WebhookEvent } from './webhook.ts';

/** From where on changes were not delivered that the owner did not forgo. It stays until they are replayed from there or further back. */
export type Missed = EventOf<'webhook.disabled'>['data']['missed'];

type Mark = EventOf<'webhook.deleted'>['data'];
/** What disabling depends on beside the command; `head` is a position that it comes after. */
export type Disabled = { readonly head: Position; readonly at: string; readonly isByOwner: boolean };

/** An owner who disables it wants to hear of nothing; the place is one before the event, so that nothing lies between. */
export const disable = (
  mark: Mark,
  { reason, head, at, isByOwner }: DisableWebhook & Disabled,
  { status, missed }: PresentWebhook,
): readonly WebhookEvent[] => {
  if (status === 'disabled') return [];
  const missedNow = isByOwner ? missed : (missed ?? { since: head, at });
  return [{ type: 'webhook.disabled', data: { ...mark, reason, missed: missedNow } }];
};

/** What is asked for again: without a beginning what was missed, without an end all up to now. */
export type Replay = {
  /** A position, or a time. */
  readonly from: Position | string | undefined;
  readonly to: Position | undefined;
  readonly head: Position;
};

type Replayed = Pick<EventOf<'webhook.replay_requested'>['data'], 'from' | 'to' | 'time' | 'missed'>;

export const replay = ({ from: given, head, to = head }: Replay, missed: Missed): Replayed => {
  const from = given ?? missed?.since;
  if (from === undefined) throw refusalOf('/from', 'Is missing: nothing was missed that a replay could begin with.');
  if (to > head) throw refusalOf('/to', 'Lies beyond what has happened.');
  if (typeof from === 'string')
    return { from: null, to, time: from, missed: missedAfter(missed, { isFromThere: from <= (missed?.at ?? ''), to, head }) };
  if (from > to) throw refusalOf('/from', 'Lies beyond the end.');
  return { from, to, time: null, missed: missedAfter(missed, { isFromThere: from <= (missed?.since ?? 0), to, head }) };
};

type Reach = { readonly isFromThere: boolean; readonly to: Position; readonly head: Position };

const missedAfter = (missed: Missed, { isFromThere, to, head }: Reach): Missed => {
  if (missed === null || !isFromThere || to < missed.since) return missed;
  return to === head ? null : { ...missed, since: to };
};

const refusalOf = (pointer: string, detail: string): Rejection => new Rejection('invalid_command', { errors: [{ pointer, detail }] });
