import { expect } from 'vitest';
import { callLine } from './call-line.ts';
import { shareInstallation } from './installation.ts';
import { test as base } from './installation-fixture.ts';

/** An operator at a terminal: the command line of an installation, with the access of an administrator. */
export const test = base
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
  });

/** At an installation that consecutive files share: each looks only at its own data. */
export const sharedTerminalTest = test.extend('installation', { scope: 'file' }, ({ installationOptions }) =>
  shareInstallation(installationOptions),
);
