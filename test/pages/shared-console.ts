import { shareInstallation } from '../engines/installation.ts';
import { test } from './console-window.ts';

/** A console on an installation that consecutive files share: each looks only at its own data. */
export const sharedConsoleTest = test.extend('installation', { scope: 'file' }, ({ installationOptions }) =>
  shareInstallation(installationOptions),
);
