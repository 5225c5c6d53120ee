import { takesPreference } from '#edge/rest/writes/preference.ts';
import { CURSOR_PATTERN, EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { hasEntityTag, isOfLog, type RestOperation } from '#kernel/base/rest/operation.ts';
import { SIGNATURE_HEADER } from '#kernel/base/signature.ts';
import type { JsonSchemas } from './json-schemas.ts';

const TAGS_PATTERN = '^(\\*|(W/)?"[^"]*"(, *(W/)?"[^"]*")*)$';

/** The optional headers of requests, each defined once in the document. */
export const HEADER_PARAMETERS = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The ETag of a read or a write of the item. If the item has another version by now, nothing changes and nothing is read (412). If there are several, one must match.',
    schema: { type: 'string', pattern: TAGS_PATTERN, examples: ['"3-q83vEjRWeJCrze8S"'] },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The ETag of the version that you have. If it is still current, a read returns 304. For a change: if the item has that version, or any with `*`, nothing changes (412).',
    schema: { type: 'string', pattern: TAGS_PATTERN, examples: ['"3-q83vEjRWeJCrze8S"'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A key of your choice. For 24 hours, the same request with the same key runs once and gets the same response. A refused request leaves the key free.',
    schema: {
      type: 'string',
      pattern: '^[\\x21-\\x7e]{1,255}$',
      examples: ['0b7c1f3e-6a0c-4a52-9d0b-8f0f6a2d9c11'],
    },
  },
  ConsistencyToken: {
    name: 'Consistency-Token',
    in: 'header',
    description:
      'The token of the response to a write. The read waits up to 5 seconds until it sees that write.',
    schema: { type: 'string', pattern: CURSOR_PATTERN, examples: [EXAMPLE_CURSOR] },
  },
  Reason: {
    name: 'Reason',
    in: 'header',
    description:
      'Why, in one line of at most 500 characters: UTF-8 in percent-encoding. History and events show it to everyone who may read them, and it is not erased with a person, so name nobody in it.',
    schema: { type: 'string', minLength: 1, examples: ['Requested%20by%20the%20customer'] },
  },
  ElectronicSignature: {
    name: SIGNATURE_HEADER,
    in: 'header',
    description:
      'The signature of the caller: the `request` in the details of the refusal `signature_required`, after the person has signed at its `href`.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'The preferred response to the write (RFC 7240). `return=minimal`: 204 instead of 200 with a body, or only the id of a new item. `return=representation`: the item as GET returns it, if you may read it. `Preference-Applied` in the response confirms it.',
    schema: { type: 'string', examples: ['return=representation', 'return=minimal'] },
  },
} as const satisfies Record<string, JsonObject>;

type HeaderParameter = keyof typeof HEADER_PARAMETERS;

/** The parameters of a request, besides its body. */
export const parametersOf = (
  operation: RestOperation,
  schemas: JsonSchemas,
  requireIfMatch: boolean,
): readonly JsonObject[] => [
  ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => idInPath(name, operation, schemas)),
  ...queryParameters(operation, schemas),
  ...headersOf(operation).map((header) =>
    headerParameter(header, requireIfMatch && isOfLog(operation) && operation.method !== 'GET'),
  ),
  ...(operation.reason === undefined ? [] : [reasonParameter(operation.reason)]),
  ...(operation.isSigned ? [{ $ref: '#/components/parameters/ElectronicSignature' }] : []),
  ...(operation.takesFileName ? [FILE_NAME] : []),
];

const FILE_NAME: JsonObject = {
  name: 'Content-Disposition',
  in: 'header',
  description: 'The name of the file (RFC 6266), which readers get with it, as far as it is safe.',
  schema: { type: 'string', examples: ['attachment; filename="receipt.pdf"'] },
};

const idInPath = (name: string, { parameters }: RestOperation, schemas: JsonSchemas): JsonObject => {
  const own = parameters?.[name];
  return {
    name,
    in: 'path',
    required: true,
    schema:
      own === undefined
        ? (IN_PATH[name] ?? ID)
        : ({ examples: [own.example], ...schemas.of(own.schema, 'input') } as JsonObject),
  };
};

const ID: JsonObject = {
  type: 'integer',
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [8001],
};
const UUID: JsonObject = {
  type: 'string',
  format: 'uuid',
  examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'],
};
const STREAM: JsonObject = {
  type: 'string',
  pattern: '^[a-z][A-Za-z0-9]{0,39}-[\\w-]{1,100}$',
  examples: ['user-7001'],
};
const CLIENT: JsonObject = {
  type: 'string',
  pattern: '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$',
  examples: ['importer'],
};
const TOKEN: JsonObject = { type: 'string', pattern: '^[\\w-]{1,50}$', examples: ['k3J9x2PqLm0a'] };
const IN_PATH: Readonly<Record<string, JsonObject>> = {
  clientId: CLIENT,
  tokenId: TOKEN,
  sessionId: TOKEN,
  invitationId: TOKEN,
  deliveryId: UUID,
  replayId: UUID,
  eventId: UUID,
  orderId: UUID,
  stream: STREAM,
};

type Properties = {
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
};

const queryParameters = ({ query }: RestOperation, schemas: JsonSchemas): readonly JsonObject[] => {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(query, 'input') as Properties;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    required: required.includes(name),
    schema,
  }));
};

const headersOf = (operation: RestOperation): readonly HeaderParameter[] => {
  const { method, answer } = operation;
  if (answer.kind === 'sent') return [];
  if (!isOfLog(operation)) {
    if (method === 'GET') return ['IfMatch', 'IfNoneMatch'];
    return [
      'IdempotencyKey',
      ...(method === 'POST' || operation.isUnversioned ? [] : (['IfMatch'] as const)),
    ];
  }
  if (method === 'GET')
    return [...(hasEntityTag(operation) ? (['IfMatch'] as const) : []), 'IfNoneMatch', 'ConsistencyToken'];
  const conditions =
    (answer.status === 201 && !answer.isOfItem) || answer.kind === 'order'
      ? []
      : (['IfMatch', 'IfNoneMatch'] as const);
  return ['IdempotencyKey', ...conditions, ...(takesPreference(answer) ? (['Prefer'] as const) : [])];
};

const reasonParameter = (reason: 'required' | 'optional'): JsonObject =>
  reason === 'required'
    ? { ...HEADER_PARAMETERS.Reason, required: true }
    : { $ref: '#/components/parameters/Reason' };

/** A reference, except for If-Match, which the settings may require. */
const headerParameter = (header: HeaderParameter, requireIfMatch: boolean): JsonObject =>
  header === 'IfMatch' && requireIfMatch
    ? { ...HEADER_PARAMETERS.IfMatch, required: true }
    : { $ref: `#/components/parameters/${header}` };
