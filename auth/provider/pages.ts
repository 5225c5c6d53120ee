import type { Configuration } from 'oidc-provider';

type Features = NonNullable<Configuration['features']>;
type DeviceFlow = NonNullable<Features['deviceFlow']>;
type Logout = NonNullable<Features['rpInitiatedLogout']>;

/** Our pages in the place of those of oidc-provider. */
export type ProviderPages = {
  readonly userCodeInputSource: NonNullable<DeviceFlow['userCodeInputSource']>;
  readonly userCodeConfirmSource: NonNullable<DeviceFlow['userCodeConfirmSource']>;
  readonly successSource: NonNullable<DeviceFlow['successSource']>;
  readonly logoutSource: NonNullable<Logout['logoutSource']>;
  readonly postLogoutSuccessSource: NonNullable<Logout['postLogoutSuccessSource']>;
  readonly renderError: NonNullable<Configuration['renderError']>;
};
