// Imported by every process of Annals that runs for long (process/run.ts): until it ends, no install takes
// packages away that it may still load (ensure-installed.mjs).
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isRunning, processName } from './process-id.mjs';

const folder = new URL('../node_modules/.annals-running/', import.meta.url);
/** The folder may be read-only, as in a container: then nobody installs there either. */
const NOT_OURS = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOSPC']);

const quietly = (work) => {
  try {
    work();
  } catch (error) {
    if (!NOT_OURS.has(error.code)) throw error;
  }
};

/** Not recursively: without `node_modules`, nothing is to be protected. */
const makeFolder = () => {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
};

quietly(() => {
  const note = new URL(processName(process.pid), folder);
  makeFolder();
  // One that was killed leaves its note.
  for (const name of readdirSync(folder))
    if (!isRunning(name)) rmSync(new URL(name, folder), { force: true });
  writeFileSync(note, '');
  process.once('exit', () => quietly(() => rmSync(note, { force: true })));
});
