import * as z from 'zod';
import { email } from '#kernel/declare/values.ts';
import * as demanded from '#shared/commands/fields.ts';
import { JsonPatch } from '#shared/commands/json-patch.ts';
import { RegisterUser, UpdateUser } from '#shared/commands/user.ts';
import { name, role } from '#shared/events/fields.ts';
import { atOfList, ItemAt } from './at.ts';
import { createdAt, id, Links, unheeded, updatedAt, Written, written } from './fields.ts';
import { PAGE, sortBy } from './lists.ts';
import type { RestOperation } from './operation.ts';

/** Everybody sees the name; the rest only the user and administrators. */
export const User = z
  .strictObject({
    id,
    name,
    email: email.nullable().exactOptional(),
    role: role.exactOptional(),
    createdAt: createdAt.exactOptional(),
    updatedAt: updatedAt.exactOptional(),
    _links: Links,
  })
  .meta({ id: 'User' });
export type User = Readonly<z.infer<typeof User>>;

/** What stands for the name of an author who was deleted. */
export const DELETED_USER = 'Deleted user';

const NewUser = RegisterUser.omit({ type: true }).meta({ id: 'NewUser' });

/** An absent role stays as it is, because most may not change it; an address goes only where `null` says so. */
const UserReplacement = z
  .strictObject({
    name: demanded.name,
    email: email.nullable(),
    role: role.optional(),
    id: unheeded,
    createdAt: unheeded,
    updatedAt: unheeded,
    _links: unheeded,
  })
  .transform(({ name, email, role }) => ({ name, email, role }))
  .meta({
    id: 'UserReplacement',
    description: 'The whole user. `null` removes the e-mail address, which must be there; without `role`, the role stays as it is.',
  });

const UserPatch = UpdateUser.omit({ type: true, userId: true }).meta({ id: 'UserPatch' });

const Users = z.strictObject({ ...PAGE, sort: sortBy('-createdAt', 'createdAt'), at: atOfList });

const item = { path: '/users/{userId}' } as const;

export const USER_OPERATIONS = {
  listUsers: {
    method: 'GET',
    path: '/users',
    role: 'query',
    summary: 'The users',
    right: 'user.read',
    query: Users,
    answer: { status: 200, description: 'A page of users.', kind: 'list', schema: User },
  },
  createUser: {
    method: 'POST',
    path: '/users',
    role: 'command',
    summary: 'Register a user',
    right: 'user.register',
    body: { 'application/json': NewUser },
    answer: { status: 201, description: 'The user was registered.', kind: 'written', schema: Written, item: 'getUser' },
  },
  getMe: {
    method: 'GET',
    path: '/me',
    role: 'query',
    summary: 'Yourself',
    right: 'user.read_private',
    answer: { status: 200, description: 'The user that the token stands for.', kind: 'item', schema: User },
  },
  getUser: {
    ...item,
    method: 'GET',
    role: 'query',
    summary: 'A user',
    right: 'user.read',
    query: ItemAt,
    answer: { status: 200, description: 'The user.', kind: 'item', schema: User },
  },
  replaceUser: {
    ...item,
    method: 'PUT',
    role: 'command',
    summary: 'Replace what can be changed of a user',
    right: 'user.update',
    body: { 'application/json': UserReplacement },
    answer: written('The user is as it was sent.', 'getUser'),
  },
  editUser: {
    ...item,
    method: 'PATCH',
    role: 'command',
    summary: 'Change a user',
    right: 'user.update',
    body: { 'application/merge-patch+json': UserPatch, 'application/json-patch+json': JsonPatch, 'application/json': UserPatch },
    answer: written('The user was changed.', 'getUser'),
  },
  deleteUser: {
    ...item,
    method: 'DELETE',
    role: 'command',
    summary: 'Delete a user, and erase the person',
    right: 'user.delete',
    answer: { status: 204, description: 'The user is gone.', kind: 'nothing' },
  },
} as const satisfies Record<string, RestOperation>;
