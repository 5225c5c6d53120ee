import * as z from 'zod';
import type { Position } from '#shared/brands.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { position } from './fields.ts';

type Path = readonly string[];

const known = new WeakMap<z.ZodObject, readonly Path[]>();

/** The data as clients see it, to whom a place in the log is a cursor and nothing that one could count with. */
export const withCursors = (schema: z.ZodObject, data: JsonObject, cursorOf: (position: Position) => string): JsonObject => {
  const paths = known.get(schema) ?? pathsIn(schema);
  known.set(schema, paths);
  return paths.reduce<JsonObject>((told, path) => changedAt(told, path, cursorOf) as JsonObject, data);
};

/** Wherever the definition says that a field is a place. */
const pathsIn = (schema: z.ZodType): readonly Path[] => {
  if (schema === position) return [[]];
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodExactOptional) return pathsIn(schema.unwrap() as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => pathsIn(field as z.ZodType).map((path) => [name, ...path]));
};

/** What is damaged stays as it is. */
const changedAt = (value: Json | undefined, [name, ...rest]: Path, cursorOf: (position: Position) => string): Json | undefined => {
  if (name === undefined) return Number.isSafeInteger(value) && Number(value) >= 0 ? cursorOf(value as Position) : value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const held = value as JsonObject;
  return Object.hasOwn(held, name) ? { ...held, [name]: changedAt(held[name], rest, cursorOf) as Json } : held;
};
