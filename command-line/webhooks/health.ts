import { plural } from '#shared/format.ts';
import type { Webhook, WebhookHealth } from '#shared/rest/webhook.ts';

type Word = { readonly tone: 'good' | 'warn' | 'bad' | 'soft'; readonly word: string };

export const isFailing = ({ health, disabledReason }: Webhook): boolean =>
  (health?.failingSince ?? null) !== null || (disabledReason !== undefined && disabledReason !== 'owner');

export const healthWord = (webhook: Webhook): Word => {
  const { enabled, health, disabledReason } = webhook;
  if (!enabled)
    return {
      tone: isFailing(webhook) ? 'bad' : 'soft',
      word: `disabled${disabledReason === undefined ? '' : ` (${disabledReason})`}`,
    };
  if (health === undefined) return { tone: 'soft', word: 'nothing sent' };
  if (health.failingSince !== null) return { tone: 'bad', word: 'failing' };
  if (health.pausedUntil !== null && Date.parse(health.pausedUntil) > Date.now())
    return { tone: 'warn', word: 'paused' };
  return health.lastSuccessAt === null
    ? { tone: 'soft', word: 'nothing sent' }
    : { tone: 'good', word: 'healthy' };
};

type Line = readonly [label: string, text: string];

/** The details of its deliveries, each with a label. */
export const healthLines = ({ health, missedSince, disabledReason }: Webhook): readonly Line[] => [
  ...(disabledReason === undefined ? [] : [['Disabled because', disabledReason] as const]),
  ...(missedSince === undefined ? [] : [['Missed since', missedSince] as const]),
  ...(health === undefined ? [] : linesOf(health)),
];

const PERCENT = 100;

const linesOf = (health: WebhookHealth): readonly Line[] => {
  const {
    lastSuccessAt,
    lastFailure,
    failingSince,
    failuresInRow,
    pausedUntil,
    nextAttemptAt,
    attemptsLastDay,
    successRate,
    backlog,
  } = health;
  const rate = successRate === null ? '' : `, ${Math.floor(successRate * PERCENT)} % arrived`;
  return [
    ...(failingSince === null
      ? []
      : [['Failing since', `${failingSince}, ${plural(failuresInRow, 'attempt')} in a row`] as const]),
    ...(lastFailure === null ? [] : [['Last failure', `${lastFailure.at}: ${lastFailure.reason}`] as const]),
    ['Last success', lastSuccessAt ?? 'none'],
    ['Last 24 hours', `${plural(attemptsLastDay, 'attempt')}${rate}`],
    [
      'Backlog',
      `${plural(backlog.due, 'delivery', 'deliveries')} due${backlog.oldestAt === null ? '' : ` since ${backlog.oldestAt}`}, ${plural(backlog.dead, 'dead letter')}`,
    ],
    ...(pausedUntil === null ? [] : [['Paused until', pausedUntil] as const]),
    ...(nextAttemptAt === null ? [] : [['Next attempt', nextAttemptAt] as const]),
  ];
};
