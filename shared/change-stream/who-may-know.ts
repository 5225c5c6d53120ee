import type { StreamName } from '#shared/brands.ts';
import { type EventType, isEventType } from '#shared/events/catalogue.ts';
import type { Operation } from '#shared/policy.ts';

/** On what it depends who may know of an event. */
type Concern =
  /** Whoever may read the article as it was before or after it. */
  | 'article'
  /** Whoever may read the comment. */
  | 'comment'
  /** Its owner, and administrators. */
  | 'webhook'
  /** Whoever may read that user's name. */
  | 'profile'
  /** As a profile where the name has changed, else as what is private. */
  | 'profile_change'
  /** The user who is concerned, and administrators. */
  | 'private'
  /** Nobody: it goes on inside. */
  | 'internal';

/** A type that is missing here does not compile. */
const CONCERNS: { readonly [Type in EventType]: Concern } = {
  'user.registered': 'profile',
  'user.updated': 'profile_change',
  'user.deleted': 'profile',
  'user.email_abandoned': 'internal',
  'article.drafted': 'article',
  'article.edited': 'article',
  'article.published': 'article',
  'article.unpublished': 'article',
  'article.deleted': 'article',
  'comment.added': 'comment',
  'comment.edited': 'comment',
  'comment.deleted': 'comment',
  'webhook.registered': 'webhook',
  'webhook.changed': 'webhook',
  'webhook.secret_rotated': 'webhook',
  'webhook.enabled': 'webhook',
  'webhook.disabled': 'webhook',
  'webhook.deleted': 'webhook',
  'webhook.test_requested': 'webhook',
  'webhook.replay_requested': 'webhook',
  'webhook.redelivery_requested': 'webhook',
  'webhook.redrive_requested': 'webhook',
  'email.claimed': 'internal',
  'email.released': 'internal',
  'command.reserved': 'internal',
  'command.completed': 'internal',
  'session.signed_in': 'private',
  'session.sign_in_failed': 'private',
  'session.signed_out': 'private',
  'grant.consented': 'private',
  'grant.revoked': 'private',
  'grant.reuse_detected': 'private',
  'client.registered': 'private',
  'client.changed': 'private',
  'client.secret_rotated': 'private',
  'client.deleted': 'private',
  'account.password_changed': 'private',
  'account.reset_requested': 'private',
  'account.passkey_added': 'private',
  'account.passkey_removed': 'private',
  'account.passkey_refused': 'private',
  'account.second_factor_added': 'private',
  'account.second_factor_removed': 'private',
  'account.recovery_codes_renewed': 'private',
  'account.recovery_code_used': 'private',
  'invitation.made': 'private',
  'invitation.accepted': 'private',
  'invitation.revoked': 'private',
};

export const concernOf = (type: EventType): Concern => CONCERNS[type];

/**
 * Whether somebody outside may know of it at all. A type that this release does not know may be an internal one, but where it
 * takes an aggregate out of the read model, that is told.
 */
export const isPublic = ({ type, stream }: { readonly type: string; readonly stream: StreamName }): boolean =>
  isEventType(type) ? CONCERNS[type] !== 'internal' : AGGREGATE.test(stream);

const AGGREGATE = /^(user|article|comment|webhook)-/;

/** What only administrators have with a resource of which nothing is known. */
export const rightToDamaged = (stream: StreamName): Operation => {
  if (stream.startsWith('article-')) return 'article.read';
  if (stream.startsWith('webhook-')) return 'webhook.manage';
  return stream.startsWith('comment-') ? 'comment.read' : 'user.read_private';
};
