import { StartRefused } from '#kernel/base/start-refused.ts';
import { plural } from '#shared/format.ts';
import type { FailedDeliveries } from '#shared/rest/deliveries.ts';
import type { Command, Given } from '../arguments/command.ts';
import { cellOf } from '../output/columns.ts';
import { REMOTE_OPTIONS, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { findDeliveries, pathOf, SPAN_OPTIONS, spanOf } from './deliveries.ts';

const WEBHOOKS_MAX = 10_000;
const PAGE = 100;

export const deliveriesResend: Command = {
  name: 'deliveries resend',
  summary: 'Sends a delivery again, to each webhook that has it.',
  positionals: ['<id>'],
  options: { webhook: SPAN_OPTIONS.webhook, ...REMOTE_OPTIONS },
  examples: ['deliveries resend 01985f3e-…', 'deliveries resend 01985f3e-… --webhook 6001'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      for (const delivery of await findDeliveries(remote, given)) {
        await (await remote.write('POST', `${pathOf(delivery)}/redeliver`)).body?.cancel();
        const { id, webhookId, url } = delivery;
        await terminal.write(
          given.flags.has('json')
            ? JSON.stringify({ id, webhookId })
            : `${id} is sent again to webhook ${webhookId}, ${cellOf(url)}.`,
        );
      }
    }),
};

export const deliveriesResendFailed: Command = {
  name: 'deliveries resend-failed',
  summary: 'Sends failed deliveries again: all, or those that the options select. Asks first.',
  positionals: [],
  options: {
    ...SPAN_OPTIONS,
    'dead-only': {
      type: 'boolean',
      description: 'Only dead letters, without deliveries that are retried anyway.',
    },
    yes: { type: 'boolean', description: 'Without asking.' },
    ...REMOTE_OPTIONS,
  },
  examples: [
    'deliveries resend-failed --since yesterday --until today',
    'deliveries resend-failed --webhook 6001 --dead-only --yes',
  ],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const { webhookId, since, until } = spanOf(given);
      const isDeadOnly = given.flags.has('dead-only');
      const all = await remote
        .list<FailedDeliveries>('/deliveries/failed', { webhookId, since, until, limit: PAGE })
        .take(WEBHOOKS_MAX);
      const meant = all
        .map((each) => ({ ...each, count: each.dead + (isDeadOnly ? 0 : each.retrying) }))
        .filter(({ count }) => count > 0);
      const count = meant.reduce((sum, each) => sum + each.count, 0);
      const what = `${plural(count, 'failed delivery', 'failed deliveries')} of ${plural(meant.length, 'webhook')}`;
      if (count === 0) return terminal.complain('There are no failed deliveries.');
      await demandConsent(`Send ${what} again?`, given, terminal);
      const body = { ...(since && { since }), ...(until && { until }), retrying: !isDeadOnly };
      for (const each of meant) {
        if (terminal.signal.aborted) return;
        await (await remote.write('POST', `/webhooks/${each.webhookId}/redrive`, body)).body?.cancel();
        const line = { webhookId: each.webhookId, url: each.url, deliveries: each.count };
        await terminal.write(
          given.flags.has('json')
            ? JSON.stringify(line)
            : `${plural(each.count, 'delivery is', 'deliveries are')} sent again to webhook ${each.webhookId}, ${cellOf(each.url)}.`,
        );
      }
    }),
};

const demandConsent = async (question: string, { flags }: Given, { confirm }: Terminal): Promise<void> => {
  if (flags.has('yes') || (await confirm?.(question))) return;
  throw new StartRefused(
    confirm === undefined ? `${question} Add --yes to confirm.` : 'Nothing is sent again.',
  );
};
