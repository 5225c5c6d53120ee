import { type ClientAndSecret, hasSecret, type StoredClient, settingsOf } from '../storage/client.ts';

/** A client as administrators see it. Only the answer to the registration contains its secret. */
export const representationOf = ({
  client,
  secret,
  usedAt,
}: {
  client: StoredClient;
  secret?: ClientAndSecret['secret'];
  usedAt: Date | undefined;
}) => {
  const {
    clientId,
    serviceAccount = null,
    selfRegistered,
    createdAt,
    updatedAt,
    tokenEndpointAuthMethod,
  } = client;
  const self = `/clients/${encodeURIComponent(clientId)}`;
  return {
    clientId,
    ...(secret === undefined ? {} : { secret }),
    ...settingsOf(client),
    serviceAccount,
    selfRegistered,
    lastUsedAt: usedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    _links: {
      self: { href: self },
      ...(hasSecret(tokenEndpointAuthMethod) && { secret: { href: `${self}/secret`, method: 'POST' } }),
    },
  };
};
