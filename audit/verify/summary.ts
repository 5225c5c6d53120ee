import type { Finding, Report, RowFinding } from '#shared/audit/verification-report.ts';
import { BOOKKEEPING } from './compare-live.ts';

/** The report as lines for people: what was proven and up to where, what was not, and everything that differs. */
export const summaryOf = (report: Report): readonly string[] => [
  ...proven(report),
  ...exceptional(report),
  unproven(report),
  ...(report.findings.total === 0
    ? []
    : ['', `${number(report.findings.total)} that must not be:`, ...report.findings.listed.flatMap(linesOf)]),
  ...unlisted(report),
];

const proven = ({ outcome, log, readModel, chain, tookMs }: Report): readonly string[] => {
  const seconds = Math.max(tookMs / 1_000, 0.001);
  const rate = number(Math.round(log.events / seconds));
  return [
    `${outcome === 'proven' ? 'Proven' : 'NOT PROVEN'}, up to position ${log.position}: ${number(log.events)} events in ${number(Math.ceil(seconds))} s, ${rate} a second.`,
    `The log: positions, versions, ids and schemas; ${number(chain.chained)} of the events are in the chain, ${number(chain.signed)} under a head kept outside the database.`,
    ...(readModel ? [readModelLine(readModel)] : ['The read model was not looked at.']),
  ];
};

const readModelLine = ({ position, rows, isComparedWithLive, signedDigest }: NonNullable<Report['readModel']>): string => {
  const counts = Object.entries(rows)
    // What is kept beside the aggregates is told where there is any.
    .filter(([table, count]) => count > 0 || !BOOKKEEPING.includes(table))
    .map(([table, count]) => `${number(count)} ${table}`)
    .join(', ');
  const where = `The read model at position ${position}`;
  if (isComparedWithLive) return `${where}: the rows in use, a replay, and what the deciders say, each held against the other: ${counts}.`;
  const signed = signedDigest
    ? `at position ${signedDigest.position} the replay was held against the digest that was signed then`
    : 'no digest was signed then';
  return `${where}: a replay held against what the deciders say: ${counts}. No rows in use are of then, so none were compared; ${signed}.`;
};

const exceptional = ({ parked, leftOut }: Report): readonly string[] => [
  ...(parked.total === 0 ? [] : [`Parked, and therefore not shown: ${number(parked.total)}. “projection parked” lists them.`]),
  ...parked.listed
    .slice(0, 10)
    .map(({ stream, version, type, position, reason }) => `  ${stream}@${version}  ${type}  at position ${position}: ${reason}`),
  ...(leftOut.total === 0 ? [] : [`Left out by an operator: ${number(leftOut.total)}.`]),
  ...leftOut.listed
    .slice(0, 10)
    .map(({ stream, version, position, reason }) => `  ${stream}@${version}  at position ${position}: ${reason}`),
];

const unproven = ({ chain: { unproven: window } }: Report): string => {
  if (window.since === null) return 'No signed head outside the database was found: nothing outside it proves the log yet.';
  if (window.events === 0) return `Everything is under the head that was signed at ${window.since} and is kept outside the database.`;
  return `The newest head outside the database was signed at ${window.since}: nothing outside it proves the ${number(window.events)} events since then.`;
};

const linesOf = (finding: Finding): readonly string[] => {
  if (isOfRow(finding)) return rowLines(finding);
  const { kind, ...rest } = finding;
  return [`  ${words(kind)}: ${JSON.stringify(rest)}`, ...(kind === 'left_out_though_sound' ? [RETRIED] : [])];
};

/** It may be no forgery: there are releases that know what former ones did not. */
const RETRIED =
  '    Was it left out under a release that could not read it? Then take it in: delete its row from public.projection_skip, and run “projection rebuild”.';

const isOfRow = (finding: Finding): finding is RowFinding => /^(row|fold)_/.test(finding.kind);

const rowLines = ({ kind, table, key, columns, events, eventsTotal }: RowFinding): readonly string[] => [
  `  ${words(kind)}: ${table} ${key}`,
  ...columns.map(({ name, recorded, found }) => `    ${name}: by the log ${quoted(recorded)}, found ${quoted(found)}`),
  ...(eventsTotal > events.length ? [`    … ${number(eventsTotal - events.length)} earlier events`] : []),
  ...events.map(
    ({ position, version, type, at, actor, client }) =>
      `    ${position}  @${version}  ${type}  ${at ?? 'at no time'}  ${actor ?? 'by nobody'}${client === null ? '' : `  through ${client}`}`,
  ),
];

const unlisted = ({ findings: { total, listed, byKind } }: Report): readonly string[] =>
  listed.length === total
    ? []
    : [
        `  Of all: ${Object.entries(byKind)
          .map(([kind, count]) => `${number(count)} ${words(kind)}`)
          .join(', ')}.`,
      ];

const words = (kind: string): string => kind.replaceAll('_', ' ');
const quoted = (value: string | null): string => (value === null ? 'nothing' : JSON.stringify(value));
const number = (value: number): string => value.toLocaleString('en');
