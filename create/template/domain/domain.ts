import { assemble } from 'annals';
import { base } from './base.ts';
import { note } from './note.ts';

/** All that is served. */
export const served = assemble(base, [note]);
