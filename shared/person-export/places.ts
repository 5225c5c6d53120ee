import type { JsonObject } from '#kernel/base/json.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { readModels } from '#shared/erasure/copies.ts';
import { type NamedTable, OUTSIDE, selectTables } from '#shared/erasure/places.ts';
import {
  SCHEMAS,
  sectionOfLook,
  shownOf,
  TABLES,
  TABLES_OF_READ_MODEL,
} from '#shared/erasure/tables-of-product.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { sectionNamesOf } from './rows.ts';
import type { PersonExportDependencies } from './section.ts';

/** Every table of the database, by its catalog, with the sections that show it or why none does. */
export async function* placesOfExport({
  domain,
  pool,
}: Pick<PersonExportDependencies, 'domain' | 'pool'>): AsyncGenerator<JsonObject> {
  const tables = tablesOf(domain);
  const copies = new Set(await readModels({ pool, tables }));
  for (const table of await selectTables(pool)) {
    const isCopy = table.schema !== LIVE_SCHEMA && (copies.has(table.schema) || SCRATCH.test(table.schema));
    yield { place: table.place, ...(isCopy ? { says: COPY } : shownFrom(tables, table)) };
  }
  for (const { place, verdict, says } of OUTSIDE)
    yield { place, says: verdict === 'nothing' ? says : 'outside of Annals, so it was not searched' };
}

const SCRATCH = /^(?:verify|replay)_/;
const COPY = 'a copy of the read model, which is shown itself';

const shownFrom = (tables: ReturnType<typeof tablesOf>, { place, schema, name }: NamedTable): JsonObject => {
  const held = TABLES[place] ?? SCHEMAS[schema];
  if (held !== undefined) {
    const sections = shownOf(held).map(sectionOfLook);
    return { sections, says: held.holds === 'sealed' ? held.inExports : held.says };
  }
  if (schema !== LIVE_SCHEMA) return { says: UNKNOWN };
  const table = tables.named(name);
  if (table !== undefined && !('share' in table))
    return { sections: [...sectionNamesOf(name)], says: 'rows of the domain' };
  if (table !== undefined || tables.views.some((view) => view.name === name))
    return { says: 'numbers and latest values of a view, computed from the events' };
  return { says: TABLES_OF_READ_MODEL[name] ?? UNKNOWN };
};

const UNKNOWN = 'not a table of this release, so it was not searched: ask its creator what it contains';
