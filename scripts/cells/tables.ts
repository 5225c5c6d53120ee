import { ASSUMED, MEASURED, PRICES } from './figures.ts';
import { type Outcome, type Simulated, simulate } from './simulate.ts';

/** The same draws for both, so that the moves are all that differs. */
const SIMULATED = { seed: 26, cells: 100, tenants: 20_000, events: 1_000_000_000, days: 30 } as const;

/** The tables of docs/scaling.md, in Markdown. */
export const tables = (given: Omit<Simulated, 'moves'> = SIMULATED): readonly string[] => {
  const still = simulate({ ...given, moves: false });
  const moving = simulate({ ...given, moves: true });
  return [movesTable(still, moving), costsTable(given, moving)];
};

const movesTable = (still: Outcome, moving: Outcome): string =>
  table(
    ['', 'Nobody moves', 'Hot cells move tenants away'],
    [
      [
        'events a day of the median, 95th percentile, busiest cell, to the mean',
        ...both(still, moving, spreadOf),
      ],
      [
        'the largest tenant alone, to the mean of a cell',
        ...both(still, moving, (of) => times(of.largestTenant)),
      ],
      [
        'moves in 30 days, and the number of tenants moved',
        '0',
        `${whole(moving.moves)}, ${whole(moving.movedTenants)}`,
      ],
      ['events copied', '0', millions(moving.movedEvents)],
      [
        'one copy, median and longest',
        '–',
        `${seconds(moving.copySeconds.median)}, ${seconds(moving.copySeconds.max)}`,
      ],
      ['writes of a tenant refused, all moves together', '0', seconds(moving.pausedSeconds)],
      ['events in the log of the median and the fullest cell', ...both(still, moving, logsOf)],
      ['disk for them', ...both(still, moving, diskOf)],
      [
        'read model rebuilt, median and fullest cell',
        ...both(still, moving, inLogs(MEASURED.projectedPerSecond)),
      ],
      ['proven by `audit verify`, the same', ...both(still, moving, inLogs(MEASURED.verifiedPerSecond))],
    ],
  );

const both = (still: Outcome, moving: Outcome, of: (outcome: Outcome) => string): readonly string[] => [
  of(still),
  of(moving),
];
const spreadOf = ({ spread: { median, p95, max } }: Outcome): string =>
  `${times(median)}, ${times(p95)}, ${times(max)}`;
const logsOf = ({ logs: { median, max } }: Outcome): string => `${millions(median)}, ${millions(max)}`;
const diskOf = ({ logs: { median, max } }: Outcome): string =>
  `${gigabytes(median * MEASURED.bytesPerEvent)}, ${gigabytes(max * MEASURED.bytesPerEvent)}`;
const inLogs =
  (perSecond: number) =>
  ({ logs: { median, max } }: Outcome): string =>
    `${seconds(median / perSecond)}, ${seconds(max / perSecond)}`;

const HOURS_PER_DAY = 24;
const HOURS_PER_MONTH = 730;
const SECONDS_PER_DAY = 86_400;
const PERIODS = [
  ['a year', 365],
  ['30 days', 30],
  ['a day', 1],
] as const;

/** Processors that all cells need at the peak, on the instances of the roles and on those of PostgreSQL. */
const coresAtPeak = (events: number, days: number): number => {
  const writesPerSecond = (events / days / SECONDS_PER_DAY) * ASSUMED.peakFactor;
  const { readsPerWrite, postgresMsPerRead, postgresMsPerFollowedWrite } = ASSUMED;
  const node = MEASURED.nodeMsPerWrite + readsPerWrite * MEASURED.nodeMsPerRead;
  const postgres =
    MEASURED.postgresMsPerWrite + postgresMsPerFollowedWrite + readsPerWrite * postgresMsPerRead;
  return (writesPerSecond * Math.max(node, postgres)) / MS_PER_SECOND;
};
const MS_PER_SECOND = 1_000;

type Instance = (typeof PRICES.instances)[number];
type Priced = {
  readonly instance: Instance;
  readonly cells: number;
  readonly events: number;
  readonly days: number;
};

/** Storage grows from nothing, so half of it is paid for on average. */
const dollarsPerMillion = ({ instance, cells, events, days }: Priced): number => {
  const hours = days * HOURS_PER_DAY;
  const instances = cells * PRICES.instancesPerCell * instance.dollarsPerHour * hours;
  const gigabytes =
    (events * MEASURED.bytesPerEvent * ASSUMED.diskFactor * PRICES.disksPerCell) / GIGABYTE / 2;
  return (
    (instances + (gigabytes * PRICES.dollarsPerGigabyteMonth * hours) / HOURS_PER_MONTH) / (events / MILLION)
  );
};

/** The same events in a longer or a shorter time. */
const costsTable = (
  { cells, events }: Omit<Simulated, 'moves'>,
  { spread, largestTenant }: Outcome,
): string =>
  table(
    [
      '1,000,000,000 events in',
      'Instances',
      'Processors in use at the peak: mean, busiest cell',
      'Per million events, 100 cells',
      'Cells that would do',
      'Per million events, that number of cells',
      'Rebuild of one of them',
    ],
    PERIODS.flatMap(([period, days]) =>
      PRICES.instances.map((instance) => {
        const cores = coresAtPeak(events, days);
        const mean = cores / cells / instance.vcpus;
        const busiest = mean * spread.max;
        const enough = Math.ceil(cores / (instance.vcpus * ASSUMED.utilisationMax));
        const ofLargest = mean * largestTenant;
        const used = `${percent(mean)}, ${percent(busiest)}`;
        const all = dollars(dollarsPerMillion({ instance, cells, events, days }));
        if (ofLargest > ASSUMED.utilisationMax)
          return [period, instance.name, used, all, 'none: the largest tenant is too large', '–', '–'];
        return [
          ...[period, instance.name, used, all],
          whole(enough),
          dollars(dollarsPerMillion({ instance, cells: enough, events, days })),
          seconds(events / enough / MEASURED.projectedPerSecond),
        ];
      }),
    ),
  );

const MILLION = 1_000_000;
const GIGABYTE = 1_000_000_000;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const whole = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });
const times = (value: number): string => `${value.toFixed(2)}×`;
const millions = (value: number): string =>
  `${(value / MILLION).toLocaleString('en', { maximumFractionDigits: 1 })} million`;
const gigabytes = (bytes: number): string => `${whole(bytes / GIGABYTE)} GB`;
const percent = (share: number): string =>
  `${(share * 100).toLocaleString('en', { maximumSignificantDigits: 2 })} %`;
const dollars = (value: number): string =>
  `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

const MINUTE_S = 60;
const HOUR_S = 3_600;
const FEW = 3;
const seconds = (value: number): string => {
  if (value < FEW * MINUTE_S) return `${whole(value)} s`;
  return value < FEW * HOUR_S ? `${whole(value / MINUTE_S)} min` : `${whole(value / HOUR_S)} h`;
};
