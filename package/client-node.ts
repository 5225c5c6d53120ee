// What the npm package exports as `annals/client/node`: what sessions of `annals/client` need of Node, and
// browsers do not have.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { tokenFile } from '../client/sign-in/token-file.ts';
