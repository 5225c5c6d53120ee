import { RenameRootFields, RenameTypes, wrapSchema } from '@graphql-tools/wrap';
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { Log } from '#shared/log.ts';
import type { Context } from '../resolvers/context.ts';
import type { AskService, ServiceRequest } from './ask-service.ts';
import type { WrappedService } from './merge-schemas.ts';
import type { Service } from './services.ts';

type Wrapped = {
  readonly service: Service;
  readonly ask: AskService;
  readonly schema: GraphQLSchema;
  readonly log: Log;
};

/**
 * A service as an executable schema. Root fields of one operation that run at the same time become one
 * request.
 */
export const wrapService = ({ service, ask, schema, log }: Wrapped): WrappedService => {
  const { name, prefix } = service;
  const askOrSay = (request: ServiceRequest): Promise<ExecutionResult> =>
    ask(request).catch((cause: unknown) => {
      const { requestId, trace } = request.facts ?? {};
      if (!request.signal.aborted)
        log.warn(
          { err: cause, service: name, requestId, traceId: traceIdOf(trace) },
          'A composed service did not answer.',
        );
      throw serviceUnavailable(name);
    });
  const renamed = [
    new RenameTypes((type) => `${prefix}${type}`),
    new RenameRootFields((_operation, field) => `${prefix}${field}`),
  ];
  const wrapped = wrapSchema({
    schema,
    batch: true,
    transforms: prefix === '' ? [] : renamed,
    executor({ document, variables, operationName, context }) {
      const { facts } = context as unknown as Context;
      // graphql-tools declares types of its own for results.
      return askOrSay({ document, variables, operationName, facts, signal: facts.signal }) as never;
    },
  });
  return { name, schema: wrapped };
};

const serviceUnavailable = (service: string): GraphQLError =>
  new GraphQLError(`The service ${service} is unavailable.`, {
    extensions: { code: 'service_unavailable', service },
  });
