import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { EventType } from '#shared/rest/event-types.ts';
import { eventTypesOf } from './event-types.ts';

/** An independent validator that is strict about unknown keywords. */
const validator = new Ajv2020({ formats: { 'date-time': true, email: true, uri: true, uuid: true } });

const EVENT_TYPES = eventTypesOf(publishing);

describe.each(EVENT_TYPES.map((each) => [each.type, each] as const))('%s', (_type, eventType) => {
  test('is described as the OpenAPI schema says', () => {
    expect(EventType.parse(eventType)).toEqual(eventType);
  });

  test('links to its schema', () => {
    expect(eventType._links).toEqual({
      schema: { href: `/schemas/events/${eventType.type}/${eventType.version}` },
    });
  });

  test('has a schema that accepts its example, with personal fields and without them', () => {
    const validate = validator.compile(eventType.schema);
    const erased = Object.fromEntries(eventType.personalFields.map((name) => [name, null]));
    for (const data of [eventType.example, { ...eventType.example, ...erased }])
      expect(validate(data), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...eventType.example, more: 1 })).toBe(false);
  });
});

test('internal types are omitted, and no description has secrets', () => {
  const types = EVENT_TYPES.map(({ type }) => type);
  expect(types).toContain('article.published');
  expect(types.filter((type) => /^(command|email)\./.test(type) || type === 'user.email_abandoned')).toEqual(
    [],
  );
  const registered = EVENT_TYPES.find(({ type }) => type === 'webhook.registered');
  expect(JSON.stringify(registered)).toContain('eventTypes');
  for (const name of ['secret', 'headers']) expect(registered?.schema.properties).not.toHaveProperty(name);
  expect(JSON.stringify(EVENT_TYPES)).not.toContain('whsec_');
});

test('a position of the log is shown as a cursor', () => {
  const replay = EVENT_TYPES.find(({ type }) => type === 'webhook.replay_requested');
  expect(replay?.example).toMatchObject({ from: '6f9619ff-xc', to: '6f9619ff-15o' });
  expect(replay?.schema.properties).toMatchObject({
    to: { type: 'string' },
    missed: { anyOf: [{ properties: { since: { type: 'string' } } }, {}] },
  });
});
