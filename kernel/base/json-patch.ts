import * as z from 'zod';

/** A JSON patch (RFC 6902) in a request; applying it shows whether it fits. */

const OPERATIONS_MAX = 100;
const POINTER_CHARACTERS_MAX = 1_000;

const pointer = z
  .string()
  .max(POINTER_CHARACTERS_MAX)
  .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, { error: 'Must be a JSON pointer.' });
const value = z.json();

export const JsonPatch = z
  .array(
    z.discriminatedUnion('op', [
      z.object({ op: z.literal('add'), path: pointer, value }),
      z.object({ op: z.literal('remove'), path: pointer }),
      z.object({ op: z.literal('replace'), path: pointer, value }),
      z.object({ op: z.literal('move'), from: pointer, path: pointer }),
      z.object({ op: z.literal('copy'), from: pointer, path: pointer }),
      z.object({ op: z.literal('test'), path: pointer, value }),
    ]),
  )
  .max(OPERATIONS_MAX)
  .meta({ id: 'JsonPatch', description: 'RFC 6902.' });
export type JsonPatch = z.infer<typeof JsonPatch>;
