import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { FileChange } from './declaration/plan.ts';
import { planAggregate, planField } from './declaration/plan.ts';
import { FIELD_TYPES } from './declaration/sketch.ts';

const NAME_MAX = 100;
const FIELDS_MAX = 100;
const STATES_MAX = 20;
const name = z.string().max(NAME_MAX);
const says = z
  .string()
  .max(1_000)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'Must be one line.');
const cell = z.union([z.literal(true), z.array(name).max(STATES_MAX)]);
const row = z.record(name, cell);
const field = z.strictObject({
  name,
  type: z.enum(Object.keys(FIELD_TYPES) as [keyof typeof FIELD_TYPES]),
  min: z.int().optional(),
  max: z.int().optional(),
  words: z.array(name).max(STATES_MAX).optional(),
  of: name.optional(),
  initial: z.union([z.string().max(NAME_MAX), z.int(), z.boolean()]).optional(),
  says: says.optional(),
  options: z.array(z.enum(['optional', 'filter', 'sort', 'search', 'unique', 'personal'])).optional(),
});
const aggregate = z.strictObject({
  name,
  owner: name,
  says: says.optional(),
  fields: z.array(field).max(FIELDS_MAX),
  states: z.array(z.strictObject({ name, by: name.optional(), from: name.optional() })).max(STATES_MAX),
  rights: z.strictObject({ read: row, write: row }),
});

/** A change as the page of the console sends it. */
const Change = z.union([z.strictObject({ aggregate }), z.strictObject({ kind: name, field })]);

/** The files of a change that is described in JSON. */
export const planChange = async (file: string, given: unknown): Promise<readonly FileChange[]> => {
  const { success, data, error } = Change.safeParse(given);
  if (!success) throw new StartRefused(`The description is not valid: ${z.prettifyError(error)}`);
  return 'aggregate' in data ? planAggregate(file, data.aggregate) : planField(file, data.kind, data.field);
};
