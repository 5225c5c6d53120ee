import * as z from 'zod';
import { FORMAT } from './contract.ts';

const alternatives = z.array(z.array(z.string()));
const schema = z.record(z.string(), z.unknown());
const some = <T extends z.ZodType>(each: T) =>
  z.record(z.string(), each).refine((all) => Object.keys(all).length > 0, 'nothing is recorded in it');

/**
 * The parts that comparing needs. A part added by a later release gets a default here, so that it reads older
 * contracts.
 */
export const PART_SHAPES = {
  events: some(
    z.looseObject({
      version: z.int(),
      visibility: z.enum(['public', 'internal']),
      stream: z.unknown(),
      does: schema.optional(),
      personal: z.looseObject({ subject: z.string(), fields: z.array(z.string()) }).nullable(),
      schema,
      absent: schema.optional(),
    }),
  ),
  operations: z.looseObject({
    operations: some(
      z.looseObject({
        id: z.string(),
        query: schema.optional(),
        body: z.record(z.string(), schema).optional(),
        isBodyOptional: z.literal(true).optional(),
        answer: z.looseObject({ status: z.int(), kind: z.string(), schema: schema.optional() }),
        refusals: z.array(z.string()).optional(),
      }),
    ),
    schemas: z.record(z.string(), schema),
  }),
  rights: z.looseObject({
    format: z.int().max(FORMAT, 'a later release recorded it: check with that one').default(1),
    domain: z.string(),
    signUp: z.string().optional(),
    scopes: z.array(z.string()),
    rights: some(z.looseObject({ scope: z.string(), by: z.record(z.string(), z.array(z.string())) })),
    parts: z.record(z.string(), z.array(z.string())).optional(),
    personal: z.record(z.string(), z.string()),
    conditions: z.record(z.string(), alternatives).optional(),
    views: z.record(z.string(), z.record(z.string(), z.string())).optional(),
    rules: z
      .record(
        z.string(),
        z.looseObject({
          limits: z
            .record(
              z.string(),
              z.looseObject({
                max: z.int(),
                per: z.array(z.string()),
                while: z.string().optional(),
                refusal: z.string(),
              }),
            )
            .optional(),
          invariants: z.record(z.string(), alternatives).optional(),
          commands: z
            .record(
              z.string(),
              z.looseObject({
                emits: z.array(z.string()),
                when: alternatives.optional(),
                whenItem: alternatives.optional(),
                internal: z.literal(true).optional(),
                confirm: z.literal(true).optional(),
              }),
            )
            .optional(),
          lists: z.record(z.string(), z.int()).optional(),
          files: z
            .record(z.string(), z.looseObject({ types: z.array(z.string()), bytesMax: z.int() }))
            .optional(),
          reactions: z.record(z.string(), z.string()).optional(),
          timers: z.record(z.string(), z.record(z.string(), z.string())).optional(),
          schedules: z.record(z.string(), z.record(z.string(), z.string())).optional(),
          derived: z.record(z.string(), z.string()).optional(),
        }),
      )
      .optional(),
  }),
};

export const ACCEPTED_SHAPE = z.array(z.object({ what: z.string(), says: z.string(), reason: z.string() }));
