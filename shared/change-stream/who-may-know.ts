import type { StreamName } from '#shared/brands.ts';
import type { EventType } from '#shared/events/catalogue.ts';
import { kindOfStream, type StreamKind } from '#shared/events/streams.ts';
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
  'administrator.appointed': 'internal',
  'administrator.leaving': 'internal',
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
  'account.reclaimed': 'private',
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

const isKnown = (type: string): type is EventType => Object.hasOwn(CONCERNS, type);

export const concernOf = (type: string): Concern => (isKnown(type) ? CONCERNS[type] : 'internal');

/**
 * Whether anybody outside may know of it at all. An unknown kind of stream is invisible, and so is a type in a stream of another
 * kind. An unknown type may be internal, but an aggregate that it takes out of the read model is reported to administrators.
 */
export const isPublic = ({ type, stream }: { readonly type: string; readonly stream: StreamName }): boolean => {
  const kind = kindOfStream(stream);
  // What is told outside is named after the kind of its stream.
  if (isKnown(type)) return type.startsWith(`${kind}.`) && CONCERNS[type] !== 'internal';
  return kind !== undefined && RIGHTS_TO_DAMAGED[kind] !== null;
};

/** What only administrators may do to a resource of which nothing is known; `null` for what is not in the read model. */
const RIGHTS_TO_DAMAGED: { readonly [Kind in StreamKind]: Operation | null } = {
  user: 'user.read_private',
  article: 'article.read',
  comment: 'comment.read',
  webhook: 'webhook.manage',
  email: null,
  administrators: null,
  command: null,
  session: null,
  grant: null,
  client: null,
  account: null,
  invitation: null,
};

/** The right to a damaged event. Nobody reads one without ids, except administrators. */
export const rightToDamaged = (stream: StreamName): Operation => {
  const kind = kindOfStream(stream);
  return (kind && RIGHTS_TO_DAMAGED[kind]) ?? 'user.read_private';
};
