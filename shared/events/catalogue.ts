import { ADMINISTRATOR_EVENTS } from './administrators.ts';
import { ARTICLE_EVENTS } from './article.ts';
import { COMMENT_EVENTS } from './comment.ts';
import type { DataOf, EventDefinition } from './define-event.ts';
import { EMAIL_CLAIM_EVENTS } from './email-claim.ts';
import { RESERVATION_EVENTS } from './reservation.ts';
import { SECURITY_EVENTS } from './security.ts';
import { USER_EVENTS } from './user.ts';
import { WEBHOOK_EVENTS } from './webhook.ts';

/** Every type of event that was ever written. */
export const CATALOGUE = {
  ...USER_EVENTS,
  ...ARTICLE_EVENTS,
  ...COMMENT_EVENTS,
  ...WEBHOOK_EVENTS,
  ...EMAIL_CLAIM_EVENTS,
  ...ADMINISTRATOR_EVENTS,
  ...RESERVATION_EVENTS,
  ...SECURITY_EVENTS,
} as const satisfies { readonly [Type in string]: EventDefinition<Type> };

export type EventType = keyof typeof CATALOGUE;

/** The event of a type, or the union of the events of several types. */
export type EventOf<Type extends EventType> = {
  readonly [Each in Type]: { readonly type: Each; readonly data: DataOf<(typeof CATALOGUE)[Each]> };
}[Type];

export type AnnalsEvent = EventOf<EventType>;

export const isEventType = (type: string): type is EventType => Object.hasOwn(CATALOGUE, type);
