// The exports of `annals/client/sign-in` in the npm package: sessions for `annals/client`.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export {
  type BrowserSession,
  type BrowserSessionOptions,
  browserSession,
} from '../client/sign-in/browser/browser-session.ts';
export { type SignedIn, type SignIn, signIn } from '../client/sign-in/browser/sign-in.ts';
export { type ClientCredentials, clientCredentials } from '../client/sign-in/client-credentials.ts';
export { type DeviceSession, type DeviceSignIn, deviceSignIn } from '../client/sign-in/device.ts';
export type { DeviceCode } from '../client/sign-in/device-code.ts';
export type { TokenStore } from '../client/sign-in/token-store.ts';
