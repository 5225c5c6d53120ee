import { randomUUID } from 'node:crypto';
import { type Log, openLog } from './log.ts';
import type { LogRecord } from './records.ts';

/** The part of the cluster's log that one node shows. */
type View = {
  log(): Log;
  lag(less?: number): void;
  standAlone(events: number): void;
  catchUp(): void;
};

export const viewOf = (whole: Log): View => {
  const listeners = new Set<(records: readonly LogRecord[]) => void>();
  const notify = (records: readonly LogRecord[]): void => {
    for (const listen of listeners) listen(records);
  };
  /** For a lagging node: the number of its records. */
  let count: number | undefined;
  let alone: Log | undefined;
  whole.onVisible((records) => {
    if (count === undefined) notify(records);
  });
  const shared: Log = {
    ...whole,
    visibleCount: () => count ?? whole.visibleCount(),
    endPosition: () =>
      (count === undefined ? undefined : whole.records[count]?.position) ?? whole.endPosition(),
    onVisible(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    log: () => alone ?? shared,
    lag(less = 0) {
      count = whole.visibleCount() - less;
    },
    standAlone(events) {
      const common = whole.records.slice(0, whole.visibleCount());
      alone = openLog({ changes: [common] });
      const copied = common
        .filter(({ kind, stream }) => kind === 'event' && !stream.startsWith('$'))
        .slice(-events);
      for (const record of copied) alone.append(record.stream, 'any', [{ ...record, id: randomUUID() }]);
    },
    catchUp() {
      const from = count ?? whole.visibleCount();
      [count, alone] = [undefined, undefined];
      notify(whole.records.slice(from, whole.visibleCount()));
    },
  };
};
