/**
 * A check of a table after an erasure: counts rows that still hold data of the person with the number `$1`.
 */
type Look = { readonly part: string; readonly text: string };

/** The personal data in a table. Tables of the read model are missing here: their declaration states it. */
type Held = {
  /**
   * `personal`: an erasure removes it, and checks that; `sealed`: encrypted with the key of the person, or a
   * keyed hash; `nothing`: at most the number of a person.
   */
  readonly holds: 'personal' | 'sealed' | 'nothing';
  readonly says: string;
  readonly looks?: readonly Look[];
};

const nothing = (says: string): Held => ({ holds: 'nothing', says });
const sealed = (says: string): Held => ({ holds: 'sealed', says });
const personal = (says: string, ...looks: readonly (readonly [part: string, text: string])[]): Held => ({
  holds: 'personal',
  says,
  looks: looks.map(([part, text]) => ({ part, text })),
});
const byUser = (table: string): string => `select count(*) from ${table} where user_id = $1`;

/**
 * By the full name. A test starts all roles and finds every table of the database here or in the declaration
 * of the domain.
 */
export const TABLES: Readonly<Record<string, Held>> = {
  'event_log.event': sealed(
    'the log: personal fields are encrypted under the key of their person, and events are never removed',
  ),
  'event_log.identity': nothing('the number of the log'),
  'event_log.lost_history': nothing('the numbers of logs'),
  'public.cursor_form': nothing('a time'),
  'public.authentic_events': nothing('from which event on the log needs MACs'),
  'public.decided_events': nothing('hashes of events'),
  'event_index.event': nothing(
    'the position of each event, by type, item, actor, client and correlation: numbers, like its metadata in the log',
  ),
  'event_index.moment': nothing('times of changes, by position'),
  'public.person_key': nothing('keys of persons, and when they were destroyed'),
  'public.master_key_check': nothing('a check of MASTER_KEY'),
  'public.annals_migration': nothing('which migrations were applied'),
  'public.lease': nothing('which process has which task'),
  'public.follower_checkpoint': nothing('positions in the log'),
  'process_manager.import_passed': nothing('keys of imported lines that changed nothing'),
  'public.projection_skip': nothing('numbers of events that were skipped, and why'),
  'public.persisted_document': nothing('documents of GraphQL, which clients registered'),
  'public.rate_limit': nothing('counts of recent requests, by number or keyed hash'),
  'public.served_domain': nothing('the name of the domain'),
  'public.event_log_owner': nothing('a random id'),
  'audit.block': nothing('hashes of events'),
  'audit.signing_key': nothing('the keys of the audit'),
  'audit.head': nothing('signed heads of the chain'),
  'audit.tile': nothing('salted hashes of events'),
  'audit.tree_head': nothing('the signed head of the tree'),
  'audit.witness': nothing('which head of the tree each witness has cosigned'),
  'audit.witnessed_head': nothing('the head of the tree that enough witnesses have cosigned'),
  'audit.time_stamp': nothing('time stamps of heads of the tree'),
  'audit.publication': nothing('which head is outside the database'),
  'audit.watch': nothing('positions of the background verification'),
  'audit.watch_difference': nothing('places of differences, without the values'),
  'snapshots.state': sealed('snapshots of an earlier release'),
  'snapshots.fold': sealed(
    'states of aggregates with long streams: encrypted under the keys of all their persons, and deleted with the first of these keys',
  ),
  'operations.asked': nothing('operator commands, with the numbers of the operators'),
  'operations.sample': nothing('measurements'),
  'operations.projection': nothing('the position of the projection'),
  'process_manager.member': nothing('ids of items and of their parents and owners'),
  'process_manager.membership': nothing('which children end with their parents'),
  'process_manager.deleted_parent': nothing('ids of deleted items'),
  'process_manager.parked': nothing('ids of events, and why they were parked'),
  'process_manager.reacting': nothing('positions in the log'),
  'process_manager.reference': nothing('ids of items and of those that refer to them'),
  'process_manager.ended': nothing('ids of items that have ended'),
  'process_manager.task': nothing('ids of events with pending reactions, without their data'),
  'process_manager.timer': nothing('ids of events that started timers, without their data'),
  'process_manager.timer_mark': nothing('ids of aggregates whose timers are being checked'),
  'process_manager.spent_timer': nothing('ids of events whose timers have expired'),
  'process_manager.schedule': nothing('times of schedules'),
  'process_manager.schedule_run': nothing('times at which schedules ran'),
  'process_manager.fan_out': nothing('positions in the log'),
  'webhook_ledger.endpoint': nothing('settings of webhooks, without their addresses'),
  'webhook_ledger.message': nothing('changes without their personal fields'),
  'webhook_ledger.delivery': personal(
    'deliveries, with the messages of failures',
    [
      'deliveries to their webhooks',
      `select count(*) from webhook_ledger.delivery join webhook_ledger.endpoint using (webhook_id)
       where owner_id = $1 and (state = 'due' or last_error is not null)`,
    ],
    [
      'failures of deliveries about the person',
      `select count(*) from webhook_ledger.message join webhook_ledger.delivery using (event_id)
       where person_id = $1 and last_error is not null`,
    ],
  ),
  'webhook_ledger.attempt': personal(
    'requests to webhooks, and the responses, which may repeat them',
    [
      'attempts at their webhooks',
      'select count(*) from webhook_ledger.attempt join webhook_ledger.endpoint using (webhook_id) where owner_id = $1',
    ],
    [
      'responses to deliveries about the person',
      `select count(*) from webhook_ledger.message
         join webhook_ledger.delivery on delivery.event_id = message.event_id
         join webhook_ledger.attempt on attempt.webhook_id = delivery.webhook_id and attempt.event_id = delivery.event_id
       where person_id = $1 and (response_body is not null or response_headers <> '{}' or error is not null)`,
    ],
  ),
  'webhook_ledger.tally': nothing('counts of attempts'),
  'webhook_ledger.replay': nothing('ids and positions of replays that owners requested'),
  'webhook_ledger.quiet': nothing('positions in the log'),
  'webhook_ledger.planning': nothing('positions in the log'),
  'webhook_ledger.clock': nothing('the time'),
  'auth.person': personal('who can sign in, with a keyed hash of the address', [
    'account',
    `select count(*) from auth.person where user_id = $1 and (status <> 'deleted' or email_hash is not null)`,
  ]),
  'auth.credential': personal('hashes of passwords', ['password', byUser('auth.credential')]),
  'auth.passkey': personal('passkeys, encrypted under the key of the person', [
    'passkeys',
    byUser('auth.passkey'),
  ]),
  'auth.second_factor': personal('secrets of authenticator apps, encrypted under the key of the person', [
    'second factor',
    byUser('auth.second_factor'),
  ]),
  'auth.recovery_code': personal('keyed hashes of codes', ['recovery codes', byUser('auth.recovery_code')]),
  'auth.personal_token': personal(
    'digests of personal access tokens, with their names encrypted under the key of the person',
    ['personal access tokens', byUser('auth.personal_token')],
  ),
  'auth.upstream_identity': personal(
    'accounts at identity providers: a keyed hash of issuer and subject, and both encrypted under the key of the person',
    ['linked accounts', byUser('auth.upstream_identity')],
  ),
  'auth.record': personal('sessions, grants and tokens, encrypted', [
    'sessions and grants',
    'select count(*) from auth.record where account_id = $1::bigint::text',
  ]),
  'auth.password_reset': sealed('keyed hashes of links for new passwords, which expire'),
  'auth.address_mail': nothing('numbers of users who get mail about a change'),
  'auth.sign_up': sealed('hashes of passwords of unfinished sign-ups'),
  'auth.pending_sign_up': sealed('sign-ups that wait for their link, encrypted; they expire'),
  'auth.keyed_write': sealed(
    'responses to writes with an idempotency key, encrypted; they expire after a day',
  ),
  'auth.invitation': sealed('addresses of invited people, encrypted until the invitation ends'),
  'auth.attempt': sealed('counts of failed attempts, by a keyed hash'),
  'auth.agent': nothing('agents that have acted for users, by their numbers'),
  'auth.agent_token': nothing('ids of tokens of agents, which expire'),
  'auth.client': nothing('applications'),
  'auth.client_use': nothing('when applications last got a token'),
  'auth.known_scope': nothing('scopes of the domain'),
  'auth.first_minute': nothing('the number of the author of the demo'),
  'auth.signing_key': nothing('keys of tokens'),
  'auth.device_poll': nothing('when devices polled, by keyed hash'),
  'auth.used_once': nothing('keyed hashes of used proofs'),
  'auth.signature': sealed('what persons are asked to sign, encrypted; it expires after minutes'),
  'auth.revoked': nothing('hashes and numbers of revoked grants and tokens'),
  'auth.row_proofs_begun': nothing('a time'),
  'auth.spent_proof': nothing('keyed hashes of used proofs'),
};

/** The tables of the read model beside those of the domain (shared/projection/read-model.sql). */
export const TABLES_OF_READ_MODEL: Readonly<Record<string, string>> = {
  departed: 'numbers of deleted users',
  removed: 'ids of deleted items',
  parked: 'ids of parked items, and why',
  digest: 'sums over the rows of the other tables',
  view_readers: 'numbers of users, and positions in the log',
  view_removed: 'keys of rows of views, none of which is personal',
  view_stream: 'positions in the log',
};

/** Schemas of a library, whose tables all hold the same. */
export const SCHEMAS: Readonly<Record<string, Held>> = {
  bullmq: nothing('the queue in PostgreSQL: ids of webhooks with waiting deliveries'),
};
