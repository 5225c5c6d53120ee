import { Rejection } from '#kernel/base/rejection.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import type { Clients } from '../clients/clients.ts';
import type { StoredClient } from '../storage/client.ts';

export const SIGNED_IN_PATH = '/account/signed-in';

/**
 * The account pages as a client of the sign-in, in no table and no list. The code that it gets is useless,
 * because nobody has the verifier: the pages need only the session that the sign-in opened.
 */
export const withAccountClient = (clients: Clients, issuerUrl: string): Clients => {
  const client = accountClient(issuerUrl);
  return {
    ...clients,
    find: async (clientId) => (clientId === ACCOUNT_CLIENT_ID ? client : clients.find(clientId)),
    verifySecret: async (clientId, secret) =>
      clientId !== ACCOUNT_CLIENT_ID && clients.verifySecret(clientId, secret),
    async register(wanted, by) {
      if (wanted.clientId === ACCOUNT_CLIENT_ID) throw new Rejection('client_id_taken');
      return clients.register(wanted, by);
    },
  };
};

const ALWAYS = new Date(0);

const accountClient = (issuerUrl: string): StoredClient => ({
  clientId: ACCOUNT_CLIENT_ID,
  name: 'your account',
  tokenEndpointAuthMethod: 'none',
  grantTypes: ['authorization_code'],
  redirectUris: [`${issuerUrl}${SIGNED_IN_PATH}`],
  postLogoutRedirectUris: [],
  scopes: ['openid'],
  defaultScopes: ['openid'],
  firstParty: true,
  requireDpop: false,
  requirePar: false,
  disabled: false,
  selfRegistered: false,
  version: 1,
  createdAt: ALWAYS,
  updatedAt: ALWAYS,
});
