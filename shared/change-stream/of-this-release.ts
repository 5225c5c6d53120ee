import type { Catalogue } from '#shared/events/catalogue.ts';
import { upcast } from '#shared/events/upcast.ts';
import type { Change } from './change-stream.ts';

/** Upcasts a change to this release: an earlier one may have written it, to Kafka or into a delivery. */
export const ofThisRelease = <Message extends Pick<Change, 'type' | 'schemaVersion' | 'data'>>(
  catalogue: Catalogue,
  change: Message,
): Message => {
  const { type, schemaVersion, data } = change;
  const definition = catalogue.find(type);
  if (definition === undefined || schemaVersion >= definition.version) return change;
  return { ...change, schemaVersion: definition.version, data: upcast(definition, schemaVersion, data) };
};
