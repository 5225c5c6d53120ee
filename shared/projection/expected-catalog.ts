import type { Further } from '#shared/database/catalog/expected-catalog.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { readDefinition } from './definition.ts';
import { digestFingerprintOf, keepDigest } from './kept-digest.ts';
import { createTables } from './schema.ts';
import { keepViews } from './views.ts';

/**
 * Creates an empty read model in a schema: as this release does, or as the first releases did, whose tables stay
 * as long as they have the same rows.
 */
export const emptyReadModel = (tables: Tables, schema: string, form: 'present' | 'first'): Further => ({
  schema,
  async create(connection: Connection, into: string) {
    const definition = await readDefinition(tables);
    const marks = { schema: definition.fingerprint.schema };
    const isFirst = form === 'first';
    await createTables(connection, into, {
      tables: isFirst ? definition.firstTables : definition.tables,
      marks,
    });
    for (const index of definition.indexes) await connection.query(index);
    await keepViews(connection, tables);
    if (!isFirst) return keepDigest(connection, tables);
    for (const statement of digestFingerprintOf(tables)) await connection.query(statement);
  },
});
