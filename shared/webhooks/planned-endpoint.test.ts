import { expect, test } from 'vitest';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { webhookChangeOf } from './planned-endpoint.ts';

const told = (type: string, data: object) =>
  webhookChangeOf({ stream: 'webhook-6001', type, data, version: 3, position: 9 } as unknown as Change);

test('an event of a later release, or a damaged one, affects no other webhook', () => {
  expect(told('webhook.enabled', { webhookId: 6001 })).toMatchObject({ type: 'webhook.enabled' });
  expect(told('webhook.moved', { webhookId: 6001 })).toBeUndefined();
  expect(told('webhook.enabled', {})).toBeUndefined();
});
