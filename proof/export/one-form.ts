import { StartRefused } from '#kernel/base/start-refused.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

/** A copy of an event has the hash of its content, so one that is chained in another form has no copy. */
export const demandOneForm = ({
  chained,
  stream,
  version,
}: Pick<RecordedEvent, 'chained' | 'stream' | 'version'>): void => {
  if (chained)
    throw new StartRefused(
      `Version ${version} of ${stream} was accepted by an operator after it was chained as a record of somebody else, so it cannot be copied: docs/audit.md, “Authentic events”.`,
    );
};
