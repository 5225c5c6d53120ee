import { readdir, readFile } from 'node:fs/promises';
import { ratios, report, showSpread, spreadOf } from './figures.ts';
import type { Loaded } from './load.ts';
import { median } from './table.ts';

export type Contender = {
  readonly title: string;
  /** The serving process, if it can be measured. */
  readonly pid?: number | undefined;
  /** Its process is also its database. */
  readonly hasOwnDatabase?: boolean;
  run(durationMs: number): Promise<Loaded>;
};

/** Load results and CPU time per request, which depends little on other load on the machine. */
export type Measured = Loaded & {
  /** Of the serving process. */
  readonly cpuUs: number;
  /** Of all processes of the database, which has no other client. */
  readonly databaseUs: number;
  /** Of this process, which sends the requests. */
  readonly loadUs: number;
};

/** The medians of all rounds, and the rounds. */
export type Taken = Measured & { readonly rounds: readonly Measured[] };

type Turns = {
  readonly rounds: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
  /** The first process of the database, if its CPU time is to be measured. */
  readonly postmasterPid?: number | undefined;
};

/**
 * The contenders take turns within each round, so that a drift of the machine affects all of them. Uses the
 * medians, and for costs the lower quartiles.
 */
export const takeTurns = async (
  contenders: readonly Contender[],
  turns: Turns,
): Promise<ReadonlyMap<Contender, Taken>> => {
  const runs = new Map<Contender, Measured[]>(contenders.map((contender) => [contender, []]));
  for (const contender of contenders) await contender.run(turns.warmUpMs);
  for (let round = 0; round < turns.rounds; round += 1) {
    // Alternates the order, so that no contender always follows the same one.
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      runs.get(contender)?.push(await measure(contender, turns));
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  return new Map(
    [...runs].map(([contender, measured]) => [contender, { ...mediansOf(measured), rounds: measured }]),
  );
};

/**
 * The figures: answers per second, and CPU time per request, including that of the database if it is
 * measured.
 */
const FIGURES = {
  rate: (ours: readonly Measured[], other: readonly Measured[]) =>
    ratios(
      ours.map(({ rate }) => rate),
      other.map(({ rate }) => rate),
    ),
  CPU: (ours: readonly Measured[], other: readonly Measured[]) => ratios(other.map(costOf), ours.map(costOf)),
};

const costOf = ({ cpuUs, databaseUs }: Measured): number =>
  cpuUs + (Number.isNaN(databaseUs) ? 0 : databaseUs);

/** How many times better ours is than another, for a table; a named figure is also reported to the guard. */
export const besides = (of: keyof typeof FIGURES, ours: Taken, other: Taken, name?: string): string => {
  const rounds = FIGURES[of](ours.rounds, other.rounds);
  if (rounds.some(Number.isNaN)) return '';
  return name === undefined ? showSpread(spreadOf(rounds)) : report(`${name}: ${of}`, rounds);
};

const measure = async (
  { pid, hasOwnDatabase, run }: Contender,
  { durationMs, postmasterPid }: Turns,
): Promise<Measured> => {
  const look = async () => {
    const { user, system } = process.cpuUsage();
    return {
      cpuUs: (await statOf(pid)).cpuUs,
      databaseUs: await cpuUsOfDatabase(hasOwnDatabase ? undefined : postmasterPid),
      loadUs: user + system,
    };
  };
  const before = await look();
  const loaded = await run(durationMs);
  const after = await look();
  const spent = (field: keyof typeof before): number => (after[field] - before[field]) / loaded.count;
  return { ...loaded, cpuUs: spent('cpuUs'), databaseUs: spent('databaseUs'), loadUs: spent('loadUs') };
};

const mediansOf = (measured: readonly Measured[]): Measured => {
  const of = (field: keyof Measured) => median(measured.map((each) => each[field]));
  // Other load can only increase the cost of a request, by pushing it out of the caches.
  const least = (field: keyof Measured) =>
    measured.map((each) => each[field]).toSorted((a, b) => a - b)[measured.length >> 2] ?? Number.NaN;
  const costs = { cpuUs: least('cpuUs'), databaseUs: least('databaseUs'), loadUs: least('loadUs') };
  return { count: of('count'), rate: of('rate'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), ...costs };
};

/** Its processes, and those that have ended. */
export const cpuUsOfDatabase = async (postmasterPid: number | undefined): Promise<number> => {
  if (postmasterPid === undefined) return Number.NaN;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const children = (await Promise.all(pids.map(statOf))).filter(
    ({ parentPid }) => parentPid === postmasterPid,
  );
  return children.reduce((sum, { cpuUs }) => sum + cpuUs, (await statOf(postmasterPid)).endedUs);
};

const US_PER_TICK = 10_000;
const [PARENT, USER_TIME, SYSTEM_TIME, ENDED_USER_TIME, ENDED_SYSTEM_TIME] = [1, 11, 12, 13, 14];

/** From Linux; unknown elsewhere. */
export const statOf = async (pid: number | undefined) => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name, which may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const usOf = (...places: readonly number[]): number =>
    places.reduce((sum, place) => sum + Number(fields[place]) * US_PER_TICK, 0);
  return {
    parentPid: Number(fields[PARENT]),
    cpuUs: usOf(USER_TIME, SYSTEM_TIME),
    endedUs: usOf(ENDED_USER_TIME, ENDED_SYSTEM_TIME),
  };
};
