import * as z from 'zod';
import type { Operation } from '#kernel/base/operation.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Defs, Domain } from '#kernel/registry/registry.ts';
import { filterSchema } from '#kernel/rest/operations.ts';

/** The custom reads of a domain, by name. */
export const routeOperations = ({ routes }: Domain): Readonly<Record<string, RestOperation>> =>
  Object.fromEntries(
    routes.map(({ name, path, says, right, takes, gives }) => [
      name,
      {
        method: 'GET',
        path,
        role: 'query',
        summary: says,
        right: right as Operation,
        query: z.strictObject(parametersOf(takes)),
        answer: {
          status: 200,
          description: `${says}.`,
          kind: 'list',
          schema: z.strictObject(membersOf(gives)),
        },
      } as const,
    ]),
  );

const parametersOf = (takes: Defs): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(
    Object.entries(takes).map(
      ([name, def]) => [name, def.optional ? filterSchema(def).optional() : filterSchema(def)] as const,
    ),
  );

const membersOf = (gives: Defs): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(
    Object.entries(gives).map(([name, { recorded, optional }]) => [
      name,
      optional ? recorded.nullable() : recorded,
    ]),
  );
