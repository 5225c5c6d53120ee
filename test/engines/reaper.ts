import { setTimeout as delay } from 'node:timers/promises';
import { killRolesOf, removeDataDirsOf } from './data-dir.ts';

/** The workers of a killed run live on for a moment, and may make another folder. */
const PASSES_MAX = 20;
const QUIET_PASSES = 4;
const PASS_MS = 250;

/**
 * Outlives a killed test run, and ends and removes what it leaves. Standard input is a pipe from the run: it
 * ends with the run, for any reason.
 */
const [run] = process.argv.slice(2);
if (run === undefined) throw new Error('the reaper needs the name of a run');
for await (const _ of process.stdin) {
  // Nothing is ever sent.
}
let quiet = 0;
for (let pass = 0; pass < PASSES_MAX && quiet < QUIET_PASSES; pass += 1) {
  await killRolesOf(run);
  quiet = (await removeDataDirsOf(run)) ? 0 : quiet + 1;
  await delay(PASS_MS);
}
