import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Attempt, FoundDelivery } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import { type Command, type Given, numberOf } from '../arguments/command.ts';
import { TIME_FORMS, TIME_PLACEHOLDER, timeOf } from '../arguments/time-given.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { cellOf } from '../output/columns.ts';
import { type Paint, paintOf } from '../output/paint.ts';
import { REMOTE_OPTIONS, type Remote, withRemote } from '../remote/remote.ts';

const PAGE = 100;
const ATTEMPTS_MAX = 50;

/** The options of commands that select webhooks and times. */
export const SPAN_OPTIONS = {
  webhook: { type: 'string', placeholder: '<id>', description: 'Only deliveries of this webhook.' },
  since: {
    type: 'string',
    placeholder: TIME_PLACEHOLDER,
    description: `Only deliveries planned at this time or later: ${TIME_FORMS}.`,
  },
  until: {
    type: 'string',
    placeholder: TIME_PLACEHOLDER,
    description: 'Only deliveries planned before this time, in the same form.',
  },
} as const satisfies Command['options'];

/** The values of `SPAN_OPTIONS`. */
export const spanOf = (given: Given) => ({
  webhookId: numberOf(given, 'webhook', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  since: timeOf(given, 'since'),
  until: timeOf(given, 'until'),
});

const TONES = { due: 'warn', delivered: 'good', dead: 'bad', withheld: 'soft' } as const;

export const deliveriesShow: Command = {
  name: 'deliveries show',
  summary: 'Shows a delivery with its attempts: each request and its response.',
  positionals: ['<id>'],
  options: { webhook: SPAN_OPTIONS.webhook, ...REMOTE_OPTIONS },
  examples: ['deliveries show 01985f3e-…', 'deliveries show 01985f3e-… --webhook 6001 --json'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const paint = paintOf(terminal);
      for (const delivery of await findDeliveries(remote, given)) {
        const attempts = await remote
          .list<Attempt>(`${pathOf(delivery)}/attempts`, { limit: PAGE })
          .take(ATTEMPTS_MAX);
        const lines = given.flags.has('json')
          ? [JSON.stringify({ ...delivery, attempts })]
          : deliveryLines(delivery, attempts, paint);
        for (const line of lines) await terminal.write(line);
      }
    }),
};

export const pathOf = ({ webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>): string =>
  `/webhooks/${webhookId}/deliveries/${id}`;

/** One event may have been delivered to several webhooks with the same id. */
export const findDeliveries = async (remote: Remote, given: Given): Promise<readonly FoundDelivery[]> => {
  const {
    positionals: [id = ''],
  } = given;
  if (!/^[0-9a-f-]{36}$/i.test(id))
    throw new UsageError(
      `<id> must be the id of a delivery, as “api searchDeliveries” prints it, but is “${id}”`,
    );
  const { webhookId } = spanOf(given);
  const found = await remote
    .list<FoundDelivery>('/deliveries', { eventId: id, webhookId, limit: PAGE })
    .take(PAGE);
  if (found.length === 0)
    throw new StartRefused(`There is no delivery ${id}; they are kept for WEBHOOK_KEEP_DAYS.`);
  return found;
};

const LABEL_WIDTH = 14;

const deliveryLines = (
  delivery: FoundDelivery,
  attempts: readonly Attempt[],
  paint: Paint,
): readonly string[] => {
  const { id, webhookId, url, state, type, subject, createdAt, deliveredAt, nextAt } = delivery;
  const row = (label: string, text: string): string =>
    `${paint('soft', label.padEnd(LABEL_WIDTH))}${cellOf(text, Number.POSITIVE_INFINITY)}`;
  return [
    `${paint('strong', `Delivery ${id}`)} ${paint(TONES[state], state)}`,
    row('Webhook', `${webhookId}, ${url}`),
    row('Event', `${type} of ${subject}`),
    row('Planned', createdAt),
    ...(deliveredAt === null ? [] : [row('Delivered', deliveredAt)]),
    ...(nextAt === null ? [] : [row('Next attempt', nextAt)]),
    ...attempts.flatMap((attempt) => attemptLines(attempt, paint)),
  ];
};

const ANSWER_CHARACTERS_MAX = 500;

const attemptLines = (
  { number, at, durationMs, status, error, requestHeaders, answer }: Attempt,
  paint: Paint,
): readonly string[] => {
  const isWell = error === null;
  const outcome = [...(status === null ? [] : [`status ${status}`]), ...(error === null ? [] : [error])].join(
    ', ',
  );
  return [
    '',
    `${paint('strong', `Attempt ${number}`)} at ${at}, ${Math.round(durationMs)} ms: ${paint(isWell ? 'good' : 'bad', cellOf(outcome, ANSWER_CHARACTERS_MAX))}`,
    ...headerLines('>', requestHeaders),
    ...(answer === null
      ? []
      : [
          ...headerLines('<', answer.headers),
          ...(answer.text === undefined || answer.text === ''
            ? []
            : [`  ${cellOf(answer.text, ANSWER_CHARACTERS_MAX)}`]),
        ]),
  ];
};

const headerLines = (sign: string, headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).map(
    ([name, value]) => `  ${sign} ${cellOf(`${name}: ${value}`, ANSWER_CHARACTERS_MAX)}`,
  );
