// Over 200 lines, because it is one thing: the persons who can sign in, and how they follow the log.
import type { Registry } from 'prom-client';
import { migrateRevocations, revoke } from '#edge/authenticate/revocations.ts';
import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { leastRoleOf } from '#kernel/registry/roles.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { type Codec, createCodec, type DecodedEvent } from '#shared/events/codec.ts';
import { MalformedEvent } from '#shared/events/errors.ts';
import { type LostKeys, reportLostKeys } from '#shared/events/report-lost-keys.ts';
import { startFollower } from '#shared/follower/follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import type { CheckPerson } from '#shared/persons/check-person.ts';
import { DIRECTORY } from '#shared/persons/directory.ts';
import { createEmailHash } from '#shared/persons/email-hash.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { deleteOldSignUps, settleSignUp } from './accounts/sign-up-table.ts';
import { closeInvitationTo } from './invitations/invitation-table.ts';
import { deleteResetsOf, migratePasswordResets } from './password-reset/reset-table.ts';
import {
  checkedPerson,
  deleteLeftOfDeleted,
  deletePerson,
  migrateAccounts,
  type Person,
  selectPersonByEmail,
  selectPersonsById,
  writePerson,
} from './persons/person-table.ts';

/** Everybody who can sign in, by e-mail address and by id. It follows the log with a lag of milliseconds. */
export type Persons = {
  byEmail(email: string): Promise<Person | undefined>;
  /** Also finds a deleted person, with that status. */
  byId(userId: UserId): Promise<Person | undefined>;
  /**
   * Adds a person who was registered just now, for callers that cannot wait until the directory has read the
   * log.
   */
  register(registered: Registered): Promise<void>;
};

type Registered = {
  readonly userId: UserId;
  readonly version: Version;
  readonly email: string | null;
  readonly role: Role;
};

type DirectoryDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly masterKey: MasterKey;
  readonly log: Log;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly checkPerson: CheckPerson;
  readonly rowProofs: Pick<RowProofs, 'of' | 'check'>;
  /** Ends the sessions, grants and tokens of a deleted person. Idempotent. */
  revokeUser(userId: UserId): Promise<void>;
};

/** Nobody signs in sooner after being registered elsewhere, and few events concern persons. */
const REST_MS = 20;

/** Opens the directory and keeps it up to date with the log, in one process at a time. */
export const openDirectory = async (
  dependencies: DirectoryDependencies,
): Promise<Persons & AsyncDisposable> => {
  const { domain, pool, eventLog, masterKey, log, metrics, clock, rowProofs } = dependencies;
  await migrateRevocations(pool);
  await migrateAccounts(pool);
  await migratePasswordResets(pool);
  await deleteLeftOfDeleted(pool);
  await deleteOldSignUps(pool);
  const emailHash = createEmailHash(masterKey);
  const leastRole = leastRoleOf(domain);
  const tokenFields = ['role', ...attributesOf(domain).map(({ wire }) => wire)];
  const reading = {
    codec: createCodec(dependencies),
    log,
    lostKeys: reportLostKeys(log, 'The directory of persons skips events, because'),
  };
  const follower = await startFollower({
    name: DIRECTORY,
    restMs: REST_MS,
    ...{ pool, eventLog, log, metrics, clock },
    concerns: (events) => events.some((event) => isFollowed(event) || event.type === 'user.deleted'),
    act: (events, signal) => endDeleted(dependencies, events, signal),
    async write(events, connection) {
      for (const event of await readable(reading, events))
        await applyEvent(connection, event, { emailHash, leastRole, tokenFields, rowProofs });
    },
  });
  const readById = coalesce((userIds: readonly UserId[]) => selectPersonsById(pool, userIds));
  const { checkPerson } = dependencies;
  return {
    async byEmail(email) {
      const hash = emailHash(email);
      const person = await selectPersonByEmail(pool, hash);
      const found = person && (await checkPerson(person));
      // A link for a new password goes to this address.
      if (person === undefined || found === undefined) return undefined;
      if (found.email === null || emailHash(found.email) !== hash) return undefined;
      return checkedPerson(person, found);
    },
    async byId(userId) {
      const person = await readById(userId);
      if (person === undefined || person.status === 'deleted') return person;
      return checkedPerson(person, await checkPerson(person));
    },
    register: ({ email, ...person }) =>
      inTransaction(pool, (connection) =>
        writePerson(connection, {
          ...person,
          leastRole,
          emailHash: email === null ? null : emailHash(email),
        }),
      ),
    async [Symbol.asyncDispose]() {
      await follower[Symbol.asyncDispose]();
      reading.lostKeys[Symbol.dispose]();
    },
  };
};

/**
 * First makes it impossible to sign in as a deleted person, then ends everything that was signed in. Both
 * steps are idempotent. The id is read from the stream name, so that a poison event cannot keep anybody
 * signed in.
 */
const endDeleted = async (
  { pool, revokeUser }: DirectoryDependencies,
  events: readonly RecordedEvent[],
  signal: AbortSignal,
): Promise<void> => {
  for (const { type, stream, version } of events) {
    if (signal.aborted) return;
    if (type !== 'user.deleted') continue;
    const userId = Number(stream.slice(stream.indexOf('-') + 1)) as UserId;
    await inTransaction(pool, (connection) => deletePerson(connection, userId, version));
    await revokeUser(userId);
  }
};

type Followed = 'user.registered' | 'user.updated';
const isFollowed = ({ type }: RecordedEvent): boolean =>
  type === 'user.registered' || type === 'user.updated';

type Reading = { readonly codec: Codec; readonly log: Log; readonly lostKeys: LostKeys };

/** A poison event affects only its own person; the log reports it to operators. */
const readable = async (
  { codec, log, lostKeys }: Reading,
  events: readonly RecordedEvent[],
): Promise<readonly DecodedEvent<Followed>[]> => {
  const followed = events.filter(isFollowed);
  const decode = async (some: readonly RecordedEvent[]) =>
    (await codec.decodeAll(some)) as readonly DecodedEvent<Followed>[];
  return decode(followed).catch(async (cause: unknown) => {
    if (!(cause instanceof MalformedEvent)) throw cause;
    const decoded: DecodedEvent<Followed>[] = [];
    for (const event of followed) decoded.push(...(await decode([event]).catch(passOver({ log, lostKeys }))));
    return decoded;
  });
};

const passOver =
  ({ log, lostKeys }: Omit<Reading, 'codec'>) =>
  (err: unknown): readonly never[] => {
    if (!(err instanceof MalformedEvent)) throw err;
    if (!lostKeys.count(err.message))
      log.error({ err }, 'The directory of persons cannot read an event and skips it.');
    return [];
  };

type Applying = {
  readonly emailHash: (email: string) => string;
  readonly leastRole: Role;
  readonly tokenFields: readonly string[];
  readonly rowProofs: DirectoryDependencies['rowProofs'];
};

const applyEvent = async (
  connection: Connection,
  event: DecodedEvent<Followed>,
  { emailHash, leastRole, tokenFields, rowProofs }: Applying,
): Promise<void> => {
  const { version } = event;
  const { userId, email, role } = event.data;
  await writePerson(connection, {
    userId,
    version,
    emailHash: email ? emailHash(email) : email,
    role,
    leastRole,
  });
  // Links sent to the former address may be in other hands.
  if (email !== undefined && event.type === 'user.updated') await deleteResetsOf(connection, userId);
  // A person with an account needs no invitation, however the account was made.
  if (email) await closeInvitationTo(connection, emailHash(email), 'accepted');
  // If the process that began the sign-up is gone, the person still gets the password.
  if (event.type === 'user.registered')
    return settleSignUp({ database: connection, rowProofs }, event.metadata.correlation, userId);
  // A token carries its user's role and the attributes that rights compare. Older tokens end; the next
  // refresh issues one with the new values.
  const data: Readonly<Record<string, unknown>> = event.data;
  if (tokenFields.some((name) => data[name] !== undefined)) await revoke(connection, 'user', String(userId));
};
