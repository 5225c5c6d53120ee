import { StartRefused } from '#kernel/base/start-refused.ts';
import { FORMAT_DEFAULT } from '#kernel/webhook/webhook-fields.ts';
import { poll } from '#shared/clock/poll.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { plural } from '#shared/format.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { type Command, type Given, numberOf } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { cellOf, columns } from '../output/columns.ts';
import { type Paint, paintOf } from '../output/paint.ts';
import { REMOTE_OPTIONS, type Remote, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { healthLines, healthWord, isFailing } from './health.ts';

const LISTED_MAX = 10_000;
const PAGE = 100;

export const webhooksList: Command = {
  name: 'webhooks list',
  summary: 'Lists webhooks with their health, failing ones first.',
  positionals: [],
  options: {
    failing: { type: 'boolean', description: 'Only webhooks whose last attempt failed.' },
    disabled: { type: 'boolean', description: 'Only disabled webhooks.' },
    owner: { type: 'string', placeholder: '<id>', description: 'Only webhooks of this user.' },
    ...REMOTE_OPTIONS,
  },
  examples: ['webhooks list', 'webhooks list --failing', 'webhooks list --owner 7001 --json'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const owner = numberOf(given, 'owner', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
      const query = { limit: PAGE, owner, enabled: given.flags.has('disabled') ? 'false' : undefined };
      const all = await remote.list<Webhook>('/webhooks', query).take(LISTED_MAX);
      const shown = all.filter((webhook) => !given.flags.has('failing') || isFailing(webhook));
      await printAll(
        shown.toSorted((one, other) => Number(isFailing(other)) - Number(isFailing(one))),
        given,
        terminal,
      );
    }),
};

const printAll = async (
  webhooks: readonly Webhook[],
  { flags }: Given,
  terminal: Terminal,
): Promise<void> => {
  if (flags.has('json')) {
    for (const webhook of webhooks) await terminal.write(JSON.stringify(webhook));
    return;
  }
  const paint = paintOf(terminal);
  const rows = webhooks.map((webhook) => [
    String(webhook.id),
    ...healthCells(webhook, paint),
    cellOf(webhook.url),
    cellOf(webhook.description ?? ''),
  ]);
  const lines =
    webhooks.length === 0 ? [] : columns(['ID', 'Health', 'Due', 'Dead', 'URL', 'Description'], rows);
  for (const line of lines) await terminal.write(line);
  terminal.complain(plural(webhooks.length, 'webhook'));
};

const healthCells = (webhook: Webhook, paint: Paint): readonly (string | number)[] => {
  const { tone, word } = healthWord(webhook);
  return [paint(tone, word), webhook.health?.backlog.due ?? 0, webhook.health?.backlog.dead ?? 0];
};

export const webhooksShow: Command = {
  name: 'webhooks show',
  summary: 'Shows a webhook: the events that it gets, and the health of its deliveries.',
  positionals: ['<id>'],
  options: REMOTE_OPTIONS,
  examples: ['webhooks show 6001', 'webhooks show 6001 --json'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const webhook = await remote.get<Webhook>(pathOf(given));
      const lines = given.flags.has('json')
        ? [JSON.stringify(webhook)]
        : webhookLines(webhook, paintOf(terminal));
      for (const line of lines) await terminal.write(line);
    }),
};

const LABEL_WIDTH = 16;

const webhookLines = (webhook: Webhook, paint: Paint): readonly string[] => {
  const {
    id,
    url,
    description,
    ownerId,
    eventTypes,
    payload,
    format,
    ordered,
    limits,
    createdAt,
    withheld = [],
  } = webhook;
  const { tone, word } = healthWord(webhook);
  const row = (label: string, text: string): string =>
    `${paint('soft', label.padEnd(LABEL_WIDTH))}${cellOf(text, Number.POSITIVE_INFINITY)}`;
  return [
    `${paint('strong', `Webhook ${id}`)} ${paint(tone, word)}`,
    row('URL', url),
    ...(description === null ? [] : [row('Description', description)]),
    row('Owner', `user ${ownerId}, since ${createdAt}`),
    row(
      'Events',
      `${eventTypes.join(', ')}; ${payload === 'full' ? 'with data' : 'ids alone'}${ordered ? ', in order' : ''}`,
    ),
    ...(format === FORMAT_DEFAULT ? [] : [row('Format', format)]),
    row('Limits', `${limits.ratePerSecond} a second, ${limits.concurrency} at once`),
    ...withheld.map(({ eventType, reason }) => row('Withheld', `${eventType}: ${reason}`)),
    ...healthLines(webhook).map(([label, text]) => row(label, text)),
  ];
};

const TEST_WAIT_MS = 30_000;
const LOOK_EVERY_MS = 300;

export const webhooksTest: Command = {
  name: 'webhooks test',
  summary: 'Sends a test event to a webhook, and waits for its answer. Exit code 1 if it does not arrive.',
  positionals: ['<id>'],
  options: REMOTE_OPTIONS,
  examples: ['webhooks test 6001'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const answer = await remote.write('POST', `${pathOf(given)}/test`);
      await answer.body?.cancel();
      const location = new URL(answer.headers.get('Location') ?? '/', remote.url).pathname;
      const delivery = await firstOutcome(remote, location, terminal.signal);
      if (given.flags.has('json')) await terminal.write(JSON.stringify(delivery));
      if (delivery?.state === 'delivered') {
        if (!given.flags.has('json'))
          await terminal.write(`The test event arrived: status ${delivery.lastStatus}.`);
        return;
      }
      const why =
        delivery === undefined || delivery.attempts === 0
          ? 'it was not sent yet: make sure that a dispatcher is running, and that the webhook is enabled.'
          : whyNot(delivery);
      throw new StartRefused(`The test event did not arrive: ${why}`);
    }),
};

const whyNot = ({ lastError, lastStatus }: Delivery): string =>
  cellOf(lastError ?? `status ${lastStatus}`, Number.POSITIVE_INFINITY);

/** The outcome of the first attempt, or the state after the wait. */
const firstOutcome = async (
  remote: Remote,
  path: string,
  signal: AbortSignal,
): Promise<Delivery | undefined> => {
  let delivery: Delivery | undefined;
  await poll({ clock: REAL_TIME, everyMs: LOOK_EVERY_MS, withinMs: TEST_WAIT_MS, signal }, async () => {
    delivery = await remote.get<Delivery>(path);
    return delivery.attempts > 0 || delivery.state !== 'due';
  });
  return delivery;
};

const pathOf = ({ positionals: [id = ''] }: Given): string => {
  if (!/^\d{1,16}$/.test(id)) throw new UsageError(`<id> must be the id of a webhook, but is “${id}”`);
  return `/webhooks/${id}`;
};
