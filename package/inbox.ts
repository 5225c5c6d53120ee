// The exports of `annals/inbox` in the npm package: the declaration of senders, for domains that have some.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { message, sender } from '#kernel/sender/sender.ts';
