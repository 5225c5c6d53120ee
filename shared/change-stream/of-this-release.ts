import { CATALOGUE, isEventType } from '#shared/events/catalogue.ts';
import { upcast } from '#shared/events/upcast.ts';
import type { Change } from './change-stream.ts';

/** A change as this release tells it: an earlier one may have written it down, for Kafka or with what is to be delivered. */
export const ofThisRelease = <Told extends Pick<Change, 'type' | 'schemaVersion' | 'data'>>(change: Told): Told => {
  const { type, schemaVersion, data } = change;
  if (!isEventType(type) || schemaVersion >= CATALOGUE[type].version) return change;
  return { ...change, schemaVersion: CATALOGUE[type].version, data: upcast(CATALOGUE[type], schemaVersion, data) };
};
