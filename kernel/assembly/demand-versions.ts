import { StartRefused } from '../base/start-refused.ts';
import type { EventInfo, Kind } from '../registry/registry.ts';

/** Refuses an event with a former version that could not be read: its aggregates would be parked. */
export const demandVersions = (kinds: readonly Kind[]): void => {
  for (const { events } of kinds) for (const event of Object.values(events)) demandUpcasts(event);
};

const demandUpcasts = ({ type, version, upcast }: EventInfo): void => {
  if (!Number.isSafeInteger(version) || version < 1)
    throw new StartRefused(`${type} has the version ${version}: use a whole number of at least 1.`);
  const earlier = Array.from({ length: version - 1 }, (_, index) => index + 1);
  const missing = earlier.find((each) => typeof upcast[each] !== 'function');
  if (missing !== undefined)
    throw new StartRefused(
      `${type} has the version ${version}, but no upcast from version ${missing}: declare how to convert this data to the next version.`,
    );
  const later = Object.keys(upcast).find((each) => !earlier.includes(Number(each)));
  if (later !== undefined)
    throw new StartRefused(
      `${type} has an upcast from version ${later}, but its version is ${version}: raise the version, or remove the upcast.`,
    );
};
