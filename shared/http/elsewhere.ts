import type { RequestListener } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** By this header whoever sends a request says that another copy can do it as well. */
export const MAY_MOVE = 'x-may-move';
/** That nothing was done, and another copy is to be asked. No role says 502 of anything else. */
export const MOVED = 502;

/** What is led elsewhere while a process stops. */
export type Elsewhere = {
  readonly handler: RequestListener;
  begin(): void;
  untilNobodyComes(): Promise<void>;
};

/** What comes so soon may still have been sent before all of the sender knew. */
const SETTLED_MS = 400;
/** Who was led elsewhere does not come again for at least a second: nginx by `fail_timeout=1s`. */
const AWAY_MS = 900;
/** Who has not come for so long sends next to nothing. */
const QUIET_MS = 2_500;
const LOOK_AGAIN_MS = 20;

/**
 * Once it has begun, leads elsewhere what may be, and finds the moment in which the listener can be closed:
 * what reaches a port, and not the process, when the process closes the port, is lost, and its sender cannot
 * tell whether it was carried out.
 */
export const leadElsewhere = (handler: RequestListener): Elsewhere => {
  let [hasBegun, mayMove, sinceMs] = [false, false, 0];
  let movedMs: number | undefined;
  const isAway = (nowMs: number): boolean =>
    movedMs !== undefined && nowMs - movedMs >= SETTLED_MS && nowMs - movedMs <= AWAY_MS;
  return {
    handler(request, response) {
      const moves = request.headers[MAY_MOVE] === 'yes';
      mayMove ||= moves;
      if (!hasBegun || !moves) return handler(request, response);
      movedMs = performance.now();
      // An answer before the end of the request would look like a failure to who is sending still.
      request.resume().once('end', () => {
        // Where there is nobody else, nginx goes to this place of its configuration, and asks without the
        // header.
        response
          .writeHead(MOVED, { 'X-Accel-Redirect': '@again', 'Content-Type': 'text/plain' })
          .end('This copy stops: ask another.\n');
      });
    },
    begin() {
      if (!hasBegun) sinceMs = performance.now();
      hasBegun = true;
    },
    async untilNobodyComes() {
      for (
        let nowMs = sinceMs;
        mayMove && !isAway(nowMs) && nowMs - (movedMs ?? sinceMs) <= QUIET_MS;
        nowMs = performance.now()
      ) {
        await delay(LOOK_AGAIN_MS);
      }
      // Then all that has reached the port has just been taken from there.
      await nextTurn();
    },
  };
};
