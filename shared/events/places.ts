import * as z from 'zod';
import type { LogIdentity, Position } from '#shared/brands.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { beginning, end } from './fields.ts';

/** A place in a log; without a log, in that of the event which holds it. */
export type Place = { readonly log: LogIdentity | null; readonly position: Position };

/** Which log it is that we have, and what counts in it for a place of another. */
type Here = { readonly log: LogIdentity; readonly elsewhere: Position };

/**
 * The position of a place in our log. This may be a copy of the log that the place is in, and positions are
 * not what they were there: whoever asks says what is certain to lose nothing.
 */
export const positionHere = ({ log, position }: Place, here: Here): Position =>
  log === null || log === here.log ? position : here.elsewhere;

/** What the first release wrote: a bare position. */
export const placedWithoutLog = (value: Json | undefined): Json | undefined =>
  typeof value === 'number' ? { log: null, position: value } : value;

type Path = { readonly names: readonly string[]; readonly isEnd: boolean };
type CursorOf = (place: Place, isEnd: boolean) => string;

const known = new WeakMap<z.ZodObject, readonly Path[]>();

/**
 * The data as clients see it, to whom a place in the log is a cursor and nothing that one could count with.
 */
export const withCursors = (schema: z.ZodObject, data: JsonObject, cursorOf: CursorOf): JsonObject => {
  const paths = known.get(schema) ?? pathsIn(schema);
  known.set(schema, paths);
  const changed = (told: JsonObject, { names, isEnd }: Path) =>
    changedAt(told, names, (place) => cursorOf(place, isEnd)) as JsonObject;
  return paths.reduce<JsonObject>(changed, data);
};

/** Wherever the definition says that a field is a place. */
const pathsIn = (schema: z.ZodType): readonly Path[] => {
  if (isPlace(schema)) return [{ names: [], isEnd: schema === end }];
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodExactOptional)
    return pathsIn(schema.unwrap() as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    pathsIn(field as z.ZodType).map(({ names, isEnd }) => ({ names: [name, ...names], isEnd })),
  );
};

export const isPlace = (schema: unknown): boolean => schema === beginning || schema === end;

/** What is damaged stays as it is. */
const changedAt = (
  value: Json | undefined,
  [name, ...rest]: readonly string[],
  cursorOf: (place: Place) => string,
): Json | undefined => {
  if (name === undefined) {
    const place = beginning.safeParse(value);
    return place.success ? cursorOf(place.data) : value;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const held = value as JsonObject;
  return Object.hasOwn(held, name)
    ? { ...held, [name]: changedAt(held[name], rest, cursorOf) as Json }
    : held;
};
