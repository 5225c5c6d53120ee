import type { Registry } from 'prom-client';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { sameAddress } from '#kernel/base/same-address.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { beginWhere } from '#shared/follower/checkpoint.ts';
import { startFollower } from '#shared/follower/follower.ts';
import type { Log } from '#shared/log.ts';
import { DIRECTORY } from '#shared/persons/directory.ts';
import { migrateAccounts } from '../persons/person-table.ts';
import type { ReadProfile } from '../provider/profile.ts';
import type { Mail, Message } from './mail.ts';
import { addressChangedMessage, addressGivenMessage } from './messages.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly log: Log;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly mail: Mail;
  readonly readProfile: ReadProfile;
};

/** How often it looks although the pulse has shown nothing. */
const LOOK_AGAIN_MS = 60_000;
/** Mail may be a second late, and few events concern persons. */
const REST_MS = 1_000;

/**
 * Sends notices of a changed e-mail address, at least once, whichever interface changed it: to the former
 * address, and to the new one unless its owner typed it. It follows the log, because the command role sends
 * no mail; holds its own lease, because an earlier release may hold the directory's; and queues in a table,
 * so that a dead mail server blocks nothing else.
 */
export const startAddressNotices = async (dependencies: Dependencies): Promise<AsyncDisposable> => {
  const { pool, log, clock } = dependencies;
  await migrateAccounts(pool);
  await beginWhere(pool, FOLLOWER, DIRECTORY);
  let waking = new AbortController();
  let hasQueued = false;
  const follower = await startFollower({
    ...dependencies,
    name: FOLLOWER,
    restMs: REST_MS,
    concerns: (events) => events.some(isFollowed),
    async write(events, connection) {
      await insertAddressMail(
        connection,
        events.flatMap((event) => mailAbout(event, clock)),
      );
      hasQueued = true;
    },
    committed() {
      if (hasQueued) waking.abort();
      hasQueued = false;
    },
  });
  const sending = repeat({
    work(signal) {
      waking = new AbortController();
      return sendDue(dependencies, signal);
    },
    wait: (signal) =>
      pulseOf(pool).wait({
        ...{ until: ARE_DUE, clock, timeoutMs: LOOK_AGAIN_MS },
        signal: AbortSignal.any([signal, waking.signal]),
      }),
    onFailure: (err) => log.warn({ err }, 'Mail about changed addresses could not be sent.'),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await follower[Symbol.asyncDispose]();
      await sending[Symbol.asyncDispose]();
    },
  };
};

const FOLLOWER = 'auth-mail';

/** The address of an imported change was in use elsewhere, perhaps years ago. */
const isFollowed = ({ type, metadata }: RecordedEvent): boolean =>
  type === 'user.updated' && metadata.importedAt === undefined;

/**
 * Queued for every update, because the changed fields are sealed: the sender checks whether it was the
 * address.
 */
const mailAbout = (event: RecordedEvent, clock: Clock): readonly AddressMail[] => {
  const { stream, version, recordedAt, metadata } = event;
  if (!isFollowed(event) || dateElsewhereMs(clock) - recordedAt.getTime() > ADDRESS_MAIL_KEPT_S * 1_000)
    return [];
  const userId = Number(stream.slice(stream.indexOf('-') + 1)) as UserId;
  const former: AddressMail = { userId, version, recipient: 'former' };
  return metadata.actor === `user:${userId}` ? [former] : [former, { ...former, recipient: 'new' }];
};

const sendDue = async (
  { pool, log, mail, readProfile }: Dependencies,
  signal: AbortSignal,
): Promise<void> => {
  for (let due = await takeAddressMail(pool); due !== undefined; due = await takeAddressMail(pool)) {
    const { userId, version, recipient } = due;
    try {
      const message = await messageOf(readProfile, due);
      if (message !== undefined) await mail.send(message);
      await deleteAddressMail(pool, due);
    } catch (err) {
      log.warn(
        { err, userId, version, recipient },
        'Mail about a changed address could not be sent; it will be retried.',
      );
    }
    if (signal.aborted) return;
  }
};

const messageOf = async (
  readProfile: ReadProfile,
  { userId, version, recipient }: AddressMail,
): Promise<Message | undefined> => {
  const [before, after] = [
    await readProfile(userId, (version - 1) as Version),
    await readProfile(userId, version),
  ];
  const to = recipient === 'former' ? before.email : after.email;
  if (to === undefined || isSame(before.email, after.email)) return undefined;
  return (recipient === 'former' ? addressChangedMessage : addressGivenMessage)({ to, name: before.name });
};

const isSame = (before: string | undefined, after: string | undefined): boolean =>
  before !== undefined && after !== undefined && sameAddress(before) === sameAddress(after);

/** One message about a change of a user, to the former or the new address. */
type AddressMail = {
  readonly userId: UserId;
  readonly version: Version;
  readonly recipient: 'former' | 'new';
};

/** Longer than a send takes, and doubled by each attempt: another process takes over after a crash. */
const RETRY_S = 60;
const RETRY_MAX_S = 3_600;
/** How long sending is retried. A notice of an older change is hardly worth a mail. */
const ADDRESS_MAIL_KEPT_S = 7 * 86_400;

/** Runs in the caller's transaction. Idempotent. */
const insertAddressMail = async (connection: Connection, mail: readonly AddressMail[]): Promise<void> => {
  if (mail.length === 0) return;
  await connection.query(
    `insert into auth.address_mail (user_id, version, told_at, expires_at)
     select *, clock_timestamp() + $4 * interval '1 second' from unnest($1::bigint[], $2::integer[], $3::text[])
     on conflict do nothing`,
    [
      mail.map(({ userId }) => userId),
      mail.map(({ version }) => version),
      mail.map(({ recipient }) => recipient),
      ADDRESS_MAIL_KEPT_S,
    ],
  );
};

/** The clock may have been set back since. */
const isDue = (retryMaxS: string): string =>
  `(due_at <= clock_timestamp() or due_at > clock_timestamp() + ${retryMaxS} * interval '1 second') and expires_at > clock_timestamp()`;

const ARE_DUE = `exists (select from auth.address_mail where ${isDue(String(RETRY_MAX_S))})`;

/** Takes a due message and leases it for a while; it is due again after that, unless it is deleted. */
const takeAddressMail = async (pool: Pool): Promise<AddressMail | undefined> => {
  const { rows } = await pool.query<AddressMail>(
    `update auth.address_mail as mail
     set attempts = attempts + 1, due_at = clock_timestamp() + least($1 * 2.0 ^ least(attempts, 10), $2) * interval '1 second'
     from (
       select user_id, version, told_at from auth.address_mail
       where ${isDue('$2')}
       order by due_at limit 1 for update skip locked
     ) as due
     where (mail.user_id, mail.version, mail.told_at) = (due.user_id, due.version, due.told_at)
     returning mail.user_id as "userId", mail.version, mail.told_at as "recipient"`,
    [RETRY_S, RETRY_MAX_S],
  );
  return rows[0];
};

const deleteAddressMail = async (pool: Pool, { userId, version, recipient }: AddressMail): Promise<void> => {
  await pool.query(`delete from auth.address_mail where user_id = $1 and version = $2 and told_at = $3`, [
    userId,
    version,
    recipient,
  ]);
};
