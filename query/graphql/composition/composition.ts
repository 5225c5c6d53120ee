import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { createDocuments, type Documents } from '../documents/documents.ts';
import type { DocumentLimits } from '../documents/limits.ts';
import type { Execute } from '../execute.ts';
import { keepUp, type Member, openMember } from './members.ts';
import { mergeSchemas, SchemaConflict, type WrappedService } from './merge-schemas.ts';
import { openKnownSchemas, schemaOfSdl } from './service-schema.ts';
import { readServices } from './services.ts';
import { wrapService } from './wrap-service.ts';

export type CompositionOptions = {
  readonly domain: Domain;
  /** GRAPHQL_COMPOSE. */
  readonly setting: string;
  readonly dataDir: string;
  readonly schema: GraphQLSchema;
  /** Documents of our own schema. */
  readonly documents: Documents;
  readonly limits: DocumentLimits;
  readonly suggests: boolean;
  readonly log: Log;
  readonly clock: Clock;
  executorOf(schema: GraphQLSchema): Execute;
};

export type Composition = AsyncDisposable & {
  /**
   * Our own documents, if they suffice: an operation that needs no other service runs as if there were none.
   */
  readonly documents: Documents;
  /** True if the document asks for fields of other services, or for the schema. */
  has(document: DocumentNode): boolean;
  readonly execute: Execute;
  /** The merged schema. It changes with those of the services. */
  schemaNow(): GraphQLSchema;
};

/** Merges the schemas of other services with ours, and follows their changes. */
export const openComposition = async (options: CompositionOptions): Promise<Composition> => {
  const closing = new AbortController();
  const { dataDir, log, clock } = options;
  const following = { known: openKnownSchemas(dataDir), log, clock, signal: closing.signal };
  const members = await Promise.all(
    readServices(options.setting).map((service) => openMember(service, following)),
  );
  const executors = new WeakMap<DocumentNode, Execute>();
  let current = composeAtStart(options, members);
  const change = () => {
    current = compose(options, members);
  };
  const followed = members.map((member) => keepUp(member, change, following));
  return {
    documents: {
      prepare(text) {
        const own = options.documents.prepare(text);
        if ('document' in own && !own.introspects) return own;
        const prepared = current.documents.prepare(text);
        if (!('document' in prepared))
          return explainForeign(withoutSchemas(prepared, members), current.foreign);
        executors.set(prepared.document, current.execute);
        return prepared;
      },
    },
    has: (document) => executors.has(document),
    schemaNow: () => current.schema,
    execute(runnable, facts) {
      const execute = executors.get(runnable.prepared.document);
      if (execute === undefined) throw new Error('the document uses no composed service');
      return execute(runnable, facts);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all(followed);
    },
  };
};

type Current = {
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  readonly execute: Execute;
  readonly foreign: ForeignSubscriptions;
};

const compose = (
  { domain, schema, limits, suggests, log, executorOf }: CompositionOptions,
  members: readonly Member[],
): Current => {
  const known = members.flatMap((member) =>
    member.sdl === undefined ? [] : [{ ...member, schema: schemaOfSdl(member.sdl) }],
  );
  const services = known.map((each) => wrapService({ ...each, log }));
  const merged = mergeSchemas(schema, services);
  const documents = createDocuments({ domain, schema: merged, limits, suggests });
  return {
    schema: merged,
    documents,
    execute: executorOf(merged),
    foreign: foreignSubscriptionsOf(services),
  };
};

const composeAtStart: typeof compose = (options, members) => {
  try {
    return compose(options, members);
  } catch (cause) {
    // A GraphQLError means that a schema file is not valid SDL.
    const isTheirs = cause instanceof SchemaConflict || cause instanceof GraphQLError;
    throw isTheirs ? new StartRefused(`GRAPHQL_COMPOSE: ${cause.message}`, { cause }) : cause;
  }
};

/**
 * A document may be invalid only because the schema of a service is not known yet; then the errors say so.
 */
const withoutSchemas = (
  errors: readonly GraphQLError[],
  members: readonly Member[],
): readonly GraphQLError[] => {
  const unknown = members.filter(({ sdl }) => sdl === undefined).map(({ service }) => service.name);
  if (unknown.length === 0 || errors[0]?.extensions.code !== 'invalid_document') return errors;
  const message = `The types of ${unknown.join(', ')} are not known yet: the service has not answered.`;
  return [
    new GraphQLError(message, { extensions: { code: 'service_unavailable', services: unknown } }),
    ...errors,
  ];
};

/**
 * The subscriptions of composed services, by service. We do not serve them: our streams have our own log
 * only.
 */
type ForeignSubscriptions = ReadonlyMap<string, string>;

const foreignSubscriptionsOf = (services: readonly WrappedService[]): ForeignSubscriptions =>
  new Map(
    services.flatMap(({ name, schema }) =>
      Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).map((field) => [field, name]),
    ),
  );

/** The nodes of a document that is not kept are not known any more. */
const UNKNOWN_SUBSCRIPTION = /^Cannot query field "(\w+)" on type "Subscription"/;

/** If a document is invalid because it asks for one of them, puts that reason first. */
const explainForeign = (
  errors: readonly GraphQLError[],
  foreign: ForeignSubscriptions,
): readonly GraphQLError[] => {
  for (const { message, source, positions } of errors) {
    const [, field = ''] = UNKNOWN_SUBSCRIPTION.exec(message) ?? [];
    const service = foreign.get(field);
    if (service === undefined) continue;
    const reason = `${field} is a subscription of ${service}. Subscriptions of composed services are not forwarded: subscribe at the service.`;
    return [
      new GraphQLError(reason, {
        ...{ source, positions },
        extensions: { code: 'subscription_elsewhere', service },
      }),
      ...errors,
    ];
  }
  return errors;
};
