import type { Domain } from '#kernel/registry/registry.ts';
import { describeDomain as describeOn, type Options } from '../../testing/describe-domain/describe-domain.ts';
import { hostOf } from './host.ts';

type Served = {
  /** The file that exports the domain, as in `DOMAIN_FILE`; by default publishing. */
  readonly file?: string;
};

/** Everything that a domain guarantees, on an installation in processes as operators run it. */
export const describeDomain = (
  domain: Domain,
  { file = process.env.DOMAIN_FILE ?? '', ...options }: Options & Served = {},
): void => describeOn(hostOf(domain, file), domain, options);
