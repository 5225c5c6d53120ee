// Over 200 lines, because it is one table: what each code means to a developer.

import type { ProblemCode } from '#edge/http/problem.ts';
import { isAbsence, type REJECTIONS } from '#kernel/base/rejection.ts';
import type { HTTP_PROBLEMS } from '#kernel/base/rest/http-problem.ts';

/** In Markdown. */
type Remedy = { readonly cause: string; readonly remedy: string };

type KernelCode = keyof typeof HTTP_PROBLEMS | keyof typeof REJECTIONS;

const HIDDEN = 'It does not exist, it was deleted, or the caller may not read it. Annals does not say which.';
const LISTED = 'Read the list again, and check the id and the rights of the token.';

const KERNEL: Readonly<Record<KernelCode, Remedy>> = {
  malformed_request: {
    cause: 'The request line, a header or the URL encoding is invalid.',
    remedy: 'Send well-formed HTTP. `detail` says which part is wrong.',
  },
  malformed_body: {
    cause: 'The body does not match its `Content-Type`: for example, invalid JSON or a repeated key.',
    remedy: 'Correct the body or its `Content-Type`.',
  },
  invalid_parameter: {
    cause: 'A query parameter is unknown or has an invalid value. `errors` names each one.',
    remedy: 'Correct the named parameters. The REST reference lists them for each operation.',
  },
  preflight_required: {
    cause:
      'A multipart request to GraphQL came without a header that forces a browser preflight. This protects against cross-site requests.',
    remedy: 'Send the header `GraphQL-Require-Preflight` with any value.',
  },
  unknown_cursor: {
    cause:
      'The cursor belongs to another list, another sort order or another installation, or points beyond the end of the log.',
    remedy: 'Start again without a cursor. Use cursors only with the list that returned them.',
  },
  cursor_of_lost_history: {
    cause:
      'The event log has lost events since this cursor was issued, for example after a failover or a restore.',
    remedy: 'Read the current data again, and follow changes from now on.',
  },
  invalid_request: {
    cause: 'Fields of the body are invalid. `errors` names each one by a JSON pointer.',
    remedy: 'Correct the named fields.',
  },
  invalid_token: {
    cause: 'The access token is malformed, expired, revoked, or of another issuer.',
    remedy: 'Get a new token: refresh it, or sign in again.',
  },
  invalid_dpop_proof: {
    cause: 'The DPoP proof is missing, expired, used before, or made for another request, key or nonce.',
    remedy:
      'Create a new proof for each request. If the response has a `DPoP-Nonce`, use it in the next proof.',
  },
  invalid_signature: {
    cause:
      'A message to the inbox has no valid signature of its sender, or its time is more than five minutes from ours. `detail` says which.',
    remedy:
      'Sign the exact bytes of the body when you send them, with a secret that the installation has. Operators: compare the secret in the setting of the sender.',
  },
  invalid_assertion: {
    cause:
      'A role called another role with an assertion that is not valid. Clients do not see this unless the installation is misconfigured.',
    remedy: 'Operators: give all roles the same `MASTER_KEY` and database, and synchronize their clocks.',
  },
  not_found: {
    cause: 'No route has this path.',
    remedy: 'Check the path. `GET /` and `/openapi.json` list all of them.',
  },
  not_there_then: {
    cause: 'The item did not exist at the requested time (`at`).',
    remedy: 'Choose a later time. The history lists all versions.',
  },
  version_not_found: {
    cause: 'The item has fewer versions than the one requested.',
    remedy: 'Choose a version from the history.',
  },
  method_not_allowed: {
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  not_acceptable: {
    cause: 'None of the media types in `Accept` is available.',
    remedy: 'Send `Accept: */*` or one of the types that the reference lists.',
  },
  request_timeout: {
    cause: 'The request arrived too slowly.',
    remedy: 'Send it again. On slow networks, send smaller bodies. `REQUEST_TIMEOUT_MS` sets the limit.',
  },
  body_too_large: {
    cause: 'The body exceeds the limit of the operation.',
    remedy: 'Send less at once. `BODY_BYTES_MAX` sets the limit for JSON.',
  },
  unsupported_media_type: {
    cause: 'The operation does not accept this `Content-Type`.',
    remedy: 'Send one of the types that the reference lists.',
  },
  range_not_satisfiable: {
    cause: 'The requested byte range is outside the file.',
    remedy: 'Use `Content-Range` of the response for the size.',
  },
  precondition_required: {
    cause: 'The installation requires `If-Match` for changes (`REQUIRE_IF_MATCH`).',
    remedy: 'Read the item, and send its `ETag` as `If-Match`.',
  },
  headers_too_large: {
    cause: 'The request line and headers exceed `HEADER_BYTES_MAX`.',
    remedy: 'Send fewer or shorter headers and parameters.',
  },
  rate_limited: {
    cause: 'The client has used up its rate limit.',
    remedy: 'Wait for the number of seconds in `Retry-After`. `RateLimit` shows the remaining units.',
  },
  stream_conflict: {
    cause: 'A stream or operation with this id is already open.',
    remedy: 'Use another id, or close the first one.',
  },
  too_many_streams: {
    cause:
      'The caller has too many open streams at this process, or the total size of its subscription documents is too large.',
    remedy: 'Close streams you do not need. One stream can follow many event types.',
  },
  too_slow: {
    cause: 'The subscriber read more slowly than events arrived, and its buffer is full.',
    remedy:
      'Connect again with the last id as `Last-Event-ID`. Process events outside the loop that reads them.',
  },
  overloaded: {
    cause:
      'The process has reached a limit: concurrent requests, event loop lag, or memory of unread responses.',
    remedy: 'Send the request again after `Retry-After`. Nothing was changed.',
  },
  unavailable: {
    cause:
      'An engine, such as the database, does not answer at the moment, or the read model is being built.',
    remedy:
      'Send the request again after `Retry-After`. Give changes an `Idempotency-Key`, so that a retry is safe.',
  },
  not_yet_visible: {
    cause: 'The read model did not apply the change named by `Consistency-Token` in time.',
    remedy: 'Send the read again after `Retry-After`. The change itself is committed.',
  },
  parked: {
    cause: 'An event of this item could not be applied, so the item is parked and not shown.',
    remedy: 'Ask an operator to retry or skip it: `annals projection parked`, or “Parked” in the console.',
  },
  internal: {
    cause: 'A defect of Annals or of the code of the domain.',
    remedy: 'Report the `requestId`. The log has the details under it.',
  },

  user_not_found: { cause: HIDDEN, remedy: LISTED },
  user_deleted: { cause: 'The user was deleted.', remedy: 'Use another user. A deletion cannot be undone.' },
  not_erased: {
    cause: 'The user was not deleted, so there is no report of an erasure.',
    remedy: 'Delete the user first, or check the id.',
  },
  email_taken: {
    cause: 'Another account has this e-mail address.',
    remedy: 'Use another address, or sign in to that account.',
  },
  email_changed_by_application: {
    cause: 'An application tried to change the e-mail address of its own user.',
    remedy: 'Send the user to `/account/profile` to sign in and change it.',
  },
  last_administrator: {
    cause: 'The change would leave the installation without an administrator who can sign in.',
    remedy: 'Give another user the role `admin` first, or reactivate the account of one.',
  },
  webhook_not_found: { cause: HIDDEN, remedy: LISTED },
  webhook_deleted: { cause: 'The webhook was deleted.', remedy: 'Create a new one.' },
  webhook_disabled: {
    cause: 'The webhook is disabled: by its owner, or after too many failures.',
    remedy: 'Repair the endpoint, then set `enabled` to true.',
  },
  quota_exceeded: {
    cause: 'The owner has as many webhooks as `WEBHOOKS_PER_OWNER_MAX` allows.',
    remedy: 'Delete one, or ask the operator to raise the limit.',
  },
  too_many_secrets: {
    cause: 'The secret was rotated too often: former secrets stay valid for a day.',
    remedy: 'Wait until the oldest secret has expired.',
  },
  too_many_replays: {
    cause: 'The webhook has too many unfinished replays.',
    remedy: 'Wait until one has finished.',
  },
  delivery_not_found: {
    cause: 'The webhook has no such delivery, or it was removed after its retention period.',
    remedy: 'Read the list of deliveries again.',
  },
  replay_not_found: { cause: 'The webhook has no such replay.', remedy: 'Read the list of replays again.' },
  not_parked: {
    cause: 'The item is not parked, or no longer parked.',
    remedy: 'Read the list of parked items again.',
  },
  parked_at_other_version: {
    cause: 'The item is parked by a different event than the one in the request.',
    remedy: 'Read the parked item again, then decide.',
  },
  event_not_found: {
    cause: 'The log has no event with this id, or the caller may not read the item of the event.',
    remedy:
      'Use the id from an event, a delivery or a history, and a token with the scope that reads the item.',
  },
  order_not_found: { cause: 'There is no such operator command.', remedy: 'Read the list again.' },
  too_many_orders: {
    cause: 'Too many operator commands wait for execution.',
    remedy: 'Wait until some have finished. If none finishes, check that all roles are running.',
  },
  verification_under_way: { cause: 'A verification is already running.', remedy: 'Wait for its report.' },
  client_not_found: { cause: 'There is no such client.', remedy: 'Read the list of clients again.' },
  client_built_in: {
    cause: 'The client is built in and cannot be changed.',
    remedy: 'Register a client of your own.',
  },
  client_without_secret: {
    cause: 'The client authenticates without a secret.',
    remedy: 'Register a confidential client, or rotate its keys instead.',
  },
  client_id_taken: { cause: 'Another client has this id.', remedy: 'Choose another id.' },
  id_taken: { cause: 'The requested id is in use.', remedy: 'Choose another id, or leave it out.' },
  version_mismatch: {
    cause: 'The item was changed after the version in `If-Match`.',
    remedy: 'Read the item again, apply your change to it, and send the new `ETag`.',
  },
  patch_not_applicable: {
    cause: 'A path of the JSON Patch does not exist in the item, or may not be changed.',
    remedy: 'Read the item again and correct the patch.',
  },
  patch_test_failed: {
    cause: 'A `test` operation of the JSON Patch failed: the item has another value.',
    remedy: 'Read the item again and decide whether the patch still applies.',
  },
  reason_required: {
    cause: 'The declaration demands a reason for this command.',
    remedy:
      'Say why: with the header `Reason` in REST, with the argument `reason` in GraphQL and of a tool, with the option `reason` of the client.',
  },
  signature_required: {
    cause:
      'The declaration demands a signature for this command: a person proves again who they are, for what it does.',
    remedy:
      'Let the user sign at `details.href`, and send the same command again with `details.request` in the header `Electronic-Signature`, or in the argument `signature` in GraphQL, or the option `signature` of the client.',
  },
  signature_invalid: {
    cause:
      'The signature was used before, is older than fifteen minutes, or was made by another person, or for another command, form, item or meaning.',
    remedy: 'Send the command without it, and let the user sign again.',
  },
  signer_required: {
    cause: 'An agent, a personal access token or a service sent a command that a person must sign.',
    remedy: 'Let the person send it in an application to which they have signed in.',
  },
  conflict: {
    cause: 'Others changed the same item at the same time, several times in a row.',
    remedy: 'Send the request again after `Retry-After`.',
  },
  idempotency_key_reused: {
    cause: 'The `Idempotency-Key` was used before, with another request.',
    remedy: 'Use a new key for each request, and the same key only to repeat that request unchanged.',
  },
  idempotency_key_in_use: {
    cause: 'The first request with this `Idempotency-Key` is still running.',
    remedy: 'Send it again after `Retry-After`: you get the response of the first one.',
  },
  token_not_found: {
    cause: 'The personal access token was revoked, expired long ago, or belongs to another user.',
    remedy: LISTED,
  },
  too_many_tokens: {
    cause: 'The account has the maximum number of personal access tokens.',
    remedy: 'Revoke one that is no longer used: see `lastUsedAt`.',
  },
  sign_in_too_old: {
    cause:
      'The user signed in more than ten minutes ago, or without the second factor that the account has now, or the token has no time of the sign-in. Personal access tokens never have it.',
    remedy: 'Send the user to `/authorize` with `prompt=login`, and use the new token.',
  },
  address_not_confirmed: {
    cause: 'The e-mail address of the account is not confirmed yet.',
    remedy: 'Ask the user to open `/account/confirm` and to follow the link in the mail.',
  },
  account_of_administrator: {
    cause: 'The request deactivates an administrator.',
    remedy: 'Give them another role with `PATCH /users/{userId}` first.',
  },
  unauthenticated: {
    cause: 'The request needs a token and has none.',
    remedy: 'Send `Authorization: Bearer <token>`.',
  },
  insufficient_scope: {
    cause: 'The token lacks a scope. `details.scope` names it.',
    remedy: 'Request a token with this scope.',
  },
  forbidden: {
    cause: 'The role of the caller, or the state of the item, does not allow this.',
    remedy: 'Check `_links` of the item: it lists what the caller may do.',
  },
  invalid_command: {
    cause: 'A value of the command is not allowed, for example a user who does not exist.',
    remedy: 'Correct the value that `details` or `errors` names.',
  },
  confirmation_required: {
    cause:
      'The caller is an agent, and the command has `confirm`. The request is recorded: `Location` and `details` have its path.',
    remedy:
      'Ask the user to approve it in the console. Read the request, or follow its events, to see what becomes of it.',
  },
  person_required: {
    cause:
      'An agent, a personal access token, a service or a tool tried to decide about the request of an agent.',
    remedy: 'Let a person with the right sign in, and approve or decline it in the console.',
  },
  person_releases: {
    cause: 'An agent, a personal access token or a service tried to release a hold.',
    remedy: 'Let a person with the right, who did not place the hold, sign in and release it.',
  },
  asker_not_allowed: {
    cause: 'The user for whom the agent asked has lost the right since, or their account is deactivated.',
    remedy: 'Decline the request.',
  },
  request_outdated: {
    cause:
      'The declaration of the command has changed since the agent asked, so its stored form is no longer valid.',
    remedy: 'Decline the request, and let the agent ask again.',
  },
};

/** A code derived from the names of a domain is explained by its form. */
export const remedyFor = (code: ProblemCode): Remedy => {
  const listed: Partial<Record<string, Remedy>> = KERNEL;
  const known = listed[code];
  if (known !== undefined) return known;
  if (isAbsence(code))
    return code.endsWith('_not_found')
      ? { cause: HIDDEN, remedy: LISTED }
      : { cause: 'It was deleted.', remedy: 'A deletion cannot be undone. Create a new one.' };
  if (code.endsWith('_taken'))
    return { cause: 'Another item has this value, which must be unique.', remedy: 'Choose another value.' };
  if (code.endsWith('_exists'))
    return {
      cause: 'The list already has an item with this key.',
      remedy: 'Change that item, or use another key.',
    };
  if (code.endsWith('_retained'))
    return {
      cause: 'It must be kept for a time, which has not passed.',
      remedy: '`details` has the time until which it must be kept. It ends by itself then.',
    };
  if (/(?<!_not)_held$/.test(code))
    return {
      cause: 'It, or something with personal data of the user, is under a hold.',
      remedy: 'Ask somebody with the right to holds, who has not placed it, to release it.',
    };
  if (code.endsWith('_full'))
    return {
      cause: 'The list has the maximum number of items that the domain allows.',
      remedy: 'Remove an item first.',
    };
  return {
    cause: 'A rule of the domain does not allow this in the current state of the item.',
    remedy: 'Read the item. `_links` lists what is possible now.',
  };
};
