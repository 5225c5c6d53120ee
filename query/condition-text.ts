import type { SqlWriter } from '#kernel/conditions/sql.ts';

/** Makes conditions of rights as text, for statements whose values are added one by one; `viewer` is the place of the caller's id. */
export const writerFor = (viewer: string): SqlWriter<string> => ({
  sql: (strings, ...holes) => String.raw(strings, ...holes),
  name: (word) => word,
  constant: (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)),
  table: (name) => `read_model.${name}`,
  viewer,
});
