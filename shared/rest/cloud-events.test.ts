import { CloudEvent, HTTP } from 'cloudevents';
import { expect, test } from 'vitest';
import { attributeHeaders, cloudEventOf } from './cloud-events.ts';

const EVENT = {
  id: '0198c0de-0000-7000-8000-000000000000',
  type: 'article.published',
  version: 1,
  at: '2026-11-21T15:04:05.678Z',
  cursor: '6f9619ff-1z4',
  subject: 'article-8001',
  data: { articleId: 8001, title: null },
};

test('an event has the attributes of CloudEvents, and its schema by address', () => {
  const event = cloudEventOf({ ...EVENT, actor: 'user:7001' }, 'https://annals.example/');
  expect(event).toEqual({
    specversion: '1.0',
    id: EVENT.id,
    source: 'https://annals.example/',
    type: 'article.published',
    subject: 'article-8001',
    time: EVENT.at,
    datacontenttype: 'application/json',
    dataschema: 'https://annals.example/schemas/events/article.published/1',
    cursor: EVENT.cursor,
    actor: 'user:7001',
    data: EVENT.data,
  });
  expect(new CloudEvent(event as never, true).toJSON()).toEqual(event);
});

test('extensions are in lower case, and an unknown one is absent', () => {
  const { importedat, ...event } = cloudEventOf(
    { ...EVENT, actor: null, client: null, causation: undefined, importedAt: EVENT.at, parked: true },
    'https://annals.example',
  );
  expect(importedat).toBe(EVENT.at);
  expect(event).toMatchObject({ parked: true });
  for (const name of ['actor', 'client', 'causation']) expect(event).not.toHaveProperty(name);
  expect(() => new CloudEvent({ ...event, importedat } as never, true)).not.toThrow();
});

test('the members of a signature are attributes of their own', () => {
  const signature = { by: 'user:7001', meaning: 'approval', at: EVENT.at, means: 'passkey' };
  const event = cloudEventOf({ ...EVENT, signature }, 'https://annals.example');
  expect(event).toMatchObject({
    signatureby: 'user:7001',
    signaturemeaning: 'approval',
    signatureat: EVENT.at,
    signaturemeans: 'passkey',
  });
  expect(event).not.toHaveProperty('signature');
  expect(() => new CloudEvent(event as never, true)).not.toThrow();
});

test('attributes as headers are the event that the SDK reads', () => {
  const { data, ...attributes } = cloudEventOf(
    { ...EVENT, actor: 'user:7001', parked: true },
    'https://annals.example',
  );
  const headers = attributeHeaders(attributes);
  expect(headers).not.toHaveProperty('ce-datacontenttype');
  const received = HTTP.toEvent({ headers: { ...headers }, body: JSON.stringify(data) }) as CloudEvent;
  expect(received.validate()).toBe(true);
  expect(received.toJSON()).toEqual({ ...attributes, parked: 'true', data });
});

test.each([
  ['Euro € 😀', 'Euro%20%E2%82%AC%20%F0%9F%98%80'],
  ['100 % "so"', '100%20%25%20%22so%22'],
  [`!#$&'()*+,-./:;<=>?@[]^_{|}~`, `!#$&'()*+,-./:;<=>?@[]^_{|}~`],
  ['\u0000\n\u007f', '%00%0A%7F'],
  ['\ud83d', '%EF%BF%BD'],
])('the value %j is the header %j', (reason, header) => {
  expect(attributeHeaders({ datacontenttype: 'application/json', reason })['ce-reason']).toBe(header);
});
