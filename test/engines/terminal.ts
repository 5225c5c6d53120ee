import { test as base, expect } from 'vitest';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople } from '../../testing/people.ts';
import { callLine } from './call-line.ts';
import { startInstallation } from './installation.ts';

/**
 * An operator at a terminal: an installation for each file, and its command line with the access of an
 * administrator.
 */
export const test = base
  .extend('installationOptions', { scope: 'file' }, {} as Parameters<typeof startInstallation>[0])
  .extend('installation', { scope: 'file' }, async ({ installationOptions }, { onCleanup }) => {
    const installation = await startInstallation(installationOptions);
    onCleanup(() => installation[Symbol.asyncDispose]());
    return installation;
  })
  .extend('access', { scope: 'file' }, ({ installation }) => {
    const { admin, url } = installation;
    return ['--client', admin.clientId, '--secret', admin.secret, '--url', url];
  })
  .extend(
    'call',
    { scope: 'file' },
    ({ access, installation }) =>
      (...args: readonly string[]) =>
        callLine(installation.settings, [...args, ...access]),
  )
  .extend('listed', { scope: 'file' }, ({ call }) => async <Item>(...args: readonly string[]) => {
    const { exit, lines, complaint } = await call(...args, '--json');
    expect({ exit, complaint }).toEqual({ exit: 0, complaint: '' });
    return lines.map((line): Item => JSON.parse(line));
  })
  .extend('ask', { scope: 'file' }, ({ installation }) => restClientOf(installation))
  .extend('people', { scope: 'file' }, ({ installation }) => openPeople(installation))
  .extend('ada', { scope: 'file' }, ({ people }) => people.signUp('Ada'));
