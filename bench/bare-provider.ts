import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

// oidc-provider alone, with its own memory storage, configured for the same task: client credentials for one
// resource, JWTs signed by ES256.
const RESOURCE = 'http://localhost/';
const { privateKey } = await generateKeyPair('ES256', { extractable: true });

const provider = new Provider('http://localhost', {
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'bench', alg: 'ES256', use: 'sig' }] },
  clients: [
    {
      client_id: 'bench',
      client_secret: 'bench-secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  routes: { token: '/token' },
  responseTypes: ['code'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      getResourceServerInfo: () => ({
        scope: 'read:articles write:articles',
        audience: RESOURCE,
        accessTokenTTL: 300,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});

const server = provider.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    clientId: 'bench',
    secret: 'bench-secret',
  });
});
