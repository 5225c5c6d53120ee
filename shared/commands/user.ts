import * as z from 'zod';
import { email } from '#kernel/declare/values.ts';
import { role, userId } from '#shared/events/fields.ts';
import { name } from './fields.ts';

export const RegisterUser = z.strictObject({
  type: z.literal('RegisterUser'),
  name,
  email: email.nullable().default(null),
  role: role.default('reader'),
});

/** Changes what is named; `email: null` removes the address. */
export const UpdateUser = z.strictObject({
  type: z.literal('UpdateUser'),
  userId,
  name: name.optional(),
  email: email.nullable().optional(),
  role: role.optional(),
});
