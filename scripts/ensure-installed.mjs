// Runs before every npm script, on whatever Node started npm: plain JavaScript without dependencies. It
// installs if node_modules is missing or was not made from the current package-lock.json; otherwise it is
// silent and quick. Annals may run from the same folder meanwhile, so an install only adds packages.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, processName } from './process-id.mjs';

const NODE_MAJOR_MIN = 20;
/**
 * The machine's own Node only installs; npm's warnings about packages that want a newer one do not concern
 * the Node that is installed with them.
 */
const QUIETLY = '--loglevel=error';
const RUNS = new Set(['prestart', 'preannals', 'predemo', 'pretoken']);
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const lockFile = join(root, 'package-lock.json');
const stampFile = join(modules, '.annals-lock-hash');
/** A folder with one file, which names the process that installs. */
const installing = join(modules, '.annals-install-lock');
const LOOK_MS = 200;
/** An install takes minutes at most, even on a slow network. */
const WAIT_MAX_MS = 15 * 60_000;

const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const lockHash = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

/** npm lists the installed packages in this file; undefined if it is not there, or was only half written. */
const presentPackages = () => {
  try {
    return JSON.parse(read(join(modules, '.package-lock.json'))).packages;
  } catch {
    return undefined;
  }
};
const wantedPackages = () => JSON.parse(readFileSync(lockFile, 'utf8')).packages;

/** A listing with the same packages was made from the same lock file. */
const matchesInstalled = (withoutTools) => {
  const present = presentPackages();
  if (present === undefined) return false;
  return Object.entries(wantedPackages()).every(([path, { version, optional, dev, devOptional }]) => {
    const isNeeded = !optional && !(withoutTools && (dev || devOptional));
    if (path === '' || (!isNeeded && present[path] === undefined)) return true;
    return present[path]?.version === version;
  });
};

/** Installed tools are kept: a start after an update must not remove them. */
const hasTools = () => Object.values(presentPackages() ?? {}).some(({ dev }) => dev === true);

/** Whether an install may take a package away that a running process may load; without a listing, nobody knows. */
const replacesPackages = () => {
  const [wanted, present] = [wantedPackages(), presentPackages()];
  return (
    present === undefined ||
    Object.entries(present).some(([path, { version }]) => wanted[path]?.version !== version)
  );
};

/** Processes of Annals note themselves here (note-running.mjs); one that was killed leaves its note. */
const runningProcess = () => {
  const folder = join(modules, '.annals-running');
  return existsSync(folder) ? readdirSync(folder).find(isRunning)?.split('.')[0] : undefined;
};

/** One process installs at a time; the others wait, and then have nothing left to do. */
const lock = (waitMaxMs) => {
  const name = processName(process.pid);
  const prepared = `${installing}.${name}`;
  try {
    mkdirSync(prepared, { recursive: true });
    writeFileSync(join(prepared, name), '');
  } catch ({ message }) {
    fail(`${modules} cannot be written (${message}).`);
  }
  process.once('exit', () => {
    rmSync(prepared, { force: true, recursive: true });
    rmSync(join(installing, name), { force: true });
    removeEmpty(installing);
  });
  const untilMs = Date.now() + waitMaxMs;
  for (let isTold = false; !take(prepared); isTold = true) {
    if (!isTold) process.stderr.write('Another command installs the dependencies: waiting for it…\n');
    if (Date.now() > untilMs)
      fail(
        `Process ${ownerOf(installing)} has been installing the dependencies for too long: end it, or delete ${installing}, and run the command again.`,
      );
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  }
};

/** A folder replaces another only if that is empty, so of several processes one succeeds, whatever they saw before. */
const take = (prepared) => {
  // A file of this name names one process for ever: deleting it cannot free the lock of another.
  for (const name of namesIn(installing))
    if (!isRunning(name)) rmSync(join(installing, name), { force: true, recursive: true });
  removeEmpty(installing);
  try {
    renameSync(prepared, installing);
    return true;
  } catch (error) {
    if (TAKEN.has(error.code)) return false;
    fail(`${installing} cannot be written (${error.message}).`);
  }
};

const TAKEN = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM']);

const namesIn = (folder) => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const ownerOf = (folder) => namesIn(folder).find(isRunning)?.split('.')[0] ?? 'unknown';

const removeEmpty = (folder) => {
  try {
    rmdirSync(folder);
  } catch {
    // It is not there, or not empty.
  }
};

const install = (withoutTools) => {
  process.stderr.write(
    `Installing the dependencies${withoutTools ? '' : ' and the tools of development'}…\n`,
  );
  // npm passes the path of its own program, which also works where `npm` is a script that cannot be spawned.
  const npm = process.env.npm_execpath;
  // Unlike `npm ci`, it keeps the packages that are there. It takes the versions of the lock file, unchanged.
  const adding = ['install', '--no-save', '--no-audit', '--no-fund', QUIETLY];
  const all = [...adding, withoutTools ? '--omit=dev' : '--include=dev'];
  const [command, args] = npm?.endsWith('.js') ? [process.execPath, [npm, ...all]] : ['npm', all];
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) fail(`npm could not be run (${error.message}): install npm, or run npm ci by hand.`);
  if (status !== 0)
    fail('npm failed to install, for the reason above. Repair that, and run the command again.');
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
const isInstalled = () => {
  const stamp = read(stampFile);
  return stamp === wholeStamp || (isOnlyRunning && stamp === runningStamp);
};

if (!isInstalled()) {
  // Tests wait for less.
  lock(Number(process.argv[2] ?? WAIT_MAX_MS));
  // Another process may have installed meanwhile.
  if (!isInstalled()) {
    if (!matchesInstalled(isOnlyRunning)) {
      const running = replacesPackages() ? runningProcess() : undefined;
      if (running !== undefined)
        fail(
          `This version may need other packages, and Annals runs from this folder (process ${running}): stop it, and run the command again.`,
        );
      install(isOnlyRunning && !hasTools());
      // Unlike `npm ci`, it chooses versions itself for what package.json names and the lock file does not.
      if (!matchesInstalled(isOnlyRunning))
        fail(
          'npm could not install what package-lock.json names, because it does not fit package.json: take both files from the same version, and run the command again.',
        );
    }
    writeFileSync(stampFile, matchesInstalled(false) ? wholeStamp : runningStamp);
  }
}
