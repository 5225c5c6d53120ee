import { readFile } from 'node:fs/promises';
import type { Loaded } from './load.ts';
import { median } from './table.ts';

export type Contender = {
  readonly title: string;
  /** The process that serves, where there is one to look at. */
  readonly pid?: number | undefined;
  run(durationMs: number): Promise<Loaded>;
};

/** `cpuUs` is what the server's process spends on one request: the same on a machine that does other things as well. */
export type Measured = Loaded & { readonly cpuUs: number };

type Turns = { readonly rounds: number; readonly durationMs: number; readonly warmUpMs?: number };

/** The contenders take turns within each round, so that a machine that drifts drifts for all of them; the medians count. */
export const takeTurns = async (
  contenders: readonly Contender[],
  { rounds, durationMs, warmUpMs = 1_000 }: Turns,
): Promise<ReadonlyMap<Contender, Measured>> => {
  const runs = new Map<Contender, Measured[]>(contenders.map((contender) => [contender, []]));
  for (const contender of contenders) await contender.run(warmUpMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders) {
      runs.get(contender)?.push(await measure(contender, durationMs));
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  return new Map([...runs].map(([contender, measured]) => [contender, mediansOf(measured)]));
};

const measure = async ({ pid, run }: Contender, durationMs: number): Promise<Measured> => {
  const before = await cpuUsOf(pid);
  const loaded = await run(durationMs);
  return { ...loaded, cpuUs: ((await cpuUsOf(pid)) - before) / loaded.count };
};

const mediansOf = (measured: readonly Measured[]): Measured => {
  const of = (field: keyof Measured) => median(measured.map((each) => each[field]));
  return { count: of('count'), rate: of('rate'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuUs: of('cpuUs') };
};

const US_PER_TICK = 10_000;
const [USER_TIME, SYSTEM_TIME] = [11, 12];

/** As Linux tells; elsewhere it is not known. */
const cpuUsOf = async (pid: number | undefined): Promise<number> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name, which may have any characters in it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * US_PER_TICK;
};
