import type { SqlWriter } from '#kernel/conditions/sql.ts';

/** Makes conditions of rights as text; `addViewer` adds the caller's id to the values where a condition asks for it, and only there. */
export const writerFor = (addViewer: () => string): SqlWriter<string> => ({
  sql: (strings, ...holes) => String.raw(strings, ...holes),
  name: (word) => word,
  constant: (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)),
  table: (name) => `read_model.${name}`,
  get viewer() {
    return addViewer();
  },
});
