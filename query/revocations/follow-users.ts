import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import { LogWentBack } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';
import type { Log } from '#shared/log.ts';
import { createRevokeChanged } from './changed-users.ts';

type Options = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'head' | 'follow'>;
  readonly access: Pick<LastingAccess, 'revokeUser'>;
  readonly log: Log;
  readonly clock: Clock;
};

const RETRY_MS = 1_000;

/**
 * Follows the log from now on, and revokes the tokens of changed and deleted users in this process. Decodes only
 * the events of users. For a role without a feed of changes, which does the same with what it delivers.
 */
export const followChangedUsers = async ({
  domain,
  eventLog,
  access,
  log,
  clock,
}: Options): Promise<AsyncDisposable> => {
  const catalogue = catalogueOf(domain);
  const revokeChanged = createRevokeChanged(domain, access);
  let after = await eventLog.head();
  const follow = async (signal: AbortSignal): Promise<void> => {
    for await (const events of eventLog.follow(after, signal)) {
      const ofUsers = events.filter(({ stream }) => stream.startsWith('user-'));
      revokeChanged(
        ofUsers.flatMap((event) => {
          const clear = decodeClear(catalogue, event);
          return clear === undefined ? [] : [{ ...clear, version: event.version }];
        }),
      );
      after = events.at(-1)?.position ?? after;
    }
  };
  return repeat({
    work: follow,
    wait: (signal) => clock.sleep(RETRY_MS, signal),
    onFailure(err) {
      // The guard of the history logs the other one.
      if (!(err instanceof LogWentBack))
        log.warn({ err }, 'Following the changes of users failed; retrying.');
    },
  });
};
