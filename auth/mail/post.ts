import type { Log } from '#shared/log.ts';
import { createSemaphore, TooBusy } from '../security/semaphore.ts';
import type { Mail, Message } from './mail.ts';

/**
 * Sends in the background, so that neither its duration nor its failure reveals whether there is such an
 * account.
 */
export type Post = AsyncDisposable & {
  /** False without any mail. */
  readonly isThere: boolean;
  /** False if messages are only printed. */
  readonly reachesPeople: boolean;
  /** The message may be made in the background, too; undefined sends nothing. */
  send(make: () => Promise<Message | undefined>): void;
};

const AT_ONCE_MAX = 2;
const WAITING_MAX = 100;

/** On disposal, queued messages are still sent. */
export const createPost = ({ mail, log }: { mail: Mail | undefined; log: Log }): Post => {
  const limited = createSemaphore({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });
  const underway = new Set<Promise<void>>();
  const deliver = async (make: () => Promise<Message | undefined>): Promise<void> => {
    const message = await make();
    if (message !== undefined) await mail?.send(message);
  };
  return {
    isThere: mail !== undefined,
    reachesPeople: mail?.reachesPeople === true,
    send(make) {
      const sending = limited(() => deliver(make)).catch((err: unknown) =>
        log.warn(
          { err },
          err instanceof TooBusy
            ? 'The queue for mail is full, and one message was not sent.'
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
