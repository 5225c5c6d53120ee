import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { hasSigned } from '#kernel/registry/signed.ts';
import type { Config } from './config.ts';

/** Without an authorization server of its own, an installation takes the tokens of another. */
export const demandIssuer = (
  domain: Domain,
  { issuerUrl, publicUrl }: Pick<Config, 'issuerUrl' | 'publicUrl'>,
): void => {
  if (serves(domain, 'accounts')) return;
  if (hasSigned(domain))
    throw new StartRefused(
      'The domain has commands with `signed`, and persons sign on the pages of accounts(): add it to the parts, or remove `signed`.',
    );
  if (issuerUrl !== new URL(publicUrl).origin) return;
  throw new StartRefused(
    'Nobody issues tokens for this installation: set ISSUER_URL to the address of an authorization server, or add accounts() to its parts.',
  );
};
