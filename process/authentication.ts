import { fetchKeys } from '#edge/authenticate/keys.ts';
import { openResourceServer, type ResourceServer } from '#edge/authenticate/resource-server.ts';
import type { Foundation } from './foundation.ts';
import type { ProcessContext } from './run.ts';

/** Identifies callers by tokens of ISSUER_URL, with the keys at JWKS_URL. */
export const openAuthentication = async (
  { config, log, resources }: ProcessContext,
  foundation: Foundation,
): Promise<ResourceServer> => {
  const { issuerUrl: issuer, publicUrl: audience, ingressSecret } = config;
  const loadKeys = fetchKeys(config.jwksUrl);
  return resources.use(
    await openResourceServer({ ...foundation, log, issuer, audience, ingressSecret, loadKeys }),
  );
};
