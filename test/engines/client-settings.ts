import { publishing } from '#domain/publishing.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';

/** The settings of a client, with the scopes of publishing. */
export const { ClientSettings } = clientSettingsOf(publishing);
