import type { Pool } from '#shared/database/pool.ts';
import { aggregateHandlers } from '../aggregates/handle.ts';
import { openDecisions } from '../decisions.ts';
import { createExecutor } from '../execute.ts';
import { migrateProcessManager } from '../process-manager/process-manager.ts';
import type { States } from '../states.ts';
import { userRules } from '../users/rules.ts';
import { withEventCommands } from './event-commands.ts';
import { createImporter } from './importer.ts';
import { createLineOrder } from './in-order.ts';
import { readBefore } from './known-keys.ts';
import { checkLines, readLines } from './read-lines.ts';
import { type Rehearsal, rehearse } from './rehearse.ts';

type Importing = Parameters<typeof openDecisions>[0] & {
  readonly signal: AbortSignal;
  onLine?(done: number, of: number): void;
};

/** The numbers of lines by what became of them. */
type ImportReport = {
  readonly imported: number;
  /** Imported by an earlier run. */
  readonly known: number;
  /** The command would have changed nothing. */
  readonly unchanged: number;
  readonly isStopped: boolean;
};

/**
 * Imports a file of commands in its order. Each line is imported once, however often the file is; a line that
 * is refused ends the import, and everything before it stays.
 */
export const importHistory = async (importing: Importing, path: string): Promise<ImportReport> => {
  const { eventLog, signal, clock, onLine = () => undefined } = importing;
  const domain = withEventCommands(importing.domain);
  const { base, newId, limits, administrators } = await openDecisions({ ...importing, domain });
  const { keys, latest } = await readBefore(domain, eventLog, signal);
  const passed = await openPassed(importing.pool);
  const count = await checkLines(path);
  const known = new Set(keys.keys());
  const order = createLineOrder(eventLog, latest);
  const states = onlyWriter(base.states);
  const rules = { user: userRules({ domain, administrators }) };
  const executor = createExecutor({ ...base, log: order.log });
  const handlers = aggregateHandlers(
    { domain, log: eventLog, states, executor, limits, rules },
    { withInternal: true },
  );
  const { demandTime } = order;
  const importer = createImporter({ domain, states, handlers, newId, clock, demandTime }, keys);
  const report = { imported: 0, known: 0, unchanged: 0 };
  const note = (of: keyof typeof report): void => {
    report[of] += 1;
    onLine(report.imported + report.known + report.unchanged, count);
  };
  for await (const line of readLines(path)) {
    if (signal.aborted) break;
    if (known.has(line.key)) note('known');
    else if (passed.keys.has(line.key)) note('unchanged');
    else if (await order.run(line, () => importer.take(line))) note('imported');
    else {
      await passed.add(line.key);
      note('unchanged');
    }
  }
  return { ...report, isStopped: signal.aborted };
};

/** Checks all lines of a file as far as possible without their decisions, and imports nothing. */
export const rehearseHistory = async (
  importing: Importing & { report(sentence: string): Promise<void> },
  path: string,
): Promise<Rehearsal> => {
  const { eventLog, signal, clock, pool } = importing;
  const domain = withEventCommands(importing.domain);
  const { base } = await openDecisions({ ...importing, domain });
  const { keys, latest } = await readBefore(domain, eventLog, signal);
  const { keys: passed } = await openPassed(pool);
  const { states } = base;
  return rehearse({ ...importing, domain, states, keys, passed, latest, nowMs: clock.nowMs() }, path);
};

/** Nobody else writes to the log meanwhile, so that a state in memory is the present one. */
const onlyWriter = (states: States): States => ({
  ...states,
  load: async (decider, stream) => states.recall(decider, stream) ?? states.load(decider, stream),
});

/** Lines that changed nothing. Run again, such a line might change what later lines have made of it. */
type Passed = {
  readonly keys: ReadonlySet<string>;
  add(key: string): Promise<void>;
};

const openPassed = async (pool: Pool): Promise<Passed> => {
  await migrateProcessManager(pool);
  const { rows } = await pool.query<{ key: string }>('select key from process_manager.import_passed');
  return {
    keys: new Set(rows.map(({ key }) => key)),
    add: async (key) =>
      void (await pool.query(
        'insert into process_manager.import_passed (key) values ($1) on conflict do nothing',
        [key],
      )),
  };
};
