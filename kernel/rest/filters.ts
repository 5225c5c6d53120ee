import * as z from 'zod';
import { idParameter } from '../base/rest/lists.ts';
import type { FieldDef } from '../declare/fields.ts';

/** The filters that `filter()` of fields adds. */
export const filtersByFields = (
  fields: readonly (readonly [string, FieldDef])[],
): readonly (readonly [string, z.ZodType])[] =>
  fields.flatMap(([name, { filter, ...def }]) =>
    filter === undefined ? [] : [[filter === true ? name : filter, filterSchema(def).optional()] as const],
  );

/** The schema of a filter as query parameter; if repeated, any of the values matches. */
export const filterSchema = ({ kind, recorded }: FieldDef): z.ZodType => {
  if (kind === 'ref') return idParameter;
  if (kind === 'integer')
    return z
      .string()
      .regex(/^-?\d{1,15}$/)
      .meta({ type: 'integer', pattern: undefined })
      .transform(Number)
      .pipe(recorded as z.ZodInt);
  if (kind === 'boolean') return z.enum(['true', 'false']).transform((text) => text === 'true');
  return kind === 'set' && recorded instanceof z.ZodArray ? (recorded.element as z.ZodType) : recorded;
};
