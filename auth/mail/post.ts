import type { Log } from '#shared/process/log.ts';
import { createTurns, TooBusy } from '../accounts/turns.ts';
import type { Mail, Message } from './mail.ts';

/**
 * Sends without anybody waiting: how long it takes, and whether it works, tells nobody whether there is such
 * an account.
 */
export type Post = AsyncDisposable & {
  /** False where there is no mail at all. */
  readonly isThere: boolean;
  /** False where messages are only printed. */
  readonly reachesPeople: boolean;
  /** The message may be made meanwhile; nothing is sent where there is none. */
  send(make: () => Promise<Message | undefined>): void;
};

const AT_ONCE_MAX = 2;
const WAITING_MAX = 100;

/** What waits at the end is still sent. */
export const createPost = ({ mail, log }: { mail: Mail | undefined; log: Log }): Post => {
  const inTurn = createTurns({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });
  const underway = new Set<Promise<void>>();
  const deliver = async (make: () => Promise<Message | undefined>): Promise<void> => {
    const message = await make();
    if (message !== undefined) await mail?.send(message);
  };
  return {
    isThere: mail !== undefined,
    reachesPeople: mail?.reachesPeople === true,
    send(make) {
      const sending = inTurn(() => deliver(make)).catch((err: unknown) =>
        log.warn(
          { err },
          err instanceof TooBusy
            ? 'Too much mail waits, and one message was not sent.'
            : 'Mail could not be sent.',
        ),
      );
      underway.add(sending);
      void sending.then(() => underway.delete(sending));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(underway);
    },
  };
};
