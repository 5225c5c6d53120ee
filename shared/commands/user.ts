import * as z from 'zod';
import { email } from '#kernel/declare/values.ts';
import { role, userId } from '#shared/events/fields.ts';
import { name } from './fields.ts';
import { JsonPatch } from './json-patch.ts';

export const RegisterUser = z.strictObject({
  type: z.literal('RegisterUser'),
  name,
  email: email.nullable().default(null),
  role: role.default('reader'),
});
export type RegisterUser = Readonly<z.infer<typeof RegisterUser>>;

/** Changes what is named; `email: null` removes the address. */
export const UpdateUser = z.strictObject({
  type: z.literal('UpdateUser'),
  userId,
  name: name.optional(),
  email: email.nullable().optional(),
  role: role.optional(),
});
export type UpdateUser = Readonly<z.infer<typeof UpdateUser>>;

/** Changes what an update can change, by a JSON patch. */
export const PatchUser = z.strictObject({ type: z.literal('PatchUser'), userId, patch: JsonPatch });
export type PatchUser = Readonly<z.infer<typeof PatchUser>>;

/** What a JSON patch of a user applies to, and must leave behind. */
export const UserContent = z.strictObject({ name, email: email.nullable().default(null), role });

export const DeleteUser = z.strictObject({ type: z.literal('DeleteUser'), userId });
export type DeleteUser = Readonly<z.infer<typeof DeleteUser>>;
