import { follow } from '../../testing/http/event-source.ts';
import type { Person } from '../../testing/http/people.ts';
import { test as base } from '../engines/installation-fixture.ts';

const MERGE_PATCH = 'application/merge-patch+json';

/** An installation of a toy domain, which `installationOptions` name, with people of its roles. */
export const test = base
  .extend(
    'byAdmin',
    { scope: 'file' },
    ({ people: { administrator }, session }) =>
      (method: string, path: string, body?: object) =>
        session.write(method, path, {
          token: administrator.token,
          ...(body && { body }),
          ...(method === 'PATCH' && { type: MERGE_PATCH }),
        }),
  )
  /** Gives somebody another role, and signs them in again. */
  .extend('become', { scope: 'file' }, ({ byAdmin, people }) => async (person: Person, role: string) => {
    await byAdmin('PATCH', `/users/${person.userId}`, { role });
    return people.signIn(person, role);
  })
  /** Signs somebody up who then has the role. */
  .extend(
    'signUpAs',
    { scope: 'file' },
    ({ become, people }) =>
      async (name: string, role: string) =>
        become(await people.signUp(name), role),
  )
  /** Opens the stream of a person's events, up to the end of the file. */
  .extend('followAs', { scope: 'file' }, ({ installation }, { onCleanup }) => {
    const streams = new AsyncDisposableStack();
    onCleanup(() => streams.disposeAsync());
    return async ({ token }: Person) => {
      const headers = { authorization: `Bearer ${token}` };
      return streams.use(await follow(`${installation.url}/events`, { headers }));
    };
  })
  .extend(
    'followAll',
    { scope: 'file' },
    ({ followAs }) =>
      async (all: Readonly<Record<string, Person>>) =>
        new Map(
          await Promise.all(Object.values(all).map(async (each) => [each, await followAs(each)] as const)),
        ),
  );
