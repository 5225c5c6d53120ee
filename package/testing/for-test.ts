import type { Domain } from '#kernel/registry/registry.ts';
import type { TestOptions, TestSystem } from './test-system.ts';

/**
 * Starts the whole of a domain in this process: a port of its own, and a database of its own in the
 * PostgreSQL that all tests of a user share.
 */
export const startForTest = async <D extends Domain>(
  domain: D,
  options: TestOptions = {},
): Promise<TestSystem<D>> =>
  // The rules of deciders are tested without a line of it.
  (await import('./start-for-test.ts')).startSystem(domain, options);
