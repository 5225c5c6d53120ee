import type { JsonObject } from '#shared/json.ts';
import type { EventDefinition } from './define-event.ts';

/**
 * Brings data of an earlier version, or of an earlier release, to the current one. Throws `RangeError` where
 * a version was never written, or an upcaster fails.
 */
export const upcast = (
  definition: Pick<EventDefinition, 'type' | 'version' | 'upcasters' | 'absent'>,
  version: number,
  data: JsonObject,
): JsonObject => {
  if (version > definition.version)
    throw new RangeError(`${definition.type} is known up to version ${definition.version}`);
  // What was read is taken as it is by others too, and an upcaster may change what it is given.
  let current = version < definition.version ? structuredClone(data) : data;
  for (let from = version; from < definition.version; from += 1) {
    const step = definition.upcasters[from];
    if (step === undefined) throw new RangeError(`${definition.type} has no upcaster from version ${from}`);
    current = take(step, current, `${definition.type} of version ${from}`);
  }
  const { absent = {} } = definition;
  return Object.keys(absent).every((name) => name in current) ? current : { ...absent, ...current };
};

/** Of what an upcaster throws, the message is not kept: it may quote content, and that may be personal. */
const take = (step: (data: JsonObject) => JsonObject, data: JsonObject, what: string): JsonObject => {
  try {
    return step(data);
  } catch (error) {
    throw new RangeError(
      `the upcast of ${what} ended in ${error instanceof Error ? error.name : typeof error}`,
    );
  }
};
