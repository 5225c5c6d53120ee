import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { readPublicHeads } from '../cosign/public-heads.ts';
import { type Newest, writeNewest } from '../heads/write-newest.ts';
import { publishTreeTo } from './publish-tree.ts';

type Dependencies = {
  readonly files: PublishedFiles;
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly clock: Clock;
  readonly log: Log;
};

/** A head takes a handful of files, each a request to a bucket. */
const PUBLISH_EVERY_MS = 5_000;

/** Publishes the newest head of the tree as files, whenever it is offered one. */
export const startPublishing = ({
  files,
  pool,
  masterKey,
  eventLog,
  clock,
  log,
}: Dependencies): Newest<string> => {
  const publish = publishTreeTo({
    ...{ files, pool, masterKey, log: eventLog.identity },
    onNotRemoved: (err) =>
      log.warn({ err }, 'The tree is published, but partial tiles that were filled cannot be removed.'),
  });
  return writeNewest({
    clock,
    everyMs: PUBLISH_EVERY_MS,
    // The newest head that enough witnesses have cosigned, if that is new; else the newest of all.
    write: async (note, signal) => {
      const { witnessed, newest } = await readPublicHeads(pool);
      await publish(
        [witnessed?.note, newest?.note, note].filter((each) => each !== undefined),
        signal,
      );
    },
    onFailure: (err) => log.error({ err }, 'The tree cannot be published.'),
  });
};
