import { findNoted } from '#shared/event-log/demand-newest.ts';
import { noteFileIn } from '#shared/event-log/newest-note.ts';
import type { Findings } from './findings.ts';
import type { Verification } from './plan.ts';

/**
 * The newest event that a process has noted outside of the database must be in the log: heads are signed
 * less often, so its end could be cut off after the newest one.
 */
export const checkNewest = async (
  { eventLog, auditDir }: Pick<Verification, 'eventLog' | 'auditDir'>,
  findings: Findings,
): Promise<void> => {
  const note = await noteFileIn(auditDir, eventLog.identity).read();
  if (!note) return;
  const found = await findNoted(eventLog, note);
  if (found !== note.id)
    findings.add({ kind: 'newest_event_missing', position: note.position, event: note.id });
};
