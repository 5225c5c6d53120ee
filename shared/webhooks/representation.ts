import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import type { Attempt, FailedDeliveries, FoundDelivery, Replay } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import type { AttemptRow, DeliveryRow, ReplayRow } from './deliveries.ts';
import type { FailedRow, FoundRow } from './search.ts';

/** Deliveries, attempts and replays for those who may manage the webhook. */

/** The maximum shown of a response. */
export const ANSWER_BYTES_MAX = 16_384;

type Shown = {
  readonly eventLog: NamingLog;
  /** Deliveries of a disabled webhook are visible, but cannot be sent again. */
  readonly isEnabled: boolean;
};

export const representDelivery = (row: DeliveryRow, { eventLog, isEnabled }: Shown): Delivery => {
  const self = `/webhooks/${row.webhook_id}/deliveries/${row.event_id}`;
  return {
    id: row.event_id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    type: row.type,
    subject: row.subject,
    cursor: cursorOf(eventLog, row.position, row.event_id),
    state: row.state,
    attempts: row.attempts,
    nextAt: row.state === 'due' ? row.next_at.toISOString() : null,
    lastStatus: row.last_status,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
    deliveredAt: row.delivered_at?.toISOString() ?? null,
    _links: {
      self: { href: self },
      webhook: { href: `/webhooks/${row.webhook_id}` },
      attempts: { href: `${self}/attempts` },
      body: { href: `${self}/body` },
      ...(isEnabled && { redeliver: { href: `${self}/redeliver`, method: 'POST' } }),
    },
  };
};

export const representFound = (
  { url, is_enabled: isEnabled, ...row }: FoundRow,
  { eventLog }: Pick<Shown, 'eventLog'>,
): FoundDelivery => ({
  ...representDelivery(row, { eventLog, isEnabled }),
  url,
});

export const representFailed = (
  { webhookId, ...row }: FailedRow,
  isForAuditor = false,
): FailedDeliveries => ({
  webhookId,
  ...row,
  _links: {
    webhook: { href: `/webhooks/${webhookId}` },
    deliveries: { href: `/deliveries?webhookId=${webhookId}&state=failed` },
    ...(!isForAuditor && { redrive: { href: `/webhooks/${webhookId}/redrive`, method: 'POST' } }),
  },
});

export const representAttempt = (row: AttemptRow): Attempt => ({
  number: row.number,
  at: row.at.toISOString(),
  durationMs: row.duration_ms,
  status: row.status,
  error: row.error,
  requestHeaders: row.request_headers,
  answer:
    row.status === null
      ? null
      : { headers: row.response_headers, ...bodyOf(row.response_body ?? Buffer.alloc(0)) },
});

type Body = Pick<NonNullable<Attempt['answer']>, 'text' | 'base64' | 'truncated'>;

/** Of a longer response, one byte more is stored than is shown. */
const bodyOf = (kept: Buffer): Body => {
  const bytes = kept.subarray(0, ANSWER_BYTES_MAX);
  const truncated = kept.length > ANSWER_BYTES_MAX;
  const text = textOf(bytes, truncated);
  return { ...(text === undefined ? { base64: bytes.toString('base64') } : { text }), truncated };
};

/** If it was cut, the last character may be incomplete. */
const textOf = (bytes: Buffer, isCut: boolean): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    // It is no text, and is shown in base64.
    return undefined;
  }
};

export const representReplay = (row: ReplayRow, { eventLog }: Pick<Shown, 'eventLog'>): Replay => ({
  id: row.id,
  webhookId: row.webhook_id,
  // A row has no event, and each process remembers others: all must say the same.
  from: row.from_position === null ? null : cursorOf(eventLog, row.from_position, undefined),
  since: row.from_time?.toISOString() ?? null,
  to: cursorOf(eventLog, row.to_position, undefined),
  at: cursorOf(eventLog, row.at_position, undefined),
  planned: row.planned,
  state: row.state,
  requestedAt: row.requested_at.toISOString(),
  finishedAt: row.finished_at?.toISOString() ?? null,
  _links: {
    self: { href: `/webhooks/${row.webhook_id}/replays/${row.id}` },
    webhook: { href: `/webhooks/${row.webhook_id}` },
  },
});
