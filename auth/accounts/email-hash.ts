import { createHmac } from 'node:crypto';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { sameAddress } from '#shared/same-address.ts';

/**
 * The name of an e-mail address where it may not be kept in clear: the same as that of its claim in the event
 * log.
 */
export const createEmailHash = (masterKey: MasterKey): ((email: string) => string) => {
  const key = deriveKey(masterKey, 'email-claim');
  return (email) => createHmac('sha256', key).update(sameAddress(email)).digest('base64url');
};
