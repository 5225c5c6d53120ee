import { assemble } from 'annals';
import { base } from './base.ts';
import { treatment } from './treatment.ts';

export const records = assemble(base, [treatment]);
