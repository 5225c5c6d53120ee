import { rollback } from '#shared/projection/rollback.ts';
import type { Command } from './command.ts';
import { showProgress } from './progress.ts';
import { withProjection } from './projection.ts';
import { explain, FOR_VERSIONS } from './projection-rebuild.ts';

export const projectionRollback: Command = {
  name: 'projection rollback',
  summary: 'Puts the read model from before the last rebuild back in place, brought up to date; doing it again undoes it.',
  positionals: [],
  options: {},
  examples: ['projection rollback'],
  run: (_given, terminal) =>
    withProjection(
      terminal,
      async ({ isDense, ...mending }) => {
        using shown = showProgress(terminal, 'Bringing the previous version up to date', isDense);
        const position = await rollback({ ...mending, signal: terminal.signal, onProgress: shown.onProgress }).catch(
          explain('the previous version keeps what it has taken in'),
        );
        shown[Symbol.dispose]();
        await terminal.write(`The previous read model is in place again, up to position ${position}.`);
      },
      FOR_VERSIONS,
    ),
};
