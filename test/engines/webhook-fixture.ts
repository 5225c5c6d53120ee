import { test as base } from 'vitest';
import { migrateLedger } from '../../webhook-dispatcher/ledger/migrate.ts';
import { startPlanner } from '../../webhook-dispatcher/plan.ts';
import type { PlannedRuns } from '../../webhook-dispatcher/planned-runs.ts';
import { openRunProcess } from './run-by-hand.ts';
import { createWebhookSide } from './webhook-side.ts';

/**
 * Webhooks for each file. Tests may ask for a running dispatcher, for the dependencies of one with its ledger,
 * or for a planner, whose runs they start by hand.
 */
export const test = base
  .extend('openWebhooks', { scope: 'file' }, () => createWebhookSide)
  .extend('webhooks', { scope: 'file' }, async ({ openWebhooks }, { onCleanup }) => {
    const webhooks = await openWebhooks();
    onCleanup(() => webhooks[Symbol.asyncDispose]());
    return webhooks;
  })
  .extend('dispatcherSettings', { scope: 'file' }, {} as Readonly<Record<string, string>>)
  .extend('dispatcher', { scope: 'file' }, async ({ dispatcherSettings, webhooks }, { onCleanup }) => {
    const dispatcher = await webhooks.start(dispatcherSettings);
    onCleanup(() => dispatcher[Symbol.asyncDispose]());
    return dispatcher;
  })
  .extend('dependencies', { scope: 'file' }, async ({ webhooks }, { onCleanup }) => {
    const dependencies = await webhooks.dependencies();
    onCleanup(() => dependencies[Symbol.asyncDispose]());
    await migrateLedger(dependencies.pool);
    return dependencies;
  })
  .extend('onPlanned', { scope: 'file' }, () => (_runs: PlannedRuns): void => {})
  .extend('planner', { scope: 'file' }, async ({ dependencies, onPlanned }, { onCleanup }) => {
    const planner = await startPlanner({ ...dependencies, planned: onPlanned });
    onCleanup(() => planner[Symbol.asyncDispose]());
    return planner;
  })
  /** Runs what the planner has planned, like a worker of a process of its own. */
  .extend(
    'openProcess',
    { scope: 'file' },
    ({ dependencies, planner: _planning }) =>
      (wraps: Parameters<typeof openRunProcess>[1] = {}) =>
        openRunProcess(dependencies, wraps),
  );

/** The same, if no test of the file measures the dispatcher’s pauses, polls and rests: they are shortened. */
export const quickTest = test.extend(
  'openWebhooks',
  { scope: 'file' },
  () => () => createWebhookSide(undefined, { isQuick: true }),
);
