import type { Readiness } from '#edge/http/health.ts';
import type { Charge, Charged } from '#edge/rate-limit/gcra.ts';
import type { MetricsSnapshot } from './sum-metrics.ts';

/** Environment variables by which the primary process configures a worker. */
export const WORKER_NAME = 'ANNALS_WORKER';
export const WORKER_IS_FIRST = 'ANNALS_WORKER_IS_FIRST';

/** The worker that follows the event log; the others serve clients, and have numbers. */
export const FOLLOWERS = 'followers';

/** The requests of the primary process to a worker. */
export type OfWorker = {
  readonly metrics: { readonly asked: undefined; readonly answered: MetricsSnapshot };
  readonly readiness: { readonly asked: undefined; readonly answered: Readiness };
  /** Whether another worker has replaced it: clients then get the time to go there. */
  readonly stop: { readonly asked: { readonly isReplaced: boolean }; readonly answered: undefined };
};

/** The requests of a worker to the primary process. */
export type OfPrimary = {
  readonly ready: { readonly asked: { readonly url: string | undefined }; readonly answered: undefined };
  readonly charge: { readonly asked: readonly Charge[]; readonly answered: readonly Charged[] };
  /** Of the worker with the followers. */
  readonly readiness: { readonly asked: undefined; readonly answered: Readiness };
  readonly farewell: { readonly asked: MetricsSnapshot; readonly answered: undefined };
};
