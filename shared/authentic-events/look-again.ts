import { StreamCut } from '#shared/event-log/errors.ts';
import type { KeptLog } from './authentic-log.ts';
import type { OpenedLog } from './opened-log.ts';

/** Somebody may have written an event as it was, removed it, or decided about it: then it is no longer named. */
export const lookAgain = async (log: KeptLog, { readAgain }: Pick<OpenedLog, 'readAgain'>): Promise<void> => {
  for (const event of log.refused) {
    const found = await Array.fromAsync(readAgain(event, log)).catch(ifCut);
    const isRefused = found
      .flat()
      .some(({ position, notAuthentic }) => position === event.position && notAuthentic !== undefined);
    if (!isRefused) log.forget(event);
  }
};

/** An operator of EventStoreDB has removed the event. */
const ifCut = (error: unknown): readonly [] => {
  if (error instanceof StreamCut) return [];
  throw error;
};
