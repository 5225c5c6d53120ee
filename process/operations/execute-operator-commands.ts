import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import { literal } from '#shared/database/literal.ts';
import type { Pool } from '#shared/database/pool.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import type { Log } from '#shared/log.ts';
import { migrateOperations } from './migrate.ts';
import {
  dropOldOperatorCommands,
  finishOperatorCommand,
  LostOperatorCommand,
  type OperatorCommandKind,
  type TakenOperatorCommand,
  takeOperatorCommand,
} from './operator-commands.ts';

type OperatorCommandExecutor = {
  /** Of the lease: one process at a time carries these kinds out. */
  readonly name: string;
  readonly pool: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly kinds: readonly OperatorCommandKind[];
  /**
   * Carries out an operator command and records the outcome. A refusal is recorded for it; after any other
   * failure the command starts over. It stops when the signal aborts, and another process starts over.
   */
  execute(command: TakenOperatorCommand, signal: AbortSignal): Promise<void>;
};

/** How often it looks although the pulse has shown nothing. */
const LOOK_EVERY_MS = 60_000;

/** Carries out operator commands, one after the other, in one process at a time. */
export const startExecuting = async (executor: OperatorCommandExecutor): Promise<AsyncDisposable> => {
  const { name, pool, log, clock, kinds } = executor;
  await migrateLeases(pool);
  await migrateOperations(pool);
  const pulse = pulseOf(pool);
  const onFailure = (err: unknown) => log.error({ err }, 'An operator command failed and is started again.');
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    await dropOldOperatorCommands(pool);
    while (!signal.aborted) {
      const command = await takeOperatorCommand(pool, kinds);
      if (command) await executeOne(executor, command, signal);
      else await pulse.wait({ until: areAsked(kinds), clock, timeoutMs: LOOK_EVERY_MS, signal });
    }
  };
  return untilDisposed((stopping) => runUnderLease({ pool, name, clock, onFailure }, work, stopping));
};

/** SQL that is true if there is an unfinished command of these kinds. */
const areAsked = (kinds: readonly OperatorCommandKind[]): string =>
  `exists (select from operations.asked where kind in (${kinds.map(literal).join()}) and state in ('waiting', 'running'))`;

const executeOne = async (
  { pool, log, execute }: OperatorCommandExecutor,
  command: TakenOperatorCommand,
  signal: AbortSignal,
): Promise<void> => {
  log.info({ command }, 'An operator command starts.');
  try {
    await execute(command, signal);
  } catch (error) {
    if (signal.aborted || error instanceof LostOperatorCommand) return;
    if (!(error instanceof StartRefused)) throw error;
    await finishOperatorCommand(pool, command, { state: 'failed', outcome: error.message });
  }
};
