import { randomBytes } from 'node:crypto';
import { Rejection } from '#kernel/base/rejection.ts';
import { OLD_SECRETS_MAX, type Webhook, type WebhookEvent } from '#kernel/webhook/webhook.ts';
import type { EventOf } from '#shared/events/catalogue.ts';

const SECRET_BYTES = 32;

/** In the format of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The time for which the old secret signs too, so that receivers can change over. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

type Mark = EventOf<'webhook.deleted'>['data'];

/**
 * Old secrets expire in order; they are identified by time, because nothing else about them is needed here.
 */
export const rotate = (
  mark: Mark,
  { secret, at }: { secret: string; at: string },
  state: Webhook,
): readonly WebhookEvent[] => {
  const known = state.secret.at(-1);
  if (known === secret) return [];
  if (known === null) throw new Rejection('user_deleted');
  const signing = state.oldSecretsEndAt.filter((end) => end > at);
  if (signing.length >= OLD_SECRETS_MAX) throw new Rejection('too_many_secrets');
  const oldSecretsEndAt = new Date(Date.parse(at) + OVERLAP_MS).toISOString();
  return [{ type: 'webhook.secret_rotated', data: { ...mark, secret, oldSecretsEndAt } }];
};
