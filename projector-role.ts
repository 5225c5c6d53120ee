import type { ProcessContext } from '#process/run.ts';
import { startRole as startProjectorRole } from './projector/role.ts';
import { runningProof } from './proof/service.ts';

/** The projector role alone, with the proof. */
export const startRole = (context: ProcessContext): Promise<void> =>
  startProjectorRole(context, runningProof);
