import type { ProcessContext } from '#process/run.ts';
import { proof } from './proof/rest/served.ts';
import { startRole as startQueryRole } from './query/role.ts';

/** The query role alone, with the proof. */
export const startRole = (context: ProcessContext): Promise<void> => startQueryRole(context, proof);
