import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** With these a process of Node collects its garbage when it is asked to. */
export const COLLECTING = ['--expose-gc', `--import=${new URL('./collect.ts', import.meta.url)}`];

const LOOKS = 12;
const LOOK_MS = 250;
const PAGE_BYTES = 4_096;

/**
 * What a process has in memory after a collection, as Linux tells: the least of some looks, because memory is
 * given back bit by bit.
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
