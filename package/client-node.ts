// The exports of `annals/client/node` in the npm package: parts of sessions that need Node and do not exist
// in browsers.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { tokenFile } from '../client/sign-in/token-file.ts';
