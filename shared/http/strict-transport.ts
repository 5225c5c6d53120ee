import type { RequestHandler } from 'express';
import type { Config } from '#shared/config.ts';

/** A year. Not for other hosts of the same domain, which are not ours to speak for. */
const HEADER = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/**
 * Tells browsers to come by https alone from now on (RFC 6797), where that is how clients know this installation. Over plain http,
 * as behind a proxy that ends TLS, they do not listen. Not in development, where a host such as localhost has other ports as well.
 */
export const demandHttps = ({ environment, publicUrl }: Pick<Config, 'environment' | 'publicUrl'>): RequestHandler => {
  const isDemanded = environment === 'production' && publicUrl.startsWith('https:');
  return (_request, response, next) => {
    if (isDemanded) response.setHeader(...HEADER);
    next();
  };
};
