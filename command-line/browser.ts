import { spawn } from 'node:child_process';
import { once } from 'node:events';

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const OTHERWISE = ['xdg-open'] as const;

/** Opens an address; false if no browser could be started. */
export const openBrowser = async (url: string): Promise<boolean> => {
  const [program, ...args] = OPENERS[process.platform] ?? OTHERWISE;
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
    child.unref();
    return true;
  } catch {
    return false;
  }
};

/** Without a desktop there is no browser to open. */
export const hasDesktop = ({
  DISPLAY,
  WAYLAND_DISPLAY,
}: Readonly<Record<string, string | undefined>>): boolean =>
  process.platform in OPENERS || Boolean(DISPLAY || WAYLAND_DISPLAY);
