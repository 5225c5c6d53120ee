import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Lets a process of Node collect garbage on a signal. */
export const COLLECTING = ['--expose-gc', `--import=${new URL('./collect.ts', import.meta.url)}`];

const LOOKS = 12;
const LOOK_MS = 250;
const PAGE_BYTES = 4_096;

/**
 * The resident memory of a process after a collection, on Linux: the minimum of several readings, because
 * memory is released gradually.
 */
export const residentBytes = async (pid: number): Promise<number> => {
  process.kill(pid, 'SIGUSR2');
  const seen: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await delay(LOOK_MS);
    const [, resident] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    seen.push(Number(resident) * PAGE_BYTES);
  }
  return Math.min(...seen);
};
