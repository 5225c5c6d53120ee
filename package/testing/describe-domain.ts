import type { Domain } from '#kernel/registry/registry.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Options } from '../../testing/describe-domain/describe-domain.ts';
import { runner } from './runner.ts';

export type DescribeOptions = Options;

/**
 * Tests everything that a domain guarantees, for each of its aggregates, from the declaration alone: starts
 * all roles in this process, and tries every operation in every state as every kind of user. Runs in Node's
 * runner and in vitest.
 */
export const describeDomain = (declared: Domain, options: DescribeOptions = {}): void =>
  runner.describe(declared.name, async () => {
    // Loaded on demand, because tests of deciders need nothing of it.
    const { describeDomain: describeOn } = await loadEngine(
      'describeDomain',
      () => import('../../testing/describe-domain/describe-domain.ts'),
    );
    const { withoutSignatures } = await import('../../testing/describe-domain/without-signatures.ts');
    const { hostOf } = await import('./host.ts');
    const domain = withoutSignatures(declared);
    describeOn(
      { ...hostOf(domain), runner: { ...runner, describe: (_name, body) => void body() } },
      domain,
      options,
    );
  });
