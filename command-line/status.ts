// Over 200 lines, because it is one screen: what it reads, and the words for it.

import { StartRefused } from '#kernel/base/start-refused.ts';
import { bytesText, plural, spanText } from '#shared/format.ts';
import { checkNamesOf, type Finding, findingsOf } from '#shared/installation-health.ts';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { OperationsStatus, ParkedItem } from '#shared/rest/operator.ts';
import type { Command } from './arguments/command.ts';
import { type Paint, paintOf } from './output/paint.ts';
import { harmless } from './output/print-event.ts';
import { REMOTE_OPTIONS, type Remote, withRemote } from './remote/remote.ts';
import { probeRoles, type Readiness, type RoleAnswer, readReadiness } from './remote/roles.ts';

/** Exit codes for scripts: an installation that needs attention, and one that cannot be asked. */
const NEEDS_ATTENTION = 1;
const NOT_ASKED = 2;

type Status = {
  readonly url: string;
  readonly version: string;
  readonly readiness: Readiness | null;
  readonly roles: readonly RoleAnswer[];
  readonly operations: OperationsStatus;
  readonly audit?: AuditStatus;
  /** The checks that were made. */
  readonly checks: readonly string[];
  readonly findings: readonly Finding[];
  /** The latest of the parked items. */
  readonly parked: readonly ParkedItem[];
};

const PARKED_SHOWN = 5;

const CHECKS = ['all roles answer', '/readyz says ready'];

export const status: Command = {
  name: 'status',
  summary:
    'Shows the state of the running installation on one screen. Exit codes: 0 all checks pass, 1 a check needs attention, 2 the state could not be determined.',
  positionals: [],
  options: REMOTE_OPTIONS,
  examples: ['status', 'status --json', 'status --url https://annals.example --client monitor'],
  async run(given, terminal) {
    let found: Status | undefined;
    await withRemote(given, terminal, async (remote) => {
      found = await readStatus(remote, terminal.signal);
    }).catch((error: unknown) => {
      if (!(error instanceof StartRefused)) throw error;
      throw new StartRefused(error.message, { cause: error, exitCode: NOT_ASKED });
    });
    if (found === undefined) return;
    const lines = given.flags.has('json') ? [JSON.stringify(found)] : statusLines(found, paintOf(terminal));
    for (const line of lines) await terminal.write(line);
    if (found.findings.length > 0)
      throw new StartRefused(`${plural(found.findings.length, 'thing needs', 'things need')} attention.`, {
        exitCode: NEEDS_ATTENTION,
      });
  },
};

const readStatus = async (remote: Remote, signal: AbortSignal): Promise<Status> => {
  // First the requests that may be refused, so that a wrong client or address is one sentence.
  const operations = await remote.get<OperationsStatus>('/operations');
  const { audit: proof } = operations._links;
  const audit = proof && (await remote.get<AuditStatus>('/audit/status'));
  const [{ version }, readiness = null, roles] = await Promise.all([
    remote.get<{ readonly version: string }>('/'),
    readReadiness(remote.url, signal),
    probeRoles(remote.url, signal),
  ]);
  const parked =
    operations.readModel.parked === 0
      ? []
      : await remote.get<readonly ParkedItem[]>(`/operations/parked?limit=${PARKED_SHOWN}`);
  const findings = [...rolesOut(roles), ...notReady(readiness), ...findingsOf({ status: operations, audit })];
  return {
    url: remote.url,
    version,
    readiness,
    roles,
    operations,
    ...(audit && { audit }),
    checks: [...CHECKS, ...checkNamesOf({ status: operations, audit })],
    findings,
    parked,
  };
};

const rolesOut = (roles: readonly RoleAnswer[]): readonly Finding[] =>
  roles
    .filter(({ answers }) => !answers)
    .map(({ role, problem }) => ({
      tone: 'bad',
      text: `The role ${role} does not answer (${problem}): is one of its processes running?`,
    }));

const notReady = (readiness: Readiness | null): readonly Finding[] => {
  if (readiness === null) return [{ tone: 'warn', text: '/readyz is not available at this address.' }];
  if (readiness.status === 'ready') return [];
  const failing = Object.entries(readiness.checks).filter(([, outcome]) => outcome !== 'pass');
  const failures = failing.map(
    ([check]) => `${check}${readiness.reasons?.[check] ? ` (${readiness.reasons[check]})` : ''}`,
  );
  return [
    {
      tone: 'bad',
      text: `/readyz says ${readiness.status}${failures.length === 0 ? '' : `: ${failures.join(', ')}`}.`,
    },
  ];
};

const LABEL_WIDTH = 12;

const statusLines = (found: Status, paint: Paint): readonly string[] => {
  const { url, version, operations, findings } = found;
  const row = (label: string, text: string): string =>
    `${paint('soft', label.padEnd(LABEL_WIDTH))}${harmless(text)}`;
  return [
    `${paint('strong', `Annals ${harmless(version)}`)} at ${url}`,
    '',
    row('Roles', rolesText(found)),
    row('Engines', enginesText(found.readiness)),
    row(
      'Read model',
      `${lagText(operations.readModel.behindSeconds)}, ${bytesText(operations.readModel.bytes)}`,
    ),
    row('Followers', followersText(operations.followers)),
    row('Parked', parkedText(operations)),
    ...found.parked.map(({ stream, version, reason }) => row('', `${stream}@${version}  ${reason}`)),
    ...(operations.webhooks ? [row('Webhooks', webhooksText(operations.webhooks))] : []),
    ...(found.audit ? [row('Proof', proofText(found.audit, operations.at))] : []),
    ...(found.audit?.clock ? [row('Clocks', clocksText(found.audit.clock))] : []),
    '',
    ...(findings.length === 0
      ? [paint('good', `All ${found.checks.length} checks pass.`)]
      : findings.map((finding) => findingLine(finding, url, paint))),
  ];
};

const findingLine = ({ tone, text, href }: Finding, url: string, paint: Paint): string =>
  `${paint(tone, tone === 'bad' ? 'FAIL' : 'WARN')}  ${harmless(text)}${href === undefined ? '' : ` ${paint('soft', `${url}${href}`)}`}`;

/** The projector has no interface of its own: it runs if a process holds the leases of its followers. */
const PROJECTOR = 'projector';

const rolesText = ({ roles, operations: { followers } }: Status): string => {
  const answering = roles.filter(({ answers }) => answers).map(({ role }) => role);
  const silent = roles.filter(({ answers }) => !answers).map(({ role }) => role);
  const isProjecting = followers.some(({ name, isRunning }) => name === PROJECTOR && isRunning);
  (isProjecting ? answering : silent).push(PROJECTOR);
  return [
    ...(answering.length > 0
      ? [`${answering.join(', ')} ${answering.length === 1 ? 'answers' : 'answer'}`]
      : []),
    ...(silent.length > 0 ? [`no answer from ${silent.join(', ')}`] : []),
  ].join('; ');
};

const enginesText = (readiness: Readiness | null): string => {
  if (readiness === null) return 'unknown: /readyz does not answer';
  const entries = Object.entries(readiness.checks);
  const failing = entries.filter(([, outcome]) => outcome !== 'pass').map(([check]) => check);
  const passing = entries.filter(([, outcome]) => outcome === 'pass').map(([check]) => check);
  return (
    [
      ...(passing.length > 0 ? [`${passing.join(', ')} pass`] : []),
      ...(failing.length > 0 ? [`${failing.join(', ')} fail`] : []),
    ].join('; ') || readiness.status
  );
};

const lagText = (seconds: number | null): string =>
  seconds === null ? 'lag unknown' : seconds === 0 ? 'up to date' : `lags by ${spanText(seconds)}`;

const followersText = (followers: OperationsStatus['followers']): string => {
  const running = followers.filter(({ isRunning }) => isRunning).length;
  const [last] = followers
    .filter(({ behindSeconds }) => (behindSeconds ?? 0) > 0)
    .toSorted((one, other) => (other.behindSeconds ?? 0) - (one.behindSeconds ?? 0));
  return `${running} of ${followers.length} run, ${last === undefined ? 'all up to date' : `${last.name} ${lagText(last.behindSeconds)}`}`;
};

const clocksText = ({ source, recent }: AuditStatus['clock']): string => {
  const drifts = recent.map(
    ({ against, driftMs, uncertaintyMs }) =>
      `${Math.abs(driftMs).toFixed(1)} ms ± ${uncertaintyMs.toFixed(1)} from the ${against}`,
  );
  return `${drifts.join(', ') || 'not measured'}; synchronized by ${source ?? 'unknown (CLOCK_SOURCE)'}`;
};

const parkedText = ({ readModel, consequences }: OperationsStatus): string => {
  const parked = [
    ...(readModel.parked > 0 ? [plural(readModel.parked, 'item')] : []),
    ...(consequences.parked > 0 ? [plural(consequences.parked, 'reaction')] : []),
  ];
  const skipped = readModel.skipped + consequences.skipped;
  return `${parked.join(', ') || 'nothing'}${skipped > 0 ? `; ${skipped} skipped` : ''}`;
};

const webhooksText = ({
  endpoints,
  enabled,
  failing,
  failingSince,
  due,
  dead,
}: NonNullable<OperationsStatus['webhooks']>): string =>
  [
    `${enabled} of ${plural(endpoints, 'endpoint')} enabled`,
    failing === 0
      ? 'none fails'
      : `${failing} ${failing === 1 ? 'fails' : 'fail'}${failingSince === null ? '' : ` since ${failingSince}`}`,
    `${plural(due, 'delivery', 'deliveries')} due`,
    `${plural(dead, 'dead letter')}`,
  ].join(', ');

const HEAD_CHARACTERS = 12;

const proofText = ({ signed, unproven, chain }: AuditStatus, at: string): string => {
  if (signed === null) return `no signed head yet, ${plural(chain.count, 'event')} in the chain`;
  const agoSeconds = Math.max(0, (Date.parse(at) - Date.parse(signed.at)) / 1_000);
  const since = unproven.events === 0 ? 'none since' : `${unproven.events} since`;
  return `${plural(signed.count, 'event')} proven by the head ${signed.head.slice(0, HEAD_CHARACTERS)}…, signed ${spanText(agoSeconds)} ago, ${since}`;
};
