// Runs before every npm script, on whatever Node started npm: plain JavaScript without dependencies. It
// installs if node_modules is missing or was not made from the current package-lock.json; otherwise it is
// silent and quick.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 20;
/**
 * The machine's own Node only installs; npm's warnings about packages that want a newer one do not concern
 * the Node that is installed with them.
 */
const QUIETLY = '--loglevel=error';
const RUNS = new Set(['prestart', 'preannals', 'pretoken']);
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const lockFile = join(root, 'package-lock.json');
const stampFile = join(root, 'node_modules', '.annals-lock-hash');

const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const lockHash = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

/**
 * npm lists the installed packages in this file; one with the same packages was made from the same lock file.
 */
const matchesInstalled = (withoutTools) => {
  const installed = read(join(root, 'node_modules', '.package-lock.json'));
  if (installed === '') return false;
  const wanted = JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  const present = JSON.parse(installed).packages;
  return Object.entries(wanted).every(([path, { version, optional, dev, devOptional }]) => {
    const isNeeded = !optional && !(withoutTools && (dev || devOptional));
    if (path === '' || (!isNeeded && present[path] === undefined)) return true;
    return present[path]?.version === version;
  });
};

/** Installed tools are kept: a start after an update must not remove them. */
const hasTools = () => {
  const installed = read(join(root, 'node_modules', '.package-lock.json'));
  return installed !== '' && Object.values(JSON.parse(installed).packages).some(({ dev }) => dev === true);
};

const install = (withoutTools) => {
  process.stderr.write(
    `Installing the dependencies${withoutTools ? '' : ' and the tools of development'}…\n`,
  );
  // npm passes the path of its own program, which also works where `npm` is a script that cannot be spawned.
  const npm = process.env.npm_execpath;
  const ci = ['ci', ...(withoutTools ? ['--omit=dev'] : ['--include=dev']), QUIETLY];
  const [command, args] = npm?.endsWith('.js') ? [process.execPath, [npm, ...ci]] : ['npm', ci];
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) fail(`npm could not be run (${error.message}): install npm, or run npm ci by hand.`);
  if (status !== 0) fail('npm ci failed, for the reason above. Repair that, and run the command again.');
};

const major = Number(process.versions.node.split('.')[0]);
if (major < NODE_MAJOR_MIN)
  fail(
    `Annals needs Node ${NODE_MAJOR_MIN} or newer to install itself, and this is ${process.versions.node}.`,
  );

/**
 * Running Annals needs no development tools. The stamp records that they are missing, because checks need
 * them.
 */
const isOnlyRunning = RUNS.has(process.env.npm_lifecycle_event);
const wholeStamp = lockHash();
const runningStamp = `${wholeStamp} without the tools of development`;
const stamp = read(stampFile);

if (stamp !== wholeStamp && !(isOnlyRunning && stamp === runningStamp)) {
  if (!matchesInstalled(isOnlyRunning)) install(isOnlyRunning && !hasTools());
  writeFileSync(stampFile, matchesInstalled(false) ? wholeStamp : runningStamp);
}
