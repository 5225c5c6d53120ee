// Over 200 lines, because it is one table: every place with data of persons, for erasures and for exports.

/**
 * Rows of a table that hold data of the person with the number `$1`. An erasure counts those that are left; an
 * export of the person shows them. So no place is known to one of both alone.
 */
export type Look = {
  readonly part: string;
  /** The rows, as `from … where …` continues. */
  readonly from: string;
  /** A further condition of rows that an erasure would have removed or emptied. */
  readonly left?: string;
  /** The columns that an export shows, none of which is a secret; or that the role must open them. */
  readonly shows: string | Opened;
};

/** Rows that only the role can open that has encrypted them: it must bring a reader for each of these parts. */
export type OpenedPart = 'passkeys' | 'personal access tokens' | 'linked accounts' | 'sessions and grants';
type Opened = { readonly opens: OpenedPart };

/** The personal data in a table. Tables of the read model are missing here: their declaration states it. */
type Held = {
  readonly says: string;
  /** Rows that only an export shows: an erasure leaves them, because they hold nothing but numbers. */
  readonly shown?: readonly Look[];
} & (
  | { readonly holds: 'nothing' }
  /** An erasure removes it, and checks that. */
  | { readonly holds: 'personal'; readonly looks: readonly Look[] }
  /** Encrypted with the key of the person, or a keyed hash; and how an export shows it, or why it does not. */
  | { readonly holds: 'sealed'; readonly inExports: string }
);

const nothing = (says: string, ...shown: readonly Look[]): Held => ({ holds: 'nothing', says, shown });
const sealed = (says: string, inExports: string): Held => ({ holds: 'sealed', says, inExports });
const personal = (says: string, ...looks: readonly Look[]): Held => ({ holds: 'personal', says, looks });
const ofUser = (table: string): string => `${table} where user_id = $1`;

const COPY = 'a copy of events, which are shown themselves';
const HASH = 'a keyed hash, which shows nothing about the person';
const EXPIRES = 'expires within days, and cannot be found by the person: it is encrypted as a whole';

/** The statement with which an erasure counts what is left. */
export const countOfLook = ({ from, left }: Look): string =>
  `select count(*) from ${from}${left === undefined ? '' : ` and ${left}`}`;

/** The section of an export with these rows, as a program writes it: `personal-access-tokens`. */
export const sectionOfLook = ({ part }: Look): string => part.replaceAll(' ', '-');

/** All that an erasure looks at. */
export const looksOf = (held: Held): readonly Look[] => (held.holds === 'personal' ? held.looks : []);

/** All that an export shows. */
export const shownOf = (held: Held): readonly Look[] => [...looksOf(held), ...(held.shown ?? [])];

/**
 * By the full name. A test starts all roles and finds every table of the database here or in the declaration
 * of the domain.
 */
export const TABLES: Readonly<Record<string, Held>> = {
  'event_log.event': sealed(
    'the log: personal fields are encrypted under the key of their person, and events are never removed',
    'as events, opened with the key of the person',
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
  'read_log.entry': nothing('which user has read which items, by numbers; never values of fields or filters'),
  'read_log.head': nothing('hashes'),
  'read_log.signed_head': nothing('signed heads of the log of reads'),
  'read_log.writer': nothing('numbers of batches'),
  'snapshots.state': sealed('snapshots of an earlier release', COPY),
  'snapshots.fold': sealed(
    'states of aggregates with long streams: encrypted under the keys of all their persons, and deleted with the first of these keys',
    COPY,
  ),
  'clock.went_back': nothing('ids of items, with times of two of their events'),
  'clock.drift': nothing('how far clocks of processes were from others, by day'),
  'operations.asked': nothing('operator commands, with the numbers of the operators'),
  'operations.refused_message': nothing(
    'which messages of senders were refused and why, without their content, for 30 days',
  ),
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
  'process_manager.schedule': nothing('times of schedules, with the number of the user who wants a run'),
  'process_manager.schedule_run': nothing(
    'times at which schedules ran, with the number of the user who wanted that',
  ),
  'process_manager.fan_out': nothing('positions in the log'),
  'webhook_ledger.endpoint': nothing('settings of webhooks, without their addresses'),
  'webhook_ledger.message': nothing('changes without their personal fields'),
  'webhook_ledger.delivery': personal(
    'deliveries, with the messages of failures',
    {
      part: 'deliveries to their webhooks',
      from: 'webhook_ledger.delivery d join webhook_ledger.endpoint e using (webhook_id) where e.owner_id = $1',
      left: `(d.state = 'due' or d.last_error is not null)`,
      shows: `d.webhook_id as "webhook", d.event_id as "event", d.type, d.subject, d.state, d.attempts, d.last_status as "lastStatus",
        d.last_error as "lastError", d.created_at as "createdAt"`,
    },
    {
      part: 'failures of deliveries about the person',
      from: 'webhook_ledger.message m join webhook_ledger.delivery d using (event_id) where m.person_id = $1',
      left: 'd.last_error is not null',
      // The webhooks are those of others: their addresses and responses are not data of the person.
      shows: `d.event_id as "event", d.type, d.subject, d.state, d.created_at as "createdAt"`,
    },
  ),
  'webhook_ledger.attempt': personal(
    'requests to webhooks, and the responses, which may repeat them',
    {
      part: 'attempts at their webhooks',
      from: 'webhook_ledger.attempt a join webhook_ledger.endpoint e using (webhook_id) where e.owner_id = $1',
      shows: `a.webhook_id as "webhook", a.event_id as "event", a.number, a.at, a.duration_ms as "durationMs", a.status, a.error,
        a.request_headers as "requestHeaders", a.response_headers as "responseHeaders", encode(a.response_body, 'escape') as "response"`,
    },
    {
      part: 'responses to deliveries about the person',
      from: `webhook_ledger.message m
         join webhook_ledger.delivery d on d.event_id = m.event_id
         join webhook_ledger.attempt a on a.webhook_id = d.webhook_id and a.event_id = d.event_id
       where m.person_id = $1`,
      left: `(a.response_body is not null or a.response_headers <> '{}' or a.error is not null)`,
      shows: 'a.event_id as "event", a.number, a.at, a.status',
    },
  ),
  'webhook_ledger.tally': nothing('counts of attempts'),
  'webhook_ledger.replay': nothing('ids and positions of replays that owners requested'),
  'webhook_ledger.quiet': nothing('positions in the log'),
  'webhook_ledger.planning': nothing('positions in the log'),
  'webhook_ledger.clock': nothing('the time'),
  'auth.person': personal('who can sign in, with a keyed hash of the address', {
    part: 'account',
    from: ofUser('auth.person'),
    left: `(status <> 'deleted' or email_hash is not null)`,
    shows: `user_id as "user", role, status, confirmed_at as "addressConfirmedAt", deactivated_at as "deactivatedAt"`,
  }),
  'auth.credential': personal('hashes of passwords', {
    part: 'password',
    from: ofUser('auth.credential'),
    shows: 'changed_at as "changedAt"',
  }),
  'auth.passkey': personal('passkeys, encrypted under the key of the person', {
    part: 'passkeys',
    from: ofUser('auth.passkey'),
    shows: { opens: 'passkeys' },
  }),
  'auth.second_factor': personal('secrets of authenticator apps, encrypted under the key of the person', {
    part: 'second factor',
    from: ofUser('auth.second_factor'),
    shows: 'made_at as "addedAt"',
  }),
  'auth.recovery_code': personal('keyed hashes of codes', {
    part: 'recovery codes',
    from: ofUser('auth.recovery_code'),
    shows: `'a code that was not used yet' as "holds"`,
  }),
  'auth.personal_token': personal(
    'digests of personal access tokens, with their names encrypted under the key of the person',
    {
      part: 'personal access tokens',
      from: ofUser('auth.personal_token'),
      shows: { opens: 'personal access tokens' },
    },
  ),
  'auth.upstream_identity': personal(
    'accounts at identity providers: a keyed hash of issuer and subject, and both encrypted under the key of the person',
    { part: 'linked accounts', from: ofUser('auth.upstream_identity'), shows: { opens: 'linked accounts' } },
  ),
  'auth.record': personal('sessions, grants and tokens, encrypted', {
    part: 'sessions and grants',
    from: 'auth.record where account_id = $1::bigint::text',
    shows: { opens: 'sessions and grants' },
  }),
  'auth.password_reset': sealed('keyed hashes of links for new passwords, which expire', HASH),
  'auth.address_mail': nothing('numbers of users who get mail about a change'),
  'auth.sign_up': sealed('hashes of passwords of unfinished sign-ups', EXPIRES),
  'auth.pending_sign_up': sealed('sign-ups that wait for their link, encrypted; they expire', EXPIRES),
  'auth.keyed_write': sealed(
    'responses to writes with an idempotency key, encrypted; they expire after a day',
    EXPIRES,
  ),
  'auth.invitation': sealed('addresses of invited people, encrypted until the invitation ends', EXPIRES),
  'auth.attempt': sealed('counts of failed attempts, by a keyed hash', HASH),
  'auth.agent': nothing('agents that have acted for users, by their numbers', {
    part: 'agents',
    from: ofUser('auth.agent'),
    shows: `agent, application, scopes, since, used_at as "lastUsedAt", ended_at as "endedAt"`,
  }),
  'auth.agent_token': nothing('ids of tokens of agents, which expire'),
  'auth.client': nothing('applications'),
  'auth.client_use': nothing('when applications last got a token'),
  'auth.known_scope': nothing('scopes of the domain'),
  'auth.first_minute': nothing('the number of the author of the demo'),
  'auth.signing_key': nothing('keys of tokens'),
  'auth.device_poll': nothing('when devices polled, by keyed hash'),
  'auth.used_once': nothing('keyed hashes of used proofs'),
  'auth.signature': sealed('forms that persons are asked to sign, encrypted', 'expires after minutes'),
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
