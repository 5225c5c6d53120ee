import { homedir, platform } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder for programs that all projects of a user share, by the custom of each operating system. */
export const cacheFolder = (
  { XDG_CACHE_HOME, LOCALAPPDATA }: Environment = process.env,
  system = platform(),
): string => {
  if (system === 'win32') return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'annals', 'Cache');
  if (system === 'darwin') return join(homedir(), 'Library', 'Caches', 'annals');
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals');
};
