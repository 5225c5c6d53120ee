import { appendFileSync } from 'node:fs';

/** All cost a second of the processor or more, except a database. */
type Started = 'installation' | 'process' | 'database';

let startedFor = '';

/** Before each file: starts from now on are for it. */
export const countStartsFor = (project: string, file: string): void => {
  startedFor = `${project}\t${file}`;
};

/** Adds a line to the file that ANNALS_TEST_STARTS names: what was started, and for which test file. */
export const countStart = (what: Started, which: string): void => {
  const counted = process.env.ANNALS_TEST_STARTS;
  if (counted !== undefined) appendFileSync(counted, `${what}\t${which}\t${startedFor}\n`);
};
