import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { WebhookFormat } from '#kernel/webhook/webhook-fields.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { EXAMPLE_LOG } from '../../query/event-types/event-types.ts';
import { changeOf } from '../../site/events/samples.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { createComposer } from './body.ts';
import type { Shape } from './delivery.ts';

const definition = catalogueOf(publishing).find('comment.added');
if (definition === undefined) throw new Error('there are no comments');
const data = definition.example;
const { text: _, ...ids } = data;
const change = { ...changeOf(definition, ids), reason: 'Geprüft' };
const owner = callerIn(POLICY, { userId: 7_000, role: 'admin' }, ['read:events', 'read:comments']);

const compose = createComposer({
  ...{ domain: publishing, log: { identity: EXAMPLE_LOG }, publicUrl: 'https://annals.example' },
  ...{ open: async () => data, isReadable: async () => true, isParked: async () => false },
});

const written = async (
  format: WebhookFormat,
  payload: 'thin' | 'full' = 'full',
  shape: Shape | null = null,
) => {
  const delivery = { change, shape };
  const composed = await compose({ delivery, endpoint: { format, payload }, owner: owner as never });
  if (composed.kind !== 'body') throw new Error(composed.kind);
  return { ...composed, bytes: composed.bytes.toString() };
};

const EVENT = {
  specversion: '1.0',
  id: change.id,
  source: 'https://annals.example',
  type: 'comment.added',
  subject: change.stream,
  time: change.at,
  datacontenttype: 'application/json',
  dataschema: 'https://annals.example/schemas/events/comment.added/1',
  reason: 'Geprüft',
};

test('in structured mode, the body is the whole CloudEvent', async () => {
  const { bytes, headers, shape } = await written('cloudevents');
  expect([shape, headers]).toEqual(['full', { 'content-type': 'application/cloudevents+json' }]);
  expect(JSON.parse(bytes)).toEqual({ ...EVENT, cursor: expect.any(String), data });
});

test('in binary mode, the body is the data, and each attribute a header in ASCII', async () => {
  const { bytes, headers } = await written('cloudevents_binary');
  expect(JSON.parse(bytes)).toEqual(data);
  const { datacontenttype, ...attributes } = EVENT;
  expect(headers).toEqual({
    'content-type': datacontenttype,
    'ce-cursor': expect.any(String),
    ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
    'ce-reason': 'Gepr%C3%BCft',
  });
});

test.each(['annals', 'cloudevents', 'cloudevents_binary'] as const)(
  'a repeated attempt sends the same in the format %s, also with ids alone',
  async (format) => {
    expect(await written(format, 'full', 'full')).toEqual(await written(format));
    const thin = await written(format, 'thin');
    expect(await written(format, 'full', 'ids')).toEqual(thin);
    const body = JSON.parse(thin.bytes);
    expect(format === 'cloudevents_binary' ? body : body.data).toEqual(ids);
  },
);
