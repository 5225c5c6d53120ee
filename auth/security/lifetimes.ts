import { ACCESS_TOKEN_LIFETIME_S } from '#edge/authenticate/revocations.ts';

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** How long each thing lives, by oidc-provider's names. */
export const LIFETIMES_S = {
  AuthorizationCode: MINUTE_S,
  AccessToken: ACCESS_TOKEN_LIFETIME_S,
  ClientCredentials: ACCESS_TOKEN_LIFETIME_S,
  /** Each use issues a new one, so this is how long a client may be idle. */
  RefreshToken: 30 * DAY_S,
  DeviceCode: 10 * MINUTE_S,
  IdToken: HOUR_S,
  Interaction: HOUR_S,
  Session: 14 * DAY_S,
  /** Limits a chain of refresh tokens: after this the user is asked again. */
  Grant: 365 * DAY_S,
} as const;

export const DEVICE_INTERVAL_S = 5;
/** The seconds by which a device that polls too fast must slow down from then on (RFC 8628, section 3.5). */
export const DEVICE_SLOW_DOWN_S = 5;
