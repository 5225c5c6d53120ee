import type { Json } from './json.ts';
import { snake, spaced } from './names.ts';

/**
 * Every expected refusal of a command, by a stable code. Each transport has one table with its meaning
 * (`edge/http/problem.ts`), so that the domain knows no status codes.
 */
export const REJECTIONS = {
  user_not_found: 'There is no such user.',
  user_deleted: 'The user was deleted.',
  not_erased: 'There is no deleted user with this id.',
  email_taken: 'Another user has this e-mail address.',
  email_changed_by_application:
    'An application cannot change the e-mail address of its own user: the user changes it at /account/profile.',
  last_administrator: 'This is the last administrator: make another user an administrator first.',
  webhook_not_found: 'There is no such webhook.',
  webhook_deleted: 'The webhook was deleted.',
  webhook_disabled: 'The webhook is disabled: enable it first.',
  quota_exceeded: 'The owner has the maximum number of webhooks: delete one first.',
  too_many_secrets: 'The webhook has the maximum number of valid secrets; the oldest expires within a day.',
  too_many_replays: 'The webhook has the maximum number of unfinished replays: wait until one has finished.',
  event_not_found: 'There is no such event, or you may not read it.',
  delivery_not_found: 'There is no such delivery.',
  replay_not_found: 'There is no such replay.',
  not_parked: 'The item is not parked.',
  parked_at_other_version: 'The item is now parked because of another event: read it again.',
  order_not_found: 'There is no such operator command.',
  too_many_orders: 'Too many operator commands are waiting: wait until some have finished.',
  verification_under_way: 'A verification is already running: wait for its result.',
  client_not_found: 'There is no such client.',
  client_built_in: 'The client is part of Annals: it cannot be changed or deleted.',
  client_without_secret: 'This client has no secret.',
  client_id_taken: 'Another client has this id.',
  token_not_found: 'There is no such personal access token.',
  too_many_tokens: 'The user has the maximum number of personal access tokens: revoke one first.',
  sign_in_too_old: 'The sign-in is too old for this: sign in again.',
  address_not_confirmed: 'Confirm the e-mail address of the account first, at /account/confirm.',
  account_of_administrator:
    'The account of an administrator cannot be deactivated: give them another role first.',
  id_taken: 'The id is in use.',
  version_mismatch: 'The item has changed since the version that the request names.',
  patch_not_applicable: 'The patch cannot be applied to the item.',
  patch_test_failed: 'A test of the patch failed.',
  reason_required: 'This needs a reason: say why, in one line.',
  conflict: 'Too many changes at once; try again.',
  idempotency_key_reused: 'The idempotency key was used for another request.',
  idempotency_key_in_use: 'A request with this idempotency key is still running.',
  unauthenticated: 'This needs a signed-in caller.',
  insufficient_scope: 'The token lacks the scope for this.',
  forbidden: 'The caller may not do this.',
  cursor_of_lost_history:
    'The event log has lost events since this cursor was issued: read the data again, and start from now.',
  invalid_command: 'The command is malformed.',
  confirmation_required: 'Nothing has changed yet: a person must approve this request of the agent.',
  person_required:
    'Only a person who has signed in may decide about requests of agents: not an agent, a token or a service.',
  signature_required:
    'This needs your signature: sign it at the address in `details.href`, and send it again with it.',
  signature_invalid:
    'The signature is used, too old, or of another person or command: send the command without it, and sign again.',
  signer_required: 'Only a person who has signed in may sign this: not an agent, a token or a service.',
  person_releases: 'Only a person who has signed in may release a hold: not an agent, a token or a service.',
  asker_not_allowed: 'The user for whom the agent asked may not do this any more: decline the request.',
  request_outdated:
    'The command has changed since the agent asked: decline the request, and let the agent ask again.',
} as const satisfies Record<string, string>;

declare const OF_A_DOMAIN: unique symbol;
/**
 * A refusal that follows from the names of a domain, or that its author declares: created here alone, so that
 * no code is misspelt.
 */
type DomainCode = string & { readonly [OF_A_DOMAIN]: true };
export type RejectionCode = keyof typeof REJECTIONS | DomainCode;

/** Of a kind of aggregate, as `purchase_order_not_found`. */
export const notFound = (kind: string): RejectionCode => `${snake(kind)}_not_found` as DomainCode;
export const deleted = (kind: string): RejectionCode => `${snake(kind)}_deleted` as DomainCode;
/** For a fact that is false, as `article_not_published`. */
export const isNot = (kind: string, fact: string): RejectionCode =>
  `${snake(kind)}_not_${snake(fact)}` as DomainCode;
/** A refusal that a decision declares, as `ticket_already_merged`. */
export const refusedAs = (kind: string, name: string): RejectionCode =>
  `${snake(kind)}_${snake(name)}` as DomainCode;
/** An item with the same key, as `collection_item_exists`. */
export const exists = (one: string): RejectionCode => `${snake(one)}_exists` as DomainCode;
/** A list that is full, as `collection_items_full`. */
export const isFull = (kind: string, list: string): RejectionCode =>
  `${snake(kind)}_${snake(list)}_full` as DomainCode;

/** A value that is in use, as `seat_number_taken`. */
export const isTaken = (kind: string, field: string): RejectionCode =>
  `${snake(kind)}_${snake(field)}_taken` as DomainCode;

const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;

/** Whether it may be a code: another release, or another process, may know more. */
export const isRejectionCode = (code: string): code is RejectionCode => isListed(code) || CODE.test(code);

const isListed = (code: string): code is keyof typeof REJECTIONS => Object.hasOwn(REJECTIONS, code);

/**
 * The aggregate is absent: a deleted one is not in reads, so it is not found. A fact may be named `deleted`
 * too.
 */
export const isAbsence = (code: string): boolean => /(?:_not_found|(?<!_not)_deleted)$/.test(code);

/** The default sentence of a refusal. */
export const sentenceOf = (code: RejectionCode): string => {
  if (isListed(code)) return REJECTIONS[code];
  const text = spaced(code);
  if (isAbsence(code)) {
    return text.endsWith(' not found')
      ? `There is no such ${text.slice(0, -' not found'.length)}.`
      : `The ${text.slice(0, -' deleted'.length)} was deleted.`;
  }
  if (text.endsWith(' full')) return `The maximum number of ${text.slice(0, -' full'.length)} is reached.`;
  if (text.endsWith(' taken')) return `The ${text.slice(0, -' taken'.length)} is taken.`;
  if (text.endsWith(' exists')) return `The ${text.slice(0, -' exists'.length)} already exists.`;
  const [, kind, fact] = /^(.+?) not (.+)$/.exec(text) ?? [];
  return kind === undefined ? 'A rule of the domain does not allow this.' : `The ${kind} is not ${fact}.`;
};

/** An expected refusal: the caller can do something about it, and nothing was changed. */
export class Rejection extends Error {
  readonly code: RejectionCode;
  /** Facts for programs beyond the code, such as the missing scope. Never personal data. */
  readonly details: Readonly<Record<string, Json>>;

  constructor(
    code: RejectionCode,
    details: Readonly<Record<string, Json>> = {},
    { says, ...options }: RejectionOptions = {},
  ) {
    super(says ?? sentenceOf(code), options);
    this.name = 'Rejection';
    this.code = code;
    this.details = details;
  }
}

type RejectionOptions = ErrorOptions & {
  /** The author’s sentence. */
  readonly says?: string | undefined;
};
