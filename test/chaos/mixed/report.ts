import { INVARIANTS, type Violation } from './check/violation.ts';
import type { Injected } from './history.ts';
import type { Outcome } from './run.ts';

/** The result of a run, as tables for people. */
export const report = ({ history, violations, recorder }: Outcome, repeat: string): string => {
  const { faults, writes, reads, log, feeds, deliveries, ends } = history;
  const all = faults.map(slowest);
  const tried = [...recorder.failures.values()].reduce((sum, count) => sum + count, 0);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const starts = ends.filter(({ isExpected, isDuringStart }) => !isExpected && isDuringStart).length;
  const totals: readonly Row[] = [
    ['faults injected', faults.length],
    ['writes acknowledged', writes.filter(({ outcome }) => outcome === 'acknowledged').length],
    ['reads', reads.length],
    ['events in the log', log.length],
    ['messages received by subscribers', sum(feeds.map(({ received }) => received.length))],
    ['deliveries', sum(deliveries.map(({ expected }) => expected.length))],
    ['callbacks received', sum(deliveries.map(({ received }) => received.length))],
    ['requests, and retried ones', `${recorder.attempts()}, ${tried}`],
    ['processes ended, and starts without an engine', `${ends.length}, ${starts}`],
    ...KINDS.map((kind): Row => [kind, violations.filter((each) => each.kind === kind).length]),
    ['recovery p50, p99', `${seconds(percentile(all, 0.5))}, ${seconds(percentile(all, 0.99))}`],
  ];
  const byFault = [...Map.groupBy(faults, ({ fault }) => fault)].map(([fault, same]): readonly string[] => {
    const times = same.map(slowest);
    return [fault, String(same.length), seconds(percentile(times, 0.5)), seconds(Math.max(...times))];
  });
  const kinds = Object.keys(faults[0]?.recovery ?? {});
  const byKind = kinds.map((kind): readonly string[] => {
    const times = faults.map(({ recovery }) => recovery[kind] ?? 0);
    return [
      kind,
      seconds(percentile(times, 0.5)),
      seconds(percentile(times, 0.99)),
      seconds(Math.max(...times)),
    ];
  });
  const failures = [...recorder.failures]
    .toSorted(([, one], [, other]) => other - one)
    .map(([why, count]) => [why, String(count)]);
  return [
    table(
      ['', ''],
      totals.map(([name, value]) => [name, String(value)]),
    ),
    table(['first success after the repair', 'p50', 'p99', 'longest'], byKind),
    table(['fault', 'times', 'recovery p50', 'longest'], byFault.toSorted()),
    table(['failed attempts that were retried', 'times'], failures),
    table(['processes that ended without a signal, and why', 'times'], countedReasons(ends)),
    reportViolations(violations),
    `To repeat it: ${repeat}`,
  ].join('\n\n');
};

type Row = readonly [name: string, value: number | string];

const countedReasons = (ends: Outcome['history']['ends']): readonly (readonly string[])[] => {
  const byReason = Map.groupBy(
    ends.filter(({ isExpected }) => !isExpected),
    ({ name, isDuringStart, said }) =>
      `${name}, ${isDuringStart ? 'starting' : 'running'}: ${reasonIn(said)}`,
  );
  return [...byReason].map(([reason, same]) => [reason, String(same.length)]).toSorted();
};

/** The error at the end of its log, or the sentence that refused its start. */
const reasonIn = (said: string): string =>
  [...said.matchAll(/"message":"((?:[^"\\]|\\.)*)"/g)].at(-1)?.[1] ?? said.split('\n').at(-1) ?? '';

const KINDS = [
  'lost',
  'duplicated',
  'reordered',
  'stale',
  'other',
] as const satisfies readonly Violation['kind'][];

/** Recovered means that every operation succeeds again. */
const slowest = ({ recovery }: Injected): number => Math.max(...Object.values(recovery));

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? 0;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join(
    '\n',
  );
};

const SHOWN_MAX = 40;

const reportViolations = (violations: readonly Violation[]): string => {
  if (violations.length === 0) return `Nothing is wrong: ${Object.keys(INVARIANTS).join(', ')} hold.`;
  const shown = violations
    .slice(0, SHOWN_MAX)
    .map(({ invariant, kind, what }) => `${invariant} (${INVARIANTS[invariant]}), ${kind}: ${what}`);
  return [`${violations.length} violations:`, ...shown].join('\n');
};
