import { StartRefused } from '#kernel/base/start-refused.ts';
import { PREVIOUS } from '#shared/database/read-model-schemas.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { rollback } from '#shared/projection/rollback.ts';
import type { Command } from './arguments/command.ts';
import { duration, number, showProgress } from './output/progress.ts';
import { withProjection } from './projection.ts';

/**
 * A version of the read model is written over several connections, and an index of a large table takes its
 * time.
 */
export const FOR_VERSIONS = { connectionsMax: 6, statementTimeoutMs: 4 * 3_600_000 };

/** The exit code that shells give a program ended by Ctrl+C. */
const INTERRUPTED = 130;

export const projectionRebuild: Command = {
  name: 'projection rebuild',
  summary:
    'Rebuilds the read model from the whole log while it is in use, then swaps it in. Ctrl+C leaves the one in use unchanged.',
  positionals: [],
  options: {},
  examples: ['projection rebuild'],
  run: (_given, terminal) =>
    withProjection(
      terminal,
      async ({ isDense, ...mending }) => {
        const startedAtMs = performance.now();
        using shown = showProgress(terminal, 'Rebuilding', isDense);
        const { events, position } = await rebuild({
          ...mending,
          signal: terminal.signal,
          onProgress: shown.onProgress,
        }).catch(
          explain('the tables built so far are deleted, and the next rebuild starts from the beginning'),
        );
        shown[Symbol.dispose]();
        const tookS = Math.ceil((performance.now() - startedAtMs) / 1_000);
        await terminal.write(
          `The read model was rebuilt: ${number(events)} events in ${duration(tookS)}, up to position ${position}.`,
        );
        if (await isOfThisRelease(mending.pool, mending.tables, PREVIOUS.schema))
          await terminal.write(
            'The previous one is kept. To swap it back in: npm run annals -- projection rollback',
          );
      },
      FOR_VERSIONS,
    ),
};

/** @param what the state of the work after a stop */
export const explain =
  (what: string) =>
  (error: unknown): never => {
    if (error instanceof Stopped)
      throw new StartRefused(`Stopped. The read model is unchanged; ${what}.`, { exitCode: INTERRUPTED });
    throw error;
  };

export const projectionRollback: Command = {
  name: 'projection rollback',
  summary: 'Swaps the previous read model back in, after updating it. Run it again to undo.',
  positionals: [],
  options: {},
  examples: ['projection rollback'],
  run: (_given, terminal) =>
    withProjection(
      terminal,
      async ({ isDense, ...mending }) => {
        using shown = showProgress(terminal, 'Updating the previous version', isDense);
        const position = await rollback({
          ...mending,
          signal: terminal.signal,
          onProgress: shown.onProgress,
        }).catch(explain('the previous version keeps the events applied so far'));
        shown[Symbol.dispose]();
        await terminal.write(`The previous read model is in use again, up to position ${position}.`);
      },
      FOR_VERSIONS,
    ),
};
