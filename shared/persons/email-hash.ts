import { createHmac } from 'node:crypto';
import { sameAddress } from '#kernel/base/same-address.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';

/**
 * The keyed hash that stands for an e-mail address that may not be kept in clear. It equals that of the
 * address's claim in the event log.
 */
export const createEmailHash = (masterKey: MasterKey): ((email: string) => string) => {
  const key = deriveKey(masterKey, 'email-claim');
  return (email) => createHmac('sha256', key).update(sameAddress(email)).digest('base64url');
};
