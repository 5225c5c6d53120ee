import { publishing } from '#domain/publishing.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';

/** What an administrator decides about a client, by the scopes of publishing. */
export const { ClientSettings } = clientSettingsOf(publishing);
