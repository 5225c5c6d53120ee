// Over 200 lines, because it is one list: the checks of an installation.
import { plural, spanText } from '#shared/format.ts';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { OperationsStatus } from '#shared/rest/operator.ts';

export type Finding = {
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  readonly href?: string;
  readonly linkText?: string;
};

export type Seen = {
  readonly status: OperationsStatus;
  /** Undefined if the proof is not served. */
  readonly audit: AuditStatus | undefined;
};

type Check = {
  readonly name: string;
  /** The part that an installation may lack. */
  readonly of?: 'webhooks' | 'audit';
  find(seen: Seen): readonly Finding[];
};

/** A longer lag needs attention. */
const LAG_WARN_S = 10;
/** Heads are signed each minute by default. */
const UNPROVEN_WARN_S = 600;
/** Times of events are compared by seconds. */
const DRIFT_WARN_MS = 1_000;
const MS_PER_SECOND = 1_000;

const PARKED = { href: '/console/parked', linkText: 'See the parked items' } as const;
const WEBHOOKS = { href: '/console/webhooks?show=attention', linkText: 'See the webhooks' } as const;
const PROOF = { href: '/console/proof', linkText: 'See the proof' } as const;

const CHECKS: readonly Check[] = [
  {
    name: 'all items can be read',
    find: ({ status: { readModel } }) =>
      readModel.parked === 0
        ? []
        : [
            {
              tone: 'bad',
              text: `${plural(readModel.parked, 'item')} cannot be read, because an event cannot be applied.`,
              ...PARKED,
            },
          ],
  },
  {
    name: 'all reactions ran',
    find: ({ status: { consequences } }) =>
      consequences.parked === 0
        ? []
        : [
            {
              tone: 'bad',
              text: `${plural(consequences.parked, 'reaction')} failed and will be retried. The oldest failed ${spanText(consequences.oldestSeconds ?? 0)} ago.`,
              ...PARKED,
            },
          ],
  },
  {
    name: 'the read model is of this release',
    find: ({ status: { readModel } }) => [
      ...(readModel.isOfThisRelease
        ? []
        : [
            {
              tone: 'bad' as const,
              text: 'The tables of the read model belong to another release: run npm run annals -- projection rebuild.',
            },
          ]),
      ...(readModel.rebuild === null
        ? []
        : [{ tone: 'warn' as const, text: 'The read model is being rebuilt.' }]),
    ],
  },
  { name: 'no follower lags', find: ({ status: { followers } }) => followers.flatMap(lagOf) },
  {
    name: 'all webhook endpoints accept deliveries',
    of: 'webhooks',
    find: ({ status: { at, webhooks } }) => {
      if (webhooks === undefined || webhooks.failing === 0) return [];
      const since =
        webhooks.failingSince === null
          ? ''
          : ` The first started to fail ${spanText(secondsBetween(webhooks.failingSince, at))} ago.`;
      return [{ tone: 'bad', text: `${failingText(webhooks)}.${since}`, ...WEBHOOKS }];
    },
  },
  {
    name: 'there are no dead letters',
    of: 'webhooks',
    find: ({ status: { webhooks } }) =>
      webhooks === undefined || webhooks.dead === 0
        ? []
        : [
            {
              tone: 'warn',
              text: `${plural(webhooks.dead, 'webhook delivery', 'webhook deliveries')} used up all attempts.`,
              ...WEBHOOKS,
            },
          ],
  },
  {
    name: 'signed heads are published',
    of: 'audit',
    find: ({ status: { at }, audit }) => {
      if (audit === undefined) return [];
      const { problem, unproven } = audit;
      if (typeof problem === 'string')
        return [
          { tone: 'bad', text: `Signed heads cannot be written outside the database: ${problem}`, ...PROOF },
        ];
      const seconds =
        unproven.since === null || unproven.events === 0 ? 0 : secondsBetween(unproven.since, at);
      if (seconds <= UNPROVEN_WARN_S) return [];
      return [
        {
          tone: 'warn',
          text: `${plural(unproven.events, 'event has', 'events have')} had no signed head for ${spanText(seconds)}.`,
          ...PROOF,
        },
      ];
    },
  },
  {
    name: 'all witnesses cosign heads',
    of: 'audit',
    find: ({ status: { at }, audit }) => audit?.witnesses?.flatMap((each) => witnessFindings(each, at)) ?? [],
  },
  {
    name: 'clocks agree',
    of: 'audit',
    find: ({ audit }) =>
      (audit?.clock?.recent ?? []).flatMap(({ against, driftMs, uncertaintyMs, at, role }) =>
        Math.abs(driftMs) - uncertaintyMs <= DRIFT_WARN_MS
          ? []
          : [
              {
                tone: 'warn' as const,
                text: `The clock of ${role} was ${spanText(Math.abs(driftMs) / MS_PER_SECOND)} ${driftMs > 0 ? 'ahead of' : 'slower than'} that of the ${against} at ${at}: synchronize both.`,
              },
            ],
      ),
  },
  {
    name: 'the times of items do not go back',
    of: 'audit',
    find: ({ audit }) => {
      const count = audit?.clock?.wentBack ?? 0;
      if (count === 0) return [];
      const [latest] = audit?.clock.latestWentBack ?? [];
      const which = latest === undefined ? '' : `, the latest ${latest.stream}@${latest.version}`;
      return [
        {
          tone: 'warn',
          text: `${plural(count, 'event has', 'events have')} a time before that of the event before in the item${which}: synchronize the clocks.`,
        },
      ];
    },
  },
  {
    name: 'the verification found no differences',
    of: 'audit',
    find: ({ audit }) => {
      const differences = audit?.verified?.differences ?? 0;
      if (differences === 0) return [];
      const isForged = audit?.differences?.some(({ kind }) => kind === 'event_not_authentic') === true;
      const text = `The background verification found ${plural(differences, 'difference')}${isForged ? ', with events that no command wrote' : ''}.`;
      return [{ tone: 'bad', text, ...PROOF }];
    },
  },
];

export const checkNamesOf = ({ status, audit }: Seen): readonly string[] => {
  const parts = { webhooks: status.webhooks, audit };
  return CHECKS.flatMap(({ name, of }) => (of !== undefined && parts[of] === undefined ? [] : [name]));
};

/** The findings that need an operator, the worst first; empty if every check passes. */
export const findingsOf = (seen: Seen): readonly Finding[] =>
  CHECKS.flatMap(({ find }) => find(seen)).toSorted(
    (one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'),
  );

/** Includes webhooks that were disabled because they failed, but not those that an owner disabled. */
const failingText = ({ endpoints, enabled, failing }: NonNullable<OperationsStatus['webhooks']>): string => {
  const disabled = failing === 1 ? 'was disabled because it failed' : 'were disabled because they failed';
  if (enabled === 0) return `${plural(failing, 'webhook endpoint')} ${disabled}`;
  const fails = plural(failing, 'webhook endpoint fails', 'webhook endpoints fail');
  return enabled === endpoints ? fails : `${fails}, or ${disabled}`;
};

/** Witnesses are asked again at least once a minute. */
const SILENT_WARN_S = 300;

const witnessFindings = (
  { names, problem, since, isRefusing }: NonNullable<AuditStatus['witnesses']>[number],
  at: string,
): readonly Finding[] => {
  const seconds = since === null ? 0 : secondsBetween(since, at);
  const told = isRefusing
    ? 'says that the log contradicts what it has seen before'
    : `has not cosigned for ${spanText(seconds)}`;
  const text = `The witness ${names.join(', ')} ${told}. ${problem}`;
  const isFine = problem === null || (!isRefusing && seconds <= SILENT_WARN_S);
  return isFine ? [] : [{ tone: isRefusing ? 'bad' : 'warn', text, ...PROOF }];
};

const lagOf = ({
  name,
  behindSeconds,
  isRunning,
}: OperationsStatus['followers'][number]): readonly Finding[] => {
  if (behindSeconds === null)
    return isRunning ? [{ tone: 'warn', text: `The lag of ${name} is unknown.` }] : [];
  if (behindSeconds <= LAG_WARN_S) return [];
  if (!isRunning)
    return [
      {
        tone: 'bad',
        text: `${name} does not run in any process: start one. Its lag is ${spanText(behindSeconds)}.`,
      },
    ];
  return [{ tone: 'warn', text: `${name} lags by ${spanText(behindSeconds)}.` }];
};

const secondsBetween = (earlier: string, later: string): number =>
  Math.max(0, (new Date(later).getTime() - new Date(earlier).getTime()) / MS_PER_SECOND);
