import { StreamCut } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { findCut } from '#shared/event-log/find-cut.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { Findings } from './findings.ts';
import type { Verification } from './plan.ts';

/** A log whose cut streams read as if they had no events, so that a verification goes on with the others. */
export const readingAroundCuts = (eventLog: EventLog): EventLog => ({
  ...eventLog,
  async *read(stream, from, to) {
    try {
      yield* eventLog.read(stream, from, to);
    } catch (error) {
      if (!(error instanceof StreamCut)) throw error;
    }
  },
});

/** The server may still show their events among all others until it removes them from its disk. */
export const reportCutStreams = async (
  { eventLog, domain, signal }: Pick<Verification, 'eventLog' | 'domain' | 'signal'>,
  findings: Findings,
): Promise<void> => {
  const catalogue = catalogueOf(domain);
  for (const stream of (await eventLog.cutStreams?.())?.streams ?? []) {
    signal.throwIfAborted();
    if (catalogue.kindOf(stream) === undefined) continue;
    const cut = await findCut(eventLog, stream);
    if (cut) findings.add({ kind: 'stream_cut', stream, from: cut.lacks.from, to: cut.lacks.to ?? null });
  }
};
