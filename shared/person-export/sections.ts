import type { UserId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { rowsOf } from '#shared/database/cursor.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import { type Look, sectionOfLook, shownOf, TABLES } from '#shared/erasure/tables-of-product.ts';
import { uploadsOf } from '#shared/erasure/uploads.ts';
import { eventsOfPerson } from './events.ts';
import { placesOfExport } from './places.ts';
import { rowSections } from './rows.ts';
import type { PersonExportDependencies, Section } from './section.ts';

/**
 * Everything about a person, by the walk of the report on erasures: the tables of the product, those of the
 * domain, and the log. Sections are read in this order.
 */
export const sectionsOf = (
  dependencies: PersonExportDependencies,
  userId: UserId,
  signal: AbortSignal,
): readonly Section[] => {
  const uploads = uploadsOf(dependencies.domain, userId);
  const tables = Object.entries(TABLES).toSorted(([one], [other]) => rankOf(one) - rankOf(other));
  const inTables = tables.flatMap(([table, held]) =>
    shownOf(held).map((look) => ({
      name: sectionOfLook(look),
      title: look.part,
      says: `From ${table}: ${held.says}.`,
      records: recordsOf(dependencies, look, userId),
    })),
  );
  return [
    ...inTables,
    ...rowSections(dependencies, userId),
    {
      name: 'events',
      title: 'events of the log',
      says: 'Events with personal data of the person, of their account and items, and those that they caused. Of events by others that only name the person, the time, the item and the fields that name them.',
      records: eventsOfPerson(dependencies, { userId, uploads }, signal),
    },
    {
      name: 'uploads',
      title: 'files',
      says: 'Files of items of the person, by their paths. Each is at its path as long as an item names it.',
      records: recordsIn(() =>
        [...uploads.files()].map(([path, { id, isNamed }]) => ({ path, item: id, isNamed })),
      ),
    },
    {
      name: 'places',
      title: 'places that were searched',
      says: 'Every table of the database, and where its data of the person is in this file, or why nothing of it is.',
      records: placesOfExport(dependencies),
    },
  ];
};

/** The account of the person comes first. */
const rankOf = (table: string): number => (table.startsWith('auth.') ? 0 : 1);

async function* recordsIn(read: () => readonly JsonObject[]): AsyncGenerator<JsonObject> {
  yield* read();
}

async function* recordsOf(
  { pool, open }: PersonExportDependencies,
  { from, shows }: Look,
  userId: UserId,
): AsyncGenerator<JsonObject> {
  try {
    yield* typeof shows === 'string'
      ? rowsOf<JsonObject>(pool, `select ${shows} from ${from}`, [userId])
      : open[shows.opens](userId);
  } catch (error) {
    // The role of the table never ran.
    if (!isUndefinedTable(error)) throw error;
  }
}
