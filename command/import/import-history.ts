import { aggregateHandlers } from '../aggregates/handle.ts';
import { openDecisions } from '../decisions.ts';
import { createExecutor } from '../execute.ts';
import type { States } from '../states.ts';
import { userRules } from '../users/rules.ts';
import { withEventCommands } from './event-commands.ts';
import { createImporter, declaredIn } from './importer.ts';
import { createLineOrder } from './in-order.ts';
import { readBefore } from './known-keys.ts';
import { checkLines, readLines } from './read-lines.ts';
import { createSubjects, isAlone } from './subjects.ts';

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
  const { count, lastKnown } = await checkLines(path, (key) => keys.has(key));
  const known = new Set(keys.keys());
  const order = createLineOrder(eventLog, latest);
  const states = onlyWriter(base.states);
  const rules = { user: userRules({ domain, administrators }) };
  const executor = createExecutor({ ...base, log: order.log });
  const handlers = aggregateHandlers(
    { domain, log: eventLog, states, executor, limits, rules },
    { withInternal: true },
  );
  const importer = createImporter({ domain, states, handlers, newId, clock }, keys);
  const subjectsOf = createSubjects(keys);
  const report = { imported: 0, known: 0, unchanged: 0 };
  const note = (of: keyof typeof report): void => {
    report[of] += 1;
    onLine(report.imported + report.known + report.unchanged, count);
  };
  for await (const line of readLines(path)) {
    if (signal.aborted) break;
    if (known.has(line.key)) {
      note('known');
      continue;
    }
    const [kind, command] = declaredIn(domain, line);
    const alone = isAlone(kind, command);
    if (alone) await order.finish();
    await order.begin(line, {
      subjects: subjectsOf(line),
      run: () => importer.take(line, { isRepeat: line.number < lastKnown }),
      done: (hasEvents) => note(hasEvents ? 'imported' : 'unchanged'),
    });
    if (alone) await order.finish();
  }
  await order.finish();
  return { ...report, isStopped: signal.aborted };
};

/** Nobody else writes to the log meanwhile, so that a state in memory is the present one. */
const onlyWriter = (states: States): States => ({
  ...states,
  load: async (decider, stream) => states.recall(decider, stream) ?? states.load(decider, stream),
});
