import type { RequestListener } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#shared/clock/clock.ts';

/** With this header a sender states that another replica can serve the request as well. */
export const MAY_MOVE = 'x-may-move';
/**
 * Means that the request was not processed, and another replica should get it. Roles use 502 for nothing
 * else.
 */
export const MOVED = 502;

/** Redirects requests to other replicas while a process stops. */
export type DrainRedirect = {
  readonly handler: RequestListener;
  begin(): void;
  untilNobodyComes(): Promise<void>;
};

/** The sender may have sent requests of this age before all of it knew. */
export const SETTLED_MS = 400;
/** A redirected sender stays away for at least a second: nginx by `fail_timeout=1s`. */
const AWAY_MS = 900;
/** A sender that was silent for this long sends next to nothing. */
export const QUIET_MS = 2_500;
const LOOK_AGAIN_MS = 20;

/**
 * Once begun, redirects the requests that may move, and finds the moment to close the listener. Requests that
 * have reached the port but not the process are lost when the port closes, and their sender does not know
 * whether they were carried out.
 */
export const createDrainRedirect = (handler: RequestListener, clock: Clock): DrainRedirect => {
  let [hasBegun, mayMove, sinceMs] = [false, false, 0];
  let movedMs: number | undefined;
  const isAway = (nowMs: number): boolean =>
    movedMs !== undefined && nowMs - movedMs >= SETTLED_MS && nowMs - movedMs <= AWAY_MS;
  return {
    handler(request, response) {
      const moves = request.headers[MAY_MOVE] === 'yes';
      mayMove ||= moves;
      if (!hasBegun || !moves) return handler(request, response);
      movedMs = clock.elapsedMs();
      // A response before the end of the request would look like a failure to a client that still sends.
      request.resume().once('end', () => {
        // Without another replica, nginx goes to this location of its configuration, and retries without the
        // header.
        response
          .writeHead(MOVED, { 'X-Accel-Redirect': '@again', 'Content-Type': 'text/plain' })
          .end('This replica is stopping: send the request to another.\n');
      });
    },
    begin() {
      if (!hasBegun) sinceMs = clock.elapsedMs();
      hasBegun = true;
    },
    async untilNobodyComes() {
      for (
        let nowMs = sinceMs;
        mayMove && !isAway(nowMs) && nowMs - (movedMs ?? sinceMs) <= QUIET_MS;
        nowMs = clock.elapsedMs()
      ) {
        await clock.sleep(LOOK_AGAIN_MS);
      }
      // By then every request that had reached the port was accepted.
      await nextTurn();
    },
  };
};
