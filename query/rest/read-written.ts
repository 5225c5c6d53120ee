import { callerOf } from '#edge/authenticate/authenticate.ts';
import { recordedAs, recordNow } from '#edge/read-log/recorded.ts';
import { demandRight } from '#edge/rest/admission.ts';
import { prepareItem } from '#edge/rest/reads/answer.ts';
import type { ReadWritten } from '#edge/rest/writes/write-routes.ts';
import { parseCursor } from '#kernel/base/cursor.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import type { AnyReads } from './read-routes.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly reads: AnyReads;
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly waitMaxMs: number;
  readonly log: Log;
};

/**
 * For a write with `Prefer: return=representation`: waits until the read model has it, and reads the item as
 * its `GET` does.
 */
export const createReadWritten =
  ({ domain, reads, readPosition, eventLog, waitMaxMs, log }: Dependencies): ReadWritten =>
  async (request, response, { item, result, itemId }) => {
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.once('close', leave);
    try {
      const operation = operationsOf(domain)[item];
      const read = reads[item];
      if (operation === undefined || read === undefined) throw new Error(`There is no read ${item}`);
      demandRight(request, operation);
      const position = parseCursor(eventLog.identity, result.cursor);
      if (!(await readPosition.reaches(position, waitMaxMs, gone.signal))) return undefined;
      const reader = { caller: callerOf(request), id: String(result.id), charge: chargeNothing };
      const as = { via: 'rest', operation: item, query: { prefer: 'return=representation' } } as const;
      const answer = await recordedAs(request, as, () =>
        read({ ...reader, ...(itemId !== undefined && { item: String(itemId) }) }, {} as never),
      );
      if (answer.kind !== 'item') return undefined;
      const send = prepareItem(request, answer);
      // It is written already, so an item that cannot be recorded is left out of the answer.
      await recordNow(request);
      return send;
    } catch (error) {
      // The caller may not read it, it is deleted again, the answer is too large, or the log of reads cannot be
      // written.
      if (!(error instanceof Rejection || error instanceof HttpProblem))
        log.warn({ err: error }, 'The written item could not be read.');
      return undefined;
    } finally {
      response.off('close', leave);
    }
  };

/** The write was charged, and one item as of now costs no more. */
const chargeNothing = async (): Promise<void> => {};
