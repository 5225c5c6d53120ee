import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { aggregateHandlers } from '../aggregates/handle.ts';
import { openDecisions } from '../decisions.ts';
import { createExecutor } from '../execute.ts';
import { migrateProcessManager } from '../process-manager/process-manager.ts';
import type { States } from '../states.ts';
import { userRules } from '../users/rules.ts';
import { withEventCommands } from './event-commands.ts';
import { createImporter } from './importer.ts';
import { readBefore, requestOf } from './known-keys.ts';
import type { ImportLine } from './line.ts';
import { checkLines, readLines } from './read-lines.ts';
import { FaultOfLine } from './resolve-names.ts';

type Importing = Parameters<typeof openDecisions>[0] & {
  readonly signal: AbortSignal;
  onLine?(done: number, of: number): void;
};

/** The numbers of lines by what became of them. */
export type ImportReport = {
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

/**
 * Imports one line after the other, because each is decided on what the lines before it have changed, and the
 * log must have their order.
 */
const createLineOrder = (log: EventLog, latestBefore: string) => {
  let latest = latestBefore;
  let current = '';
  let hasEvents = false;
  const append: EventLog['append'] = async (stream, expected, events, options) => {
    const appended = await log.append(stream, expected, events, options);
    if (String(events[0]?.metadata.request) === current) hasEvents = true;
    return appended;
  };
  return {
    log: { ...log, append } satisfies EventLog,
    /** Before anything of the line is decided, so that a refused one leaves nothing behind. */
    demandTime({ at }: ImportLine): void {
      if (at < latest)
        throw new FaultOfLine(
          `its time, ${at}, is before ${latest}, that of an event in the log: import before anything else happens, into an installation without users, with the lines in the order of time`,
        );
    },
    /** Returns whether the line has events. */
    async run(line: ImportLine, take: () => Promise<void>): Promise<boolean> {
      current = requestOf(line.key);
      hasEvents = false;
      await take();
      if (hasEvents) latest = line.at;
      return hasEvents;
    },
  };
};
