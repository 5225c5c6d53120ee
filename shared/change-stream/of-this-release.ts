import type { Catalogue } from '#shared/events/catalogue.ts';
import { upcast } from '#shared/events/upcast.ts';
import type { Change } from './change-stream.ts';

/**
 * A change as this release tells it: an earlier one may have written it down, for Kafka or with what is to be
 * delivered.
 */
export const ofThisRelease = <Told extends Pick<Change, 'type' | 'schemaVersion' | 'data'>>(
  catalogue: Catalogue,
  change: Told,
): Told => {
  const { type, schemaVersion, data } = change;
  const definition = catalogue.find(type);
  if (definition === undefined || schemaVersion >= definition.version) return change;
  return { ...change, schemaVersion: definition.version, data: upcast(definition, schemaVersion, data) };
};
