// Runs before every npm script, on whatever Node started npm: plain JavaScript without dependencies. It
// installs if node_modules is missing or was not made from the current package-lock.json; otherwise it is
// silent and quick. Annals may run from the same folder meanwhile, so an install only adds packages.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
/** Names the process that installs. */
const installingFile = join(modules, '.annals-installing');
const LOOK_MS = 200;

const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const lockHash = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

/** npm lists the installed packages in this file. */
const presentPackages = () => {
  const installed = read(join(modules, '.package-lock.json'));
  return installed === '' ? undefined : JSON.parse(installed).packages;
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

/** Whether an install would take a package away that a running process may load. */
const replacesPackages = () => {
  const wanted = wantedPackages();
  return Object.entries(presentPackages() ?? {}).some(
    ([path, { version }]) => wanted[path]?.version !== version,
  );
};

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch ({ code }) {
    return code === 'EPERM';
  }
};

/** Processes of Annals note themselves here (note-running.mjs); one that was killed leaves its note. */
const runningProcess = () => {
  const folder = join(modules, '.annals-running');
  return existsSync(folder) ? readdirSync(folder).map(Number).find(isAlive) : undefined;
};

/** One process installs at a time; the others wait, and then have nothing left to do. */
const lock = () => {
  mkdirSync(modules, { recursive: true });
  let isTold = false;
  for (;;) {
    try {
      writeFileSync(installingFile, String(process.pid), { flag: 'wx' });
      process.once('exit', () => rmSync(installingFile, { force: true }));
      return;
    } catch ({ code, message }) {
      if (code !== 'EEXIST') fail(`${modules} cannot be written (${message}).`);
    }
    const owner = read(installingFile);
    // Empty for the moment between its creation and its content.
    if (owner !== '' && !isAlive(Number(owner))) rmSync(installingFile, { force: true });
    else {
      if (!isTold) process.stderr.write('Another command installs the dependencies: waiting for it…\n');
      isTold = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
    }
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
  lock();
  // Another process may have installed meanwhile.
  if (!isInstalled()) {
    if (!matchesInstalled(isOnlyRunning)) {
      const running = replacesPackages() ? runningProcess() : undefined;
      if (running !== undefined)
        fail(
          `This version needs other packages, and Annals runs from this folder (process ${running}): stop it, and run the command again.`,
        );
      install(isOnlyRunning && !hasTools());
    }
    writeFileSync(stampFile, matchesInstalled(false) ? wholeStamp : runningStamp);
  }
}
