import '#shared/rest/describing.ts';
import type { RequestHandler } from 'express';
import { answerDocument } from '#edge/pages/answer-document.ts';
import { EXAMPLE_CURSOR, formatCursor } from '#kernel/base/cursor.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { policyOf, scopeOf } from '#shared/policy.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { createJsonSchemas, type JsonSchemas } from '../openapi/json-schemas.ts';
import { allowsAnonymous, demandOf, securitySchemes } from '../openapi/security.ts';
import { yamlOf } from '../openapi/yaml.ts';
import { eventMessages, rowMessages } from './messages.ts';

export type AsyncApiOptions = {
  readonly domain: Domain;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
  readonly issuerUrl: string;
};

const SERVER = 'annals';

/**
 * All that this installation sends by itself, in AsyncAPI 3.0: made from the same operations and event
 * types as the other descriptions. `send` is what the installation does.
 */
export const asyncApiDocument = (options: AsyncApiOptions): JsonObject => {
  const { domain, publicUrl, issuerUrl } = options;
  const schemas = createJsonSchemas();
  const events = eventMessages(domain, schemas);
  const streams = Object.entries(operationsOf(domain)).flatMap(([id, operation]) =>
    operation.answer.isStreamed === undefined ? [] : [streamOf(id, operation, { domain, schemas, events })],
  );
  const all = [...streams, ...webhooksOf(domain, events), ...subscriptionsOf(domain)];
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Annals',
      version: packageJson.version,
      description: `The streams, webhooks and subscriptions of the backend for ${domain.name}. Requests are in /openapi.json.`,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: { [SERVER]: serverOf(publicUrl) },
    channels: Object.fromEntries(all.map(({ id, channel }) => [id, channel])),
    operations: Object.fromEntries(all.map(({ id, operation }) => [id, operation])),
    components: {
      messages: { ...events, ...Object.assign({}, ...streams.map(({ messages }) => messages)) },
      schemas: schemas.named(),
      securitySchemes: securitySchemesOf(domain, issuerUrl.replace(/\/$/, '')),
    },
  };
};

const serverOf = (publicUrl: string): JsonObject => {
  const { host, protocol, pathname } = new URL(publicUrl);
  return {
    host,
    protocol: protocol.slice(0, -1),
    ...(pathname !== '/' && { pathname: pathname.replace(/\/$/, '') }),
  };
};

type Messages = Readonly<Record<string, JsonObject>>;
type Described = { readonly id: string; readonly channel: JsonObject; readonly operation: JsonObject };

const refTo = (...path: readonly string[]): JsonObject => ({
  $ref: `#/${path.map((each) => each.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`,
});

const channelOf = (address: string | null, description: string, names: readonly string[]): JsonObject => ({
  address,
  description,
  ...(address !== null && { servers: [refTo('servers', SERVER)] }),
  messages: Object.fromEntries(names.map((name) => [name, refTo('components', 'messages', name)])),
});

type Streaming = { readonly domain: Domain; readonly schemas: JsonSchemas; readonly events: Messages };

/** A list that is also a stream of server-sent events. */
const streamOf = (
  id: string,
  { path, summary, right, query, answer }: RestOperation,
  { domain, schemas, events }: Streaming,
): Described & { readonly messages: Messages } => {
  const messages =
    answer.isStreamed === true || answer.schema === undefined
      ? events
      : rowMessages(id, answer.schema, schemas);
  const says = typeof answer.isStreamed === 'string' ? answer.isStreamed : OF_EVENTS;
  const policy = policyOf(domain);
  return {
    id,
    messages,
    channel: channelOf(path, `${summary}, as \`text/event-stream\`. ${says}`, Object.keys(messages)),
    operation: {
      action: 'send',
      channel: refTo('channels', id),
      summary,
      description: demandOf(policy, right),
      ...(right !== null &&
        !allowsAnonymous(policy, right) && { security: demanded(scopeOf(policy, right)) }),
      bindings: {
        http: { method: 'GET', ...(query && { query: schemas.of(query, 'input') }), bindingVersion: '0.3.0' },
      },
    },
  };
};

const OF_EVENTS =
  'Each message has one event as `data`, and its cursor as `id`: send it as `Last-Event-ID` or `after` to continue after it. `Accept: text/event-stream; format=cloudevents` requests CloudEvents 1.0, whose `data` is the same. A token without this scope may follow too: its events have ids alone, and no actor.';

const demanded = (scope: string): readonly JsonObject[] => [
  { ...refTo('components', 'securitySchemes', 'oauth'), scopes: [scope] },
];

/** AsyncAPI names scopes where they are demanded, and available ones otherwise than OpenAPI. */
const securitySchemesOf = (domain: Domain, issuerUrl: string): JsonObject =>
  JSON.parse(JSON.stringify(securitySchemes(domain, issuerUrl)), (key, value: unknown) =>
    isFlow(value)
      ? { ...value, scopes: undefined, availableScopes: value.scopes }
      : key === 'x-deviceAuthorization'
        ? undefined
        : value,
  ) as JsonObject;

const isFlow = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && 'tokenUrl' in value && 'scopes' in value;

const webhooksOf = (domain: Domain, events: Messages): readonly Described[] =>
  serves(domain, 'webhooks')
    ? [
        {
          id: 'webhooks',
          channel: channelOf(null, WEBHOOKS, Object.keys(events)),
          operation: {
            action: 'send',
            channel: refTo('channels', 'webhooks'),
            summary: 'Delivers an event to a webhook',
            bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
          },
        },
      ]
    : [];

const WEBHOOKS =
  'The address of a webhook, which its owner has registered. Each request has one event, without `actor`, and the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard Webhooks). A webhook with the `format` `cloudevents` or `cloudevents_binary` gets CloudEvents 1.0, in structured or binary mode, whose `data` is the same.';

/** Its messages have the fields that the client selects. */
const subscriptionsOf = (domain: Domain): readonly Described[] =>
  serves(domain, 'graphql')
    ? [
        {
          id: 'subscriptions',
          channel: {
            address: '/graphql',
            description: SUBSCRIPTIONS,
            servers: [refTo('servers', SERVER)],
            messages: { next: { name: 'next', payload: RESULT } },
          },
          operation: {
            action: 'send',
            channel: refTo('channels', 'subscriptions'),
            summary: 'Sends the results of a subscription of GraphQL',
            bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
          },
        },
      ]
    : [];

const SUBSCRIPTIONS =
  'Subscriptions of GraphQL, as `text/event-stream` (GraphQL over SSE). /graphql/schema.graphql has their types.';

const RESULT: JsonObject = {
  type: 'object',
  properties: {
    data: { type: ['object', 'null'], description: 'The fields that the subscription selects.' },
    errors: { type: 'array', items: { type: 'object' } },
  },
};

type Log = Pick<EventLog, 'identity'>;

const textOf = (options: AsyncApiOptions, { identity }: Log): string =>
  JSON.stringify(asyncApiDocument(options)).replaceAll(EXAMPLE_CURSOR, formatCursor(identity, START));

export const answerAsyncApi = (options: AsyncApiOptions, log: Log): RequestHandler =>
  answerDocument({ type: 'application/json', text: textOf(options, log) });

/** The same for people, and for tools that take YAML alone. */
export const answerAsyncApiInYaml = (options: AsyncApiOptions, log: Log): RequestHandler =>
  answerDocument({
    type: 'application/yaml',
    text: yamlOf(JSON.parse(textOf(options, log)) as JsonObject),
  });
