import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ErasureList } from '#shared/erasure/erasure-list.ts';
import { reportErasure } from '#shared/erasure/report.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { may } from '#shared/policy.ts';
import type { Reads } from '../rest/read-routes.ts';

type ErasureDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'read' | 'follow' | 'head'>;
  readonly blobs: Pick<Blobs, 'find'>;
  readonly erasures: Pick<ErasureList, 'read' | 'path'>;
};

/** The timeout for one report. The command line makes reports that take longer. */
const REPORT_MAX_MS = 60_000;

const RETRY_AFTER_SECONDS = '10';

/**
 * A report reads much of the log, so one runs at a time. There is no queue, because requests would stay in it
 * whose clients have left.
 */
export const erasureReads = (dependencies: ErasureDependencies): Reads<'getErasureOfUser'> => {
  let isReporting = false;
  return {
    async getErasureOfUser({ caller, id }) {
      if (!may(caller, 'events.export', {})) throw new Rejection('forbidden');
      const userId = pathId(id) as UserId | undefined;
      if (userId === undefined) throw new Rejection('not_erased');
      if (isReporting)
        throw new HttpProblem('unavailable', {
          detail: 'Another report is running; retry later.',
          headers: { 'Retry-After': RETRY_AFTER_SECONDS },
        });
      isReporting = true;
      const report = await reportErasure(dependencies, userId, AbortSignal.timeout(REPORT_MAX_MS)).finally(
        () => {
          isReporting = false;
        },
      );
      if (report === undefined) throw new Rejection('not_erased');
      return { kind: 'item', version: undefined, item: report };
    },
  };
};
