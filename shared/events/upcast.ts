import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import type { JsonObject } from '#kernel/base/json.ts';

/**
 * Converts data of an earlier version, or of an earlier release, to the current one. Throws `RangeError` if a
 * version was never written, or an upcaster fails.
 */
export const upcast = (
  definition: Pick<EventDefinition, 'type' | 'version' | 'upcasters' | 'absent'>,
  version: number,
  data: JsonObject,
): JsonObject => {
  if (version > definition.version)
    throw new RangeError(`${definition.type} is known up to version ${definition.version}`);
  // Others share the stored data, and an upcaster may mutate its input.
  let current = version < definition.version ? structuredClone(data) : data;
  for (let from = version; from < definition.version; from += 1) {
    const step = definition.upcasters[from];
    if (step === undefined) throw new RangeError(`${definition.type} has no upcaster from version ${from}`);
    current = take(step, current, `${definition.type} of version ${from}`);
  }
  const { absent = {} } = definition;
  return Object.keys(absent).every((name) => name in current) ? current : { ...absent, ...current };
};

/** Drops the message of an upcaster’s error: it may quote content, which may be personal. */
const take = (step: (data: JsonObject) => JsonObject, data: JsonObject, what: string): JsonObject => {
  try {
    return step(data);
  } catch (error) {
    throw new RangeError(
      `the upcast of ${what} ended in ${error instanceof Error ? error.name : typeof error}`,
    );
  }
};
