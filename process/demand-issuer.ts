import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves, type WithParts } from '#kernel/registry/parts.ts';
import type { Config } from './config.ts';

/** Without an authorization server of its own, an installation takes the tokens of another. */
export const demandIssuer = (
  domain: WithParts,
  { issuerUrl, publicUrl }: Pick<Config, 'issuerUrl' | 'publicUrl'>,
): void => {
  if (serves(domain, 'accounts') || issuerUrl !== new URL(publicUrl).origin) return;
  throw new StartRefused(
    'Nobody issues tokens for this installation: set ISSUER_URL to the address of an authorization server, or add accounts() to its parts.',
  );
};
