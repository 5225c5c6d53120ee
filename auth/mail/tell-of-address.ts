import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { UserId, Version } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { beginWhere } from '#shared/follower/checkpoint.ts';
import { startFollower } from '#shared/follower/follower.ts';
import type { Log } from '#shared/log.ts';
import { sameAddress } from '#shared/same-address.ts';
import { DIRECTORY } from '../accounts/directory.ts';
import { migrateAccounts } from '../accounts/person-table.ts';
import type { ReadProfile } from '../provider/profile.ts';
import { ADDRESS_MAIL_KEPT_S, type AddressMail, deleteAddressMail, insertAddressMail, takeAddressMail } from './address-mail-table.ts';
import type { Mail, Message } from './mail.ts';
import { addressChangedMessage, addressGivenMessage } from './messages.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly log: Log;
  readonly metrics: Registry;
  readonly mail: Mail;
  readonly readProfile: ReadProfile;
};

const LOOK_AGAIN_MS = 2_000;
/** Mail may come a second later, and few events are about persons. */
const REST_MS = 1_000;

/**
 * Tells of another e-mail address, at least once, whoever changed it and by whichever interface: at the address of before, and at the
 * new one unless the owner gave it. It goes by the log, because the command role sends no mail; under a lease of its own, because
 * an earlier release may hold that of the directory; and by a table, so that a mail server that does not answer holds up nothing else.
 */
export const startTellingOfAddress = async (dependencies: Dependencies): Promise<AsyncDisposable> => {
  const { pool, log } = dependencies;
  await migrateAccounts(pool);
  await beginWhere(pool, FOLLOWER, DIRECTORY);
  const stopping = new AbortController();
  const { signal } = stopping;
  let wake = Promise.withResolvers<void>();
  const follower = await startFollower({
    ...dependencies,
    name: FOLLOWER,
    restMs: REST_MS,
    write: (events, connection) => insertAddressMail(connection, events.flatMap(mailAbout)),
    committed: () => wake.resolve(),
  });
  const send = async (): Promise<void> => {
    while (!signal.aborted) {
      wake = Promise.withResolvers();
      await sendDue(dependencies, signal).catch((err: unknown) => log.warn({ err }, 'Mail about changed addresses could not be sent.'));
      await Promise.race([wake.promise, delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})]);
    }
  };
  const sending = send();
  return {
    [Symbol.asyncDispose]: async () => {
      await follower[Symbol.asyncDispose]();
      stopping.abort();
      await sending;
    },
  };
};

const FOLLOWER = 'auth-mail';

/** Of any change, because what it changes is sealed: whoever sends it looks whether it was the address. */
const mailAbout = ({ type, stream, version, recordedAt, metadata }: RecordedEvent): readonly AddressMail[] => {
  if (type !== 'user.updated' || Date.now() - recordedAt.getTime() > ADDRESS_MAIL_KEPT_S * 1_000) return [];
  const userId = Number(stream.slice(stream.indexOf('-') + 1)) as UserId;
  const former: AddressMail = { userId, version, toldAt: 'former' };
  return metadata.actor === `user:${userId}` ? [former] : [former, { ...former, toldAt: 'new' }];
};

const sendDue = async ({ pool, log, mail, readProfile }: Dependencies, signal: AbortSignal): Promise<void> => {
  for (let due = await takeAddressMail(pool); due !== undefined; due = await takeAddressMail(pool)) {
    const { userId, version, toldAt } = due;
    try {
      const message = await messageOf(readProfile, due);
      if (message !== undefined) await mail.send(message);
      await deleteAddressMail(pool, due);
    } catch (err) {
      log.warn({ err, userId, version, toldAt }, 'A change of an address could not be told by mail; it is tried again.');
    }
    if (signal.aborted) return;
  }
};

const messageOf = async (readProfile: ReadProfile, { userId, version, toldAt }: AddressMail): Promise<Message | undefined> => {
  const [before, after] = [await readProfile(userId, (version - 1) as Version), await readProfile(userId, version)];
  const to = toldAt === 'former' ? before.email : after.email;
  if (to === undefined || isSame(before.email, after.email)) return undefined;
  return (toldAt === 'former' ? addressChangedMessage : addressGivenMessage)({ to, name: before.name });
};

const isSame = (before: string | undefined, after: string | undefined): boolean =>
  before !== undefined && after !== undefined && sameAddress(before) === sameAddress(after);
