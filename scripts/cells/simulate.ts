import { ASSUMED, MEASURED } from './figures.ts';

export type Simulated = {
  readonly seed: number;
  readonly cells: number;
  readonly tenants: number;
  readonly events: number;
  readonly days: number;
  /** Whether hot cells move tenants away. */
  readonly moves: boolean;
};

export type Outcome = {
  /** Events of a cell on the last day, against the mean of all cells. */
  readonly spread: { readonly median: number; readonly p95: number; readonly max: number };
  /** The same of the largest tenant, which no move makes smaller. */
  readonly largestTenant: number;
  readonly moves: number;
  readonly movedTenants: number;
  readonly movedEvents: number;
  /** Copying one tenant, from the first event that is read on. */
  readonly copySeconds: { readonly median: number; readonly max: number };
  /** Of all tenants together. */
  readonly pausedSeconds: number;
  /** Events in the log of a cell, those of tenants that have left among them. */
  readonly logs: { readonly median: number; readonly max: number };
};

type Tenant = {
  readonly weight: number;
  readonly arrives: number;
  activity: number;
  today: number;
  events: number;
};
type Cell = { readonly tenants: Set<Tenant>; log: number; today: number };

/** A cell with more than this of the mean is hot, and none gets more than that by a move. */
const HOT = 1.3;
const FULL = 1.1;
const MOVES_PER_CELL_AND_DAY = 5;
/** The change of a tenant's activity from day to day: the standard deviation of its logarithm. */
const DRIFT = 0.1;

/**
 * Tenants have sizes by Zipf's law: the second has half of the first. Half of them are there at first, the
 * others come one after the other. A new tenant begins in the cell with the least load, because its size is
 * not known yet. Once a day, hot cells move tenants away.
 */
export const simulate = (given: Simulated): Outcome => {
  const next = generator(given.seed);
  const tenants = makeTenants(given, next);
  const cells: Cell[] = Array.from({ length: given.cells }, () => ({ tenants: new Set(), log: 0, today: 0 }));
  const copies: number[] = [];
  const moved = new Set<Tenant>();
  let movedEvents = 0;
  let placed = 0;
  for (let day = 0; day < given.days; day += 1) {
    for (; (tenants[placed]?.arrives ?? Number.POSITIVE_INFINITY) <= day; placed += 1)
      place(cells, tenants[placed] as Tenant, given);
    drift(tenants.slice(0, placed), next);
    live(cells, given);
    if (!given.moves) continue;
    for (const { tenant, from } of rebalance(cells)) {
      copies.push((2 * from.log) / MEASURED.readPerSecond + tenant.events / MEASURED.copiedPerSecond);
      moved.add(tenant);
      movedEvents += tenant.events;
    }
  }
  const total = cells.reduce((sum, { today }) => sum + today, 0);
  const loads = sorted(cells.map(({ today }) => (today * cells.length) / total));
  const logs = sorted(cells.map(({ log }) => log));
  const largest = Math.max(...cells.flatMap((cell) => [...cell.tenants].map(({ today }) => today)));
  return {
    spread: { median: at(loads, 0.5), p95: at(loads, 0.95), max: at(loads, 1) },
    largestTenant: (largest * cells.length) / total,
    moves: copies.length,
    movedTenants: moved.size,
    movedEvents,
    copySeconds: { median: at(sorted(copies), 0.5), max: at(sorted(copies), 1) },
    pausedSeconds: copies.length * ASSUMED.pauseSeconds,
    logs: { median: at(logs, 0.5), max: at(logs, 1) },
  };
};

/** In the order in which they come. */
const makeTenants = ({ tenants, days }: Simulated, next: () => number): readonly Tenant[] =>
  Array.from({ length: tenants }, (_, index) => ({
    weight: 1 / (index + 1),
    arrives: next() < 0.5 ? 0 : Math.floor(next() * days),
    activity: 1,
    today: 0,
    events: 0,
  })).toSorted((one, other) => one.arrives - other.arrives || next() - 0.5);

const place = (cells: readonly Cell[], tenant: Tenant, { events, days, tenants }: Simulated): void => {
  const least = cells.reduce((one, other) => (other.today < one.today ? other : one));
  least.tenants.add(tenant);
  // Nobody knows yet what it will do: the mean of all.
  least.today += events / days / tenants;
};

/** In one order, wherever they are, so that moves change nothing of what tenants do. */
const drift = (tenants: readonly Tenant[], next: () => number): void => {
  for (const tenant of tenants) tenant.activity *= Math.exp(DRIFT * normal(next));
};

/** One day, with its share of all events. */
const live = (cells: readonly Cell[], { events, days }: Simulated): void => {
  let sum = 0;
  for (const cell of cells) for (const { weight, activity } of cell.tenants) sum += weight * activity;
  for (const cell of cells) {
    cell.today = 0;
    for (const tenant of cell.tenants) {
      tenant.today = ((tenant.weight * tenant.activity) / sum) * (events / days);
      tenant.events += tenant.today;
      cell.today += tenant.today;
    }
    cell.log += cell.today;
  }
};

type Move = { readonly tenant: Tenant; readonly from: Cell };

const rebalance = (cells: readonly Cell[]): readonly Move[] => {
  const mean = cells.reduce((sum, { today }) => sum + today, 0) / cells.length;
  const moves: Move[] = [];
  for (const from of cells)
    for (let turn = 0; turn < MOVES_PER_CELL_AND_DAY && from.today > HOT * mean; turn += 1) {
      const to = cells.reduce((one, other) => (other.today < one.today ? other : one));
      const tenant = largestThatFits(from, Math.min(from.today - mean, FULL * mean - to.today));
      if (tenant === undefined) break;
      from.tenants.delete(tenant);
      to.tenants.add(tenant);
      from.today -= tenant.today;
      to.today += tenant.today;
      to.log += tenant.events;
      moves.push({ tenant, from });
    }
  return moves;
};

const largestThatFits = (cell: Cell, room: number): Tenant | undefined => {
  let found: Tenant | undefined;
  for (const tenant of cell.tenants)
    if (tenant.today <= room && tenant.today > (found?.today ?? 0)) found = tenant;
  return found;
};

const sorted = (numbers: readonly number[]): readonly number[] =>
  numbers.toSorted((one, other) => one - other);
const at = (numbers: readonly number[], share: number): number =>
  numbers[Math.min(Math.floor(share * numbers.length), numbers.length - 1)] ?? 0;

/** By Box and Muller. */
const normal = (next: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

/** Mulberry32: the same draws for the same seed. */
const generator = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
