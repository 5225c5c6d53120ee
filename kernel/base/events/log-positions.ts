import * as z from 'zod';
import type { LogIdentity, Position } from '../brands.ts';
import type { Json, JsonObject } from '../json.ts';
import { oncePer } from '../once-per.ts';
import { beginning, end } from './fields.ts';

/** A position in a log; without a log, in that of its event. */
type LogPosition = { readonly log: LogIdentity | null; readonly position: Position };

/** Our log, and the position that replaces one of another log. */
type Here = { readonly log: LogIdentity; readonly elsewhere: Position };

/**
 * The position itself if it is of our log. Our log may be a copy with different positions, so the caller passes a
 * fallback that certainly loses nothing.
 */
export const positionHere = ({ log, position }: LogPosition, here: Here): Position =>
  log === null || log === here.log ? position : here.elsewhere;

/** The first release wrote a bare position, without its log. */
export const asLogPosition = (value: Json | undefined): Json | undefined =>
  typeof value === 'number' ? { log: null, position: value } : value;

type Path = { readonly names: readonly string[]; readonly isEnd: boolean };
type CursorOf = (position: LogPosition, isEnd: boolean) => string;

/** The data for clients, to whom a position is an opaque cursor. */
export const withCursors = (schema: z.ZodObject, data: JsonObject, cursorOf: CursorOf): JsonObject => {
  const changed = (shown: JsonObject, { names, isEnd }: Path) =>
    changedAt(shown, names, (position) => cursorOf(position, isEnd)) as JsonObject;
  return pathsOf(schema).reduce<JsonObject>(changed, data);
};

const pathsOf = oncePer((schema: z.ZodObject) => pathsIn(schema));

/** The paths of all fields that are positions in a log by their schema. */
const pathsIn = (schema: z.ZodType): readonly Path[] => {
  if (isLogPosition(schema)) return [{ names: [], isEnd: schema === end }];
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodExactOptional)
    return pathsIn(schema.unwrap() as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    pathsIn(field as z.ZodType).map(({ names, isEnd }) => ({ names: [name, ...names], isEnd })),
  );
};

export const isLogPosition = (schema: unknown): boolean => schema === beginning || schema === end;

/** Damaged data stays as it is. */
const changedAt = (
  value: Json | undefined,
  [name, ...rest]: readonly string[],
  cursorOf: (position: LogPosition) => string,
): Json | undefined => {
  if (name === undefined) {
    const position = beginning.safeParse(value);
    return position.success ? cursorOf(position.data) : value;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const held = value as JsonObject;
  return Object.hasOwn(held, name)
    ? { ...held, [name]: changedAt(held[name], rest, cursorOf) as Json }
    : held;
};
