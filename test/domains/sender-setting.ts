/** The setting with the secrets of every generated sender. */
export const SECRETS_SETTING = 'SERVICE_SECRETS';
