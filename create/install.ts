import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Installs the dependencies of a new project, and explains a failure in one sentence. */

/**
 * npm's own retries take many minutes without a network. The environment of `npm create` takes precedence.
 */
const SOON = {
  npm_config_fetch_retries: '1',
  npm_config_fetch_retry_mintimeout: '500',
  npm_config_fetch_retry_maxtimeout: '2000',
  // The timeout for an answer, or between two parts of one.
  npm_config_fetch_timeout: '30000',
};
const UNREACHABLE =
  /^(?:EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ENOTFOUND|ENOTCACHED|E(?:IDLE|RESPONSE|TRANSFER)?TIME(?:D)?OUT|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$/;
const UNKNOWN = new Set(['E404', 'ETARGET']);

type Ended = { readonly status: number | null; readonly stderr: string };

/** Rejects with the reason of the signal, once npm has ended. */
const npm = async (folder: string, signal: AbortSignal, ...args: readonly string[]): Promise<Ended> => {
  signal.throwIfAborted();
  const child = spawn('npm', ['--loglevel=error', ...args], {
    cwd: folder,
    env: { ...SOON, ...process.env },
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  const end = () => void child.kill('SIGINT');
  signal.addEventListener('abort', end);
  const closed = once(child, 'close').then(
    ([status]) => ({ status: status as number | null, why: '' }),
    (error: Error) => ({ status: null, why: `${error.message}\n` }),
  );
  const [{ status, why }, stderr] = await Promise.all([closed, text(child.stderr)]);
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  return { status, stderr: `${stderr}${why}` };
};

const codeIn = (stderr: string): string => /^npm error code (\w+)/m.exec(stderr)?.[1] ?? '';

const whyNoPackages = async (folder: string, signal: AbortSignal): Promise<string | undefined> => {
  const { status, stderr } = await npm(folder, signal, 'install');
  if (status === 0) return undefined;
  const code = codeIn(stderr);
  if (UNREACHABLE.test(code)) {
    if ((await npm(folder, signal, 'install', '--offline')).status === 0) return undefined;
    return `npm cannot reach its registry (${code}), and its cache lacks packages of the project: run npm install in ${folder} when you are online.`;
  }
  if (UNKNOWN.has(code)) {
    const [, missing = 'a package of the project'] = /'?((?:@[\w-]+\/)?[\w-]+@[\w.^~-]+)/.exec(stderr) ?? [];
    return `npm does not know ${missing}: give --annals an existing version, or a tarball. ${folder} was created; remove it.`;
  }
  return `${stderr}npm could not install the packages of the project. Run npm install in ${folder} again.`;
};

/**
 * Returns why npm failed, or why the kernel does not serve the aggregate, which is better reported now than
 * at the first start.
 */
export const whyNotInstalled = async (
  folder: string,
  aggregate: string,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const why = await whyNoPackages(folder, signal);
  if (why !== undefined) return why;
  const described = await npm(
    folder,
    signal,
    'run',
    '--silent',
    'annals',
    '--',
    'domain',
    'describe',
    aggregate,
  );
  if (described.status === 0) return undefined;
  return `${described.stderr.trim()}\n${folder} was created: fix domain/${aggregate}.ts there, or remove the folder and start again.`;
};
