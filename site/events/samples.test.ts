import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { execute, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { EVENT_OPERATIONS } from '#shared/rest/event-operations.ts';
import { describeEventType, EXAMPLE_LOG } from '../../query/event-types/event-types.ts';
import { callerIn, POLICY } from '../../test/engines/policy.ts';
import { schema } from '../../test/engines/schema.ts';
import { createComposer } from '../../webhook-dispatcher/deliver/body.ts';
import type { Outgoing } from '../../webhook-dispatcher/deliver/delivery.ts';
import { shownGraphql } from '../graphql/shown.ts';
import { changeOf, sampleOf } from './samples.ts';

const validator = new Ajv2020({ formats: { 'date-time': true, email: true, uri: true, uuid: true } });
const catalogue = catalogueOf(publishing);
const told = catalogue.definitions.filter(({ visibility }) => visibility === 'public');

test.each(catalogue.definitions)(
  'the example of $type equals its golden fixture, and fits the schema on the page',
  (definition) => {
    const { type } = definition;
    const fixture = new URL(
      `../../shared/events/golden/${type}.v${definition.version}.json`,
      import.meta.url,
    );
    const { decoded } = JSON.parse(readFileSync(fixture, 'utf8')) as { decoded: JsonObject };
    expect(decoded).toEqual(definition.example);
    const described = describeEventType(definition);
    expect(validator.validate(described.schema, described.example), JSON.stringify(validator.errors)).toBe(
      true,
    );
  },
);

describe.each(told)('$type as clients get it', (definition) => {
  const { type } = definition;

  test('the message of the stream matches the OpenAPI document', async () => {
    const { message } = await sampleOf(definition, POLICY);
    const [, id, data = ''] = /^id: (\S+)\ndata: (.+)$/.exec(message ?? '') ?? [];
    const event = EVENT_OPERATIONS.listEvents.answer.schema.parse(JSON.parse(data));
    expect(event).toMatchObject({ type, cursor: id, data: describeEventType(definition).example });
  });

  test('the subscription and its result match the GraphQL schema', async () => {
    const { byGraphql } = await sampleOf(definition, POLICY, shownGraphql);
    const { subscription = '', result } = byGraphql ?? {};
    const document = parse(subscription);
    expect(validate(schema, document)).toEqual([]);
    const answer = await execute({ schema, document, rootValue: result?.data });
    expect(JSON.parse(JSON.stringify(answer))).toEqual(result);
  });

  test.each(['thin', 'full'] as const)('to a webhook, %s, is what the dispatcher sends', async (payload) => {
    const { example } = describeEventType(definition);
    const compose = createComposer({
      domain: publishing,
      log: { identity: EXAMPLE_LOG },
      open: async () => example,
      isReadable: async () => true,
      isParked: async () => false,
      publicUrl: 'https://annals.example',
    });
    const owner = callerIn(POLICY, { userId: 7_000, role: 'admin' }, ['read:events', 'read:users']);
    const change = changeOf(definition, example);
    const composed = await compose({
      delivery: { change, shape: null },
      endpoint: { payload, format: 'annals' },
      owner,
    } as unknown as Outgoing);
    expect(composed.kind === 'body' && composed.bytes.toString()).toBe(
      (await sampleOf(definition, POLICY)).byWebhook?.[payload],
    );
  });
});
