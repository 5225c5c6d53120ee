// What the npm package exports as `annals/testing`. None of it depends on a test runner.
import './dispose.ts';

// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { ID, OWNER, rulesOf } from '#kernel/decide/given.ts';
export { startForTest, type TestOptions, type TestSystem } from './testing/for-test.ts';
