import type { Readiness } from '../http/health.ts';
import type { Charge, Charged } from '../rate-limit/gcra.ts';
import type { MetricsSnapshot } from './sum-metrics.ts';

/** The worker that follows the event log; the others serve clients, and have numbers. */
export const FOLLOWERS = 'followers';

/** What the primary process asks a worker. */
export type OfWorker = {
  readonly metrics: { readonly asked: undefined; readonly answered: MetricsSnapshot };
  readonly readiness: { readonly asked: undefined; readonly answered: Readiness };
  /** Whether another worker has taken its place: then clients are given the time to go there. */
  readonly stop: { readonly asked: { readonly isReplaced: boolean }; readonly answered: undefined };
};

/** What a worker asks the primary process. */
export type OfPrimary = {
  readonly ready: { readonly asked: { readonly url: string | undefined }; readonly answered: undefined };
  readonly charge: { readonly asked: readonly Charge[]; readonly answered: readonly Charged[] };
  /** Of the worker with the followers. */
  readonly readiness: { readonly asked: undefined; readonly answered: Readiness };
  /** What it has counted, the last time. */
  readonly farewell: { readonly asked: MetricsSnapshot; readonly answered: undefined };
};
