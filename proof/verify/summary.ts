import type { Finding, Report, RowFinding } from '#shared/rest/verification-report.ts';
import { BOOKKEEPING } from './compare-live.ts';

/** The report as readable lines: proven ranges, unproven ones, and all differences. */
export const summaryOf = (report: Report): readonly string[] => [
  ...proven(report),
  ...exceptional(report),
  unproven(report),
  ...(report.findings.total === 0
    ? []
    : ['', `${number(report.findings.total)} findings:`, ...report.findings.listed.flatMap(linesOf)]),
  ...unlisted(report),
];

const proven = ({ outcome, log, readModel, files, chain, tookMs }: Report): readonly string[] => {
  const seconds = Math.max(tookMs / 1_000, 0.001);
  const rate = number(Math.round(log.events / seconds));
  return [
    `${outcome === 'proven' ? 'Proven' : 'NOT PROVEN'}, up to position ${log.position}: ${number(log.events)} events in ${number(Math.ceil(seconds))} s, ${rate} a second.`,
    `Event log: checked positions, versions, ids and schemas. Hash chain: ${number(chain.chained)} events, ${number(chain.signed)} of them below a signed head outside the database.`,
    ...(readModel ? [readModelLine(readModel)] : ['The read model was not checked.']),
    ...(files
      ? [`Files: compared the content of ${number(files.compared)} with the digests in their events.`]
      : []),
  ];
};

const readModelLine = ({
  position,
  rows,
  isComparedWithLive,
  signedDigest,
}: NonNullable<Report['readModel']>): string => {
  const counts = Object.entries(rows)
    // Empty tables beside those of aggregates are omitted.
    .filter(([table, count]) => count > 0 || !BOOKKEEPING.includes(table))
    .map(([table, count]) => `${table} ${number(count)}`)
    .join(', ');
  const where = `Read model at position ${position}`;
  if (isComparedWithLive)
    return `${where}: compared the live rows, a replay and the states of the deciders: ${counts}.`;
  const signed = signedDigest
    ? `the replay was compared with the digest signed at position ${signedDigest.position}`
    : 'no digest was signed for it';
  return `${where}: compared a replay with the states of the deciders: ${counts}. The live rows are newer and were not compared; ${signed}.`;
};

const exceptional = ({ parked, leftOut }: Report): readonly string[] => [
  ...(parked.total === 0
    ? []
    : [`Parked aggregates, which are not shown: ${number(parked.total)}. “projection parked” lists them.`]),
  ...parked.listed
    .slice(0, 10)
    .map(
      ({ stream, version, type, position, reason }) =>
        `  ${stream}@${version}  ${type}  at position ${position}: ${reason}`,
    ),
  ...(leftOut.total === 0 ? [] : [`Events skipped by an operator: ${number(leftOut.total)}.`]),
  ...leftOut.listed
    .slice(0, 10)
    .map(
      ({ stream, version, position, reason }) => `  ${stream}@${version}  at position ${position}: ${reason}`,
    ),
];

const unproven = ({ chain: { unproven: window } }: Report): string => {
  if (window.since === null)
    return 'There is no signed head outside the database yet. Until there is one, nothing outside the database proves the log.';
  if (window.events === 0)
    return `The head signed at ${window.since}, which is kept outside the database, covers all events.`;
  return `The newest head outside the database was signed at ${window.since}. Nothing outside the database proves later events yet: ${number(window.events)}.`;
};

const linesOf = (finding: Finding): readonly string[] => {
  if (isOfRow(finding)) return rowLines(finding);
  if (finding.kind === 'stream_cut') return [cutLine(finding)];
  const { kind, ...rest } = finding;
  return [
    `  ${words(kind)}: ${JSON.stringify(rest)}`,
    ...(kind === 'left_out_though_sound' ? [RETRIED] : []),
  ];
};

const cutLine = ({ stream, from, to }: Extract<Finding, { kind: 'stream_cut' }>): string => {
  const versions = to === from ? `version ${from}` : `versions ${from}–${to}`;
  return `  stream cut: stream ${stream} lacks ${to === null ? 'all its versions' : versions}; it was cut or deleted in EventStoreDB.`;
};

/** A skipped event that is read again may be legitimate: releases can read events that earlier ones could not. */
const RETRIED =
  '    If it was skipped because an earlier release could not read it, apply it now: delete its row from public.projection_skip, and run “projection rebuild”.';

const isOfRow = (finding: Finding): finding is RowFinding => /^(row|fold)_/.test(finding.kind);

const rowLines = ({ kind, table, key, columns, events, eventsTotal }: RowFinding): readonly string[] => [
  `  ${words(kind)}: ${table} ${key}`,
  ...columns.map(
    ({ name, recorded, found }) => `    ${name}: by the log ${quoted(recorded)}, found ${quoted(found)}`,
  ),
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
