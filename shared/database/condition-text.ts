import type { SqlWriter } from '#kernel/conditions/sql.ts';
import { LIVE_SCHEMA } from './read-model-schemas.ts';

/** Writes a condition that depends on no caller, on the live read model; all of it comes from the declaration. */
export const CONDITION_AS_TEXT: SqlWriter<string> = {
  sql: (strings, ...holes) => String.raw({ raw: strings }, ...holes),
  name: (word) => word,
  constant: (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)),
  table: (name) => `${LIVE_SCHEMA}.${name}`,
  viewer: '$1',
  attribute: () => 'null',
};
