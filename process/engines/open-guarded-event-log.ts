import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { demandNewest } from '#shared/event-log/demand-newest.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { type GuardedLog, guardHistory } from '#shared/event-log/guard-history.ts';
import { keepNewest, noteFileIn } from '#shared/event-log/newest-note.ts';
import type { Log } from '#shared/log.ts';
import { logOutages, openConfiguredEventLog, placeOfLog } from './open-event-log.ts';

type Guarding = Parameters<typeof openConfiguredEventLog>[0] & {
  /** The folder of the note of the newest event. */
  readonly auditDir: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Readers need no folder that they can write to. */
  readonly isReader: boolean;
};

/** Opens the log of the settings, unless it has lost events, and watches from then on that it loses none. */
export const openGuardedLog = async ({
  auditDir,
  log,
  isReader,
  ...configured
}: Guarding): Promise<GuardedLog> => {
  const { clock } = configured;
  await using opening = new AsyncDisposableStack();
  const eventLog = opening.use(await openConfiguredEventLog(configured));
  demandNothingLost(eventLog);
  log.info({ identity: eventLog.identity }, `The event log is in ${placeOfLog(configured)}.`);
  const file = noteFileIn(auditDir, eventLog.identity);
  // Before the guard, which notes the present server.
  await demandNewest({ eventLog, file, clock });
  const kept = keepNewest({ file, identity: eventLog.identity, nowMs: () => clock.nowMs(), log });
  const newest = isReader ? { ...kept, keep: async () => {} } : kept;
  opening.move();
  return guardHistory(logOutages(eventLog, { log, clock }), { log, clock, newest });
};

/** Otherwise its new events would count as the lost ones, for every cursor that refers to those. */
const demandNothingLost = ({ identity, lost }: Pick<EventLog, 'identity' | 'lost'>): void => {
  if (!lost?.includes(identity)) return;
  throw new StartRefused(
    'The event log has lost events, and no operator has decided how to continue: ' +
      'follow “The log went back” in docs/runbooks.md. `npm run annals -- log renew` continues with the remaining events.',
  );
};
