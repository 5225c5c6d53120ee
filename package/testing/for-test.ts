import type { Domain } from '#kernel/registry/registry.ts';
import type { TestOptions, TestSystem } from './test-system.ts';

/**
 * Starts a whole domain in this process: with a port of its own, and a database of its own in the PostgreSQL
 * that all tests of a user share.
 */
export const startForTest = async <D extends Domain>(
  domain: D,
  options: TestOptions = {},
): Promise<TestSystem<D>> =>
  // Loaded on demand, because tests of deciders need nothing of it.
  (await import('./start-for-test.ts')).startSystem(domain, options);
