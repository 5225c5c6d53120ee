import type { Log } from '#shared/log.ts';
import { KEY_LOST } from './errors.ts';

const TOGETHER_MS = 10_000;

/**
 * Returns whether an event was unreadable because the key of its person is lost. If a database was lost, that
 * may apply to very many events: they are counted, and reported together.
 */
export type LostKeys = Disposable & { count(reason: string): boolean };

export const reportLostKeys = (log: Pick<Log, 'error'>, whose: string): LostKeys => {
  let events = 0;
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (events > 0) log.error({ events }, `${whose} ${ADVICE}`);
    events = 0;
  };
  return {
    count(reason) {
      if (!reason.endsWith(KEY_LOST)) return false;
      events += 1;
      timer ??= setTimeout(report, TOGETHER_MS).unref();
      return true;
    },
    [Symbol.dispose]: report,
  };
};

const ADVICE =
  'the keys of their persons are not in this database: follow “The database is lost, and the log is not” in docs/backup.md.';
