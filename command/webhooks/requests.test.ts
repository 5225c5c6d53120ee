import { describe, test } from 'vitest';
import type { WebhookEvent } from '#kernel/webhook/webhook.ts';
import { given } from '../../test/given.ts';
import {
  askTest,
  at,
  deleted,
  disable,
  disabled,
  enable,
  enabled,
  FORMER_LOG,
  later,
  logPosition,
  MISSED,
  mark,
  registered,
  replay,
  replayed,
  requestId,
  webhookId,
} from '../../test/webhook-samples.ts';
import { type WebhookCommand, webhook } from './webhook.ts';

describe('disabling', () => {
  test('by its owner, who misses nothing', () =>
    given(webhook, [registered])
      .when(disable('owner'))
      .yields([disabled('owner', null)]));
  test('by an administrator, with the position from which changes are missed', () =>
    given(webhook, [registered])
      .when(disable('owner', 10, false))
      .yields([disabled('owner', MISSED)]));
  test('by the system, with the position from which changes are missed', () =>
    given(webhook, [registered])
      .when(disable('failing'))
      .yields([disabled('failing', MISSED)]));
  test('again, while something is still missed', () =>
    given(webhook, [registered, disabled('gone', MISSED), enabled])
      .when(disable('failing', 20))
      .yields([disabled('failing', MISSED)]));
  test('by its owner, while something is still missed', () =>
    given(webhook, [registered, disabled('gone', MISSED), enabled])
      .when(disable('owner', 20))
      .yields([disabled('owner', MISSED)]));
  test('what is disabled', () =>
    given(webhook, [registered, disabled('owner', null)])
      .when(disable('failing'))
      .changesNothing());
});

describe('enabling', () => {
  test('what is disabled', () =>
    given(webhook, [registered, disabled('gone', MISSED)])
      .when(enable)
      .yields([enabled]));
  test('what is enabled', () => given(webhook, [registered]).when(enable).changesNothing());
});

describe('asking for a replay', () => {
  const missing = [registered, disabled('failing', MISSED), enabled];
  test('of what was missed, which nothing is then', () =>
    given(webhook, missing)
      .when(replay(undefined))
      .yields([replayed({ from: logPosition(10) })]));
  test('from further back', () =>
    given(webhook, missing)
      .when(replay(5))
      .yields([replayed({ from: logPosition(5) })]));
  test('from later, which leaves what was missed', () =>
    given(webhook, missing)
      .when(replay(11))
      .yields([replayed({ from: logPosition(11) }, MISSED)]));
  test('of a part, which leaves the rest', () =>
    given(webhook, missing)
      .when(replay(5, 15))
      .yields([replayed({ from: logPosition(5), to: logPosition(15) }, { since: logPosition(15), at })]));
  test('of what was before', () =>
    given(webhook, missing)
      .when(replay(5, 9))
      .yields([replayed({ from: logPosition(5), to: logPosition(9) }, MISSED)]));
  test('since a time before', () =>
    given(webhook, missing)
      .when(replay(at))
      .yields([replayed({ time: at })]));
  test('since a time after', () =>
    given(webhook, missing)
      .when(replay(later(1)))
      .yields([replayed({ time: later(1) }, MISSED)]));
  test.each([
    ['of what was missed before anybody said in which log', logPosition(10, null), logPosition(10)],
    [
      'of what was missed in a log that this one is a copy of, of which all is sent again',
      logPosition(10, FORMER_LOG),
      logPosition(0),
    ],
  ])('%s', (_what, since, from) =>
    given(webhook, [registered, disabled('failing', { since, at }), enabled])
      .when(replay(undefined))
      .yields([replayed({ from })]),
  );
  test('of a part of what was missed in a former log, which leaves the rest', () =>
    given(webhook, [registered, disabled('failing', { since: logPosition(10, FORMER_LOG), at }), enabled])
      .when(replay(0, 15))
      .yields([replayed({ from: logPosition(0), to: logPosition(15) }, { since: logPosition(15), at })]));
  test('of nothing', () => given(webhook, [registered]).when(replay(undefined)).refuses('invalid_command'));
  test('of the future', () => given(webhook, [registered]).when(replay(5, 101)).refuses('invalid_command'));
  test('that ends before it begins', () =>
    given(webhook, [registered]).when(replay(6, 5)).refuses('invalid_command'));
});

describe('asking for deliveries', () => {
  test.each<[WebhookCommand, WebhookEvent]>([
    [askTest, { type: 'webhook.test_requested', data: { ...mark, testId: requestId } }],
    [
      { type: 'RedeliverDelivery', webhookId, deliveryId: requestId, requestId },
      {
        type: 'webhook.redelivery_requested',
        data: { ...mark, redeliveryId: requestId, deliveryId: requestId },
      },
    ],
    [
      { type: 'RedriveWebhook', webhookId, requestId },
      {
        type: 'webhook.redrive_requested',
        data: { ...mark, redriveId: requestId, since: null, until: null, retrying: false },
      },
    ],
    [
      {
        type: 'RedriveWebhook',
        webhookId,
        requestId,
        since: '2026-01-02T01:00:00+01:00',
        until: '2026-01-03T00:00:00Z',
        retrying: true,
      },
      {
        type: 'webhook.redrive_requested',
        data: {
          ...mark,
          redriveId: requestId,
          since: '2026-01-02T00:00:00.000Z',
          until: '2026-01-03T00:00:00.000Z',
          retrying: true,
        },
      },
    ],
  ])('%j', (command, event) => {
    given(webhook, [registered]).when(command).yields([event]);
    given(webhook, [registered, event]).when(command).changesNothing();
    given(webhook, [registered, disabled('owner', null)])
      .when(command)
      .refuses('webhook_disabled');
    given(webhook, [registered, deleted]).when(command).refuses('webhook_deleted');
  });
});
