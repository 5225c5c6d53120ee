import { GraphQLError, Kind } from 'graphql';
import type { WrappedService } from './merge-schemas.ts';

/**
 * The subscriptions of composed services, by service. We do not serve them: our streams have our own log
 * only.
 */
export type ForeignSubscriptions = ReadonlyMap<string, string>;

export const foreignSubscriptionsOf = (services: readonly WrappedService[]): ForeignSubscriptions =>
  new Map(
    services.flatMap(({ name, schema }) =>
      Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).map((field) => [field, name]),
    ),
  );

/** If a document is invalid because it asks for one of them, puts that reason first. */
export const explainForeign = (
  errors: readonly GraphQLError[],
  foreign: ForeignSubscriptions,
): readonly GraphQLError[] => {
  for (const { nodes, message } of errors) {
    const [node] = nodes ?? [];
    const service =
      node?.kind === Kind.FIELD && message.includes('on type "Subscription"')
        ? foreign.get(node.name.value)
        : undefined;
    if (service === undefined || node?.kind !== Kind.FIELD) continue;
    const reason = `${node.name.value} is a subscription of ${service}. Subscriptions of composed services are not forwarded: subscribe at the service.`;
    return [
      new GraphQLError(reason, { nodes: [node], extensions: { code: 'subscription_elsewhere', service } }),
      ...errors,
    ];
  }
  return errors;
};
