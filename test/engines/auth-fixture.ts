import { test as base } from 'vitest';
import {
  type AuthInstance,
  type AuthWorld,
  createAuthWorld,
  registerClient,
  registerPerson,
  serviceClient,
  webClient,
} from './auth-world.ts';

export type Client = Awaited<ReturnType<typeof registerClient>>;

/** An authorization server for each file. Tests may ask for a second process of it, clients and a person. */
export const test = base
  .extend('openWorld', { scope: 'file' }, () => createAuthWorld)
  .extend('world', { scope: 'file' }, async ({ openWorld }, { onCleanup }): Promise<AuthWorld> => {
    const world = await openWorld();
    onCleanup(() => world[Symbol.asyncDispose]());
    return world;
  })
  .extend('auth', { scope: 'file' }, async ({ world }, { onCleanup }): Promise<AuthInstance> => {
    const auth = await world.open();
    onCleanup(() => auth[Symbol.asyncDispose]());
    return auth;
  })
  .extend('other', { scope: 'file' }, async ({ world }, { onCleanup }): Promise<AuthInstance> => {
    const other = await world.open();
    onCleanup(() => other[Symbol.asyncDispose]());
    return other;
  })
  .extend('service', { scope: 'file' }, ({ auth }) => registerClient(auth, serviceClient))
  .extend('web', { scope: 'file' }, ({ auth }) => registerClient(auth, webClient))
  .extend('person', { scope: 'file' }, ({ auth }) => registerPerson(auth));
