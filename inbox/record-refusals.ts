import { v7 } from 'uuid';
import { migrateOperations } from '#process/operations/migrate.ts';
import {
  REFUSED_KEPT_MAX,
  type RefusedMessage,
  recordRefusedMessages,
} from '#process/operations/refused-messages.ts';
import { type Clock, dateElsewhereMs, type Timer } from '#shared/clock/clock.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

type Dependencies = { readonly pool: Pool; readonly clock: Clock; readonly log: Log };

export type RefusalRecorder = AsyncDisposable & {
  record(refused: Refused): void;
};

/** As it was refused; what is written by others may be any text. */
type Refused = Omit<RefusedMessage, 'id' | 'at'>;

/** An attack costs the database one statement in this time, for each process. */
const WRITE_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 10_000;
const DELETE_OLD_EVERY_MS = 3_600_000;

/**
 * Records refused messages after their answers. A killed process may lose the last of them, which are in its log;
 * an answer never waits for the list, nor fails with it.
 */
export const openRefusalRecorder = async ({ pool, clock, log }: Dependencies): Promise<RefusalRecorder> => {
  await migrateOperations(pool);
  const waiting = new Map<string, RefusedMessage[]>();
  let timer: Timer | undefined;
  let writing: Promise<void> | undefined;
  let isClosing = false;
  let mayWriteAtMs = clock.elapsedMs();
  const add = (message: RefusedMessage): void => {
    const key = `${message.sender} ${message.code}`;
    waiting.set(key, [...(waiting.get(key) ?? []), message].slice(-REFUSED_KEPT_MAX));
  };
  const write = async (): Promise<void> => {
    const messages = [...waiting.values()].flat();
    waiting.clear();
    mayWriteAtMs = clock.elapsedMs() + WRITE_EVERY_MS;
    try {
      await recordRefusedMessages(pool, messages);
    } catch (err) {
      log.error({ err, messages: messages.length }, 'Refused messages could not be recorded in their list.');
      if (!isPassing(err)) return;
      mayWriteAtMs = clock.elapsedMs() + RETRY_AFTER_MS;
      const later = [...waiting.values()].flat();
      waiting.clear();
      for (const message of [...messages, ...later]) add(message);
    }
  };
  const plan = (): void => {
    if (timer !== undefined || writing !== undefined || isClosing) return;
    timer = clock.after(Math.max(0, mayWriteAtMs - clock.elapsedMs()), () => {
      timer = undefined;
      writing = write().finally(() => {
        writing = undefined;
        if (waiting.size > 0) plan();
      });
    });
  };
  const deleting = clock.every(DELETE_OLD_EVERY_MS, plan).unref();
  // Deletes the old ones of a process that was stopped for long.
  plan();
  return {
    record(refused) {
      add(storable(refused, new Date(dateElsewhereMs(clock))));
      plan();
    },
    async [Symbol.asyncDispose]() {
      isClosing = true;
      deleting[Symbol.dispose]();
      timer?.[Symbol.dispose]();
      await writing;
      if (waiting.size > 0) await write();
    },
  };
};

const TEXT_MAX = 500;

/** The database takes any other text, such as one with a NUL, for an error. */
const legible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, TEXT_MAX)
    .toWellFormed();

const legibleOr = (text: string | null): string | null => (text === null ? null : legible(text));

const storable = (
  { sender, code, reason, messageId, messageType, bytes, sha256, request }: Refused,
  at: Date,
): RefusedMessage => ({
  ...{ id: v7(), at, sender, code, sha256 },
  ...{ reason: legible(reason), request: legible(request) },
  ...{ messageId: legibleOr(messageId), messageType: legibleOr(messageType) },
  bytes: Number.isSafeInteger(bytes) ? bytes : null,
});
