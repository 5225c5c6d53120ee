import * as z from 'zod';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain, EventInfo, Kind } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { policyOf } from '#shared/policy.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { subgraphSdlOf } from '../../../query/graphql/federation/sdl.ts';
import { createJsonSchemas, type JsonSchemas } from '../../../query/openapi/json-schemas.ts';
import type { Alternatives } from '../meaning/alternatives.ts';
import {
  compositesOf,
  partsReportOf,
  personalReadsOf,
  type RightReport,
  rightsReportOf,
} from '../meaning/rights.ts';
import { type KindRules, rulesOf, unlessEmpty } from './rules.ts';
import { type ViewContracts, viewContracts } from './views.ts';

/** The stored form of events of a type. */
export type EventContract = {
  readonly version: number;
  readonly visibility: 'public' | 'internal';
  readonly stream: EventDefinition['stream'];
  /** Its effect on the aggregate, and the initial values; the kernel’s own events have none. */
  readonly does?: JsonObject;
  readonly personal: EventDefinition['personal'];
  readonly schema: JsonObject;
  /** Values of fields that older stored events lack. */
  readonly absent?: JsonObject;
  readonly example: JsonObject;
};

export type OperationContract = {
  readonly id: string;
  /** Older contracts may lack it. */
  readonly right?: string | null;
  readonly query?: JsonObject;
  readonly body?: Readonly<Record<string, JsonObject>>;
  /** Whether the body may be omitted. */
  readonly isBodyOptional?: true;
  readonly answer: { readonly status: number; readonly kind: string; readonly schema?: JsonObject };
  readonly refusals?: readonly string[];
};

/** Everything that clients, stored events and tokens rely on, derived from the declaration alone. */
export type Contract = {
  readonly events: Readonly<Record<string, EventContract>>;
  /** By method and path; named schemas are stored once. */
  readonly operations: {
    readonly operations: Readonly<Record<string, OperationContract>>;
    readonly schemas: Readonly<Record<string, JsonObject>>;
  };
  readonly rights: {
    /** The version of the format of all files. */
    readonly format: number;
    readonly domain: string;
    /** The role of new users; older contracts lack it. */
    readonly signUp?: string;
    readonly scopes: readonly string[];
    readonly rights: Readonly<Record<string, RightReport>>;
    /** Commands, invariants, limits, reactions and timers, by aggregate; older contracts lack it. */
    readonly rules?: Readonly<Record<string, KindRules>>;
    /** The parts of composite conditions, by their words; older contracts lack it. */
    readonly conditions?: Readonly<Record<string, Alternatives>>;
    /** The definitions of views; older contracts lack it. */
    readonly views?: ViewContracts;
    /** The fields that rights to parts cover, by right; older contracts lack it. */
    readonly parts?: Readonly<Record<string, readonly string[]>>;
    /** The right that guards each personal field. */
    readonly personal: Readonly<Record<string, string>>;
  };
  /** SDL, as `annals graphql schema` prints it. */
  readonly schema: string;
};

/** Increment it if a release that reads this number could not read the new format. */
export const FORMAT = 1;

export const contractOf = (domain: Domain): Contract => {
  const { definitions } = catalogueOf(domain);
  const declared = new Map(
    Object.values(domain.kinds).flatMap((kind) =>
      Object.values(kind.events).map((event) => [event.type, [kind, event] as const] as const),
    ),
  );
  return {
    events: Object.fromEntries(
      definitions.map((definition) => [
        definition.type,
        eventContract(definition, declared.get(definition.type)),
      ]),
    ),
    operations: operationContracts(domain),
    rights: {
      format: FORMAT,
      domain: domain.name,
      signUp: domain.signUp,
      scopes: policyOf(domain).scopes,
      rights: rightsReportOf(domain),
      personal: personalReadsOf(domain),
      parts: partsReportOf(domain),
      rules: rulesOf(domain),
      ...unlessEmpty('conditions', compositesOf(domain)),
      ...unlessEmpty('views', viewContracts(domain)),
    },
    schema: subgraphSdlOf(domain),
  };
};

const eventContract = (
  definition: EventDefinition,
  declared: readonly [Kind, EventInfo] | undefined,
): EventContract => {
  const { version, visibility, stream, personal, schema, absent, example } = definition;
  return {
    version,
    visibility,
    stream,
    ...(declared && { does: doingOf(...declared) }),
    personal,
    schema: jsonSchemaOf(schema),
    ...(absent && Object.keys(absent).length > 0 && { absent }),
    example,
  };
};

const doingOf = (kind: Kind, event: EventInfo): JsonObject => {
  const { effect, list, item, sets, computes } = event;
  const initial = initialOf(kind, event);
  const code = (_: string, value: unknown) =>
    typeof value === 'function' ? String(value).replaceAll(/\s+/g, ' ') : value;
  return JSON.parse(
    JSON.stringify(
      {
        effect,
        list: list?.name,
        sets,
        ...(computes.length > 0 && { computes }),
        ...(Object.keys(item?.sets ?? {}).length > 0 && { setsOfItem: item?.sets }),
        ...(Object.keys(initial).length > 0 && { initial }),
      },
      code,
    ),
  );
};

/** The initial values of an aggregate that its creation does not set. */
const initialOf = ({ fields, identity, derived }: Kind, { effect, values, sets }: EventInfo): JsonObject => {
  if (effect !== 'creates') return {};
  const said = new Set([...identity, ...values, ...Object.keys(sets), ...derived.map(({ name }) => name)]);
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, def]) =>
      said.has(name) ? [] : [[name, (def.initial ?? null) as Json]],
    ),
  );
};

const jsonSchemaOf = (schema: z.ZodType): JsonObject => JSON.parse(JSON.stringify(z.toJSONSchema(schema)));

const operationContracts = (domain: Domain): Contract['operations'] => {
  const schemas = createJsonSchemas();
  const operations = Object.entries(operationsOf(domain)).map(
    ([id, operation]) =>
      [`${operation.method} ${operation.path}`, operationContract(id, operation, schemas)] as const,
  );
  return { operations: Object.fromEntries(operations), schemas: schemas.named() };
};

const operationContract = (
  id: string,
  { right, query, body, isBodyOptional, answer, refusals }: RestOperation,
  schemas: JsonSchemas,
): OperationContract => ({
  id,
  right,
  ...(query && { query: schemas.of(query, 'input') }),
  ...(body && {
    body: Object.fromEntries(
      Object.entries(body).map(([type, schema]) => [type, schemas.of(schema, 'input')]),
    ),
  }),
  ...(isBodyOptional && { isBodyOptional }),
  answer: {
    status: answer.status,
    kind: answer.kind,
    ...(answer.schema && { schema: schemas.of(answer.schema, 'output') }),
  },
  ...(refusals && refusals.length > 0 && { refusals: [...new Set(refusals)] }),
});
