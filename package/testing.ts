// What the npm package exports as `annals/testing`. None of it depends on a test runner.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { ID, OWNER, rulesOf } from '#kernel/decide/given.ts';
