import { StreamCut } from '#shared/event-log/errors.ts';
import type { KeptLog, RefusedEvent } from './authentic-log.ts';
import type { OpenedLog } from './opened-log.ts';

type OnUnreadable = (error: unknown, event: RefusedEvent) => void;

/** Somebody may have written an event as it was, removed it, or decided about it: then it is no longer named. */
export const lookAgain = async (
  log: KeptLog,
  { readAgain, page }: Pick<OpenedLog, 'readAgain' | 'page'>,
  onUnreadable: OnUnreadable,
): Promise<void> => {
  for (const event of log.refused) {
    const isRefused = await Array.fromAsync(readAgain(event, log))
      .catch(ifCut)
      .then(
        (found) =>
          found
            .flat()
            .some(({ position, notAuthentic }) => position === event.position && notAuthentic !== undefined),
        (error: unknown) => {
          onUnreadable(error, event);
          return true;
        },
      );
    if (!isRefused) log.forget(event);
  }
  if (log.refused.length === 0) await lookForUnnamed(log, page);
};

/** Reads the whole log up to the last event that was one too many to be named: those that are not right yet are named now. */
const lookForUnnamed = async (log: KeptLog, page: OpenedLog['page']): Promise<void> => {
  const { unnamed } = log;
  if (unnamed === undefined) return;
  for (let { after } = unnamed; after < unnamed.upTo; ) {
    const { last, isAway } = await page(after, log);
    if (isAway || log.refused.length > 0) return;
    if (last === after) break;
    after = last;
  }
  log.forgetUnnamed(unnamed);
};

/** An operator of EventStoreDB has removed the event. */
const ifCut = (error: unknown): readonly [] => {
  if (error instanceof StreamCut) return [];
  throw error;
};
