import { test as base } from 'vitest';
import {
  type AuthDatabase,
  type AuthInstance,
  createAuthDatabase,
  registerClient,
  registerPerson,
  serviceClient,
  webClient,
} from './auth-database.ts';

export type Client = Awaited<ReturnType<typeof registerClient>>;

/** A database of an authorization server for each file. */
export const databaseTest = base
  .extend('createDatabase', { scope: 'file' }, () => createAuthDatabase)
  .extend('database', { scope: 'file' }, async ({ createDatabase }, { onCleanup }): Promise<AuthDatabase> => {
    const database = await createDatabase();
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  });

/** An authorization server for each file. Tests may ask for a second process of it, clients and a person. */
export const test = databaseTest
  .extend('auth', { scope: 'file' }, async ({ database }, { onCleanup }): Promise<AuthInstance> => {
    const auth = await database.open();
    onCleanup(() => auth[Symbol.asyncDispose]());
    return auth;
  })
  .extend('other', { scope: 'file' }, async ({ database }, { onCleanup }): Promise<AuthInstance> => {
    const other = await database.open();
    onCleanup(() => other[Symbol.asyncDispose]());
    return other;
  })
  .extend('service', { scope: 'file' }, ({ auth }) => registerClient(auth, serviceClient))
  .extend('web', { scope: 'file' }, ({ auth }) => registerClient(auth, webClient))
  .extend('person', { scope: 'file' }, ({ auth }) => registerPerson(auth));
