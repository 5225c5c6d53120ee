import { OF_ROWS } from './of-rows.ts';
import { OF_THE_LOG } from './of-the-log.ts';
import { OF_THE_SCHEMA } from './of-the-schema.ts';
import type { Tampering } from './tampering.ts';

export const TAMPERINGS: readonly Tampering[] = [...OF_THE_LOG, ...OF_ROWS, ...OF_THE_SCHEMA];
