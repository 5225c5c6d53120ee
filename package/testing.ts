// The exports of `annals/testing` in the npm package, for Node's test runner and vitest; all but
// `describeDomain` works in any runner.
import './testing/dispose.ts';
import '#shared/needed/all.ts';

// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { ID, OWNER, rulesOf } from '#kernel/decide/given.ts';
export { type DescribeOptions, describeDomain } from './testing/describe-domain.ts';
export { startForTest } from './testing/for-test.ts';
export type { TestOptions, TestSystem } from './testing/test-system.ts';
