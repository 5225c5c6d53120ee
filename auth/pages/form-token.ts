import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';

/**
 * The token of a form, bound to a secret of the browser that asked for the form: the interaction's or the
 * form's cookie. It is a keyed digest of both, so nothing is stored.
 */
export type FormTokens = {
  issue(form: FormName, boundTo: readonly string[]): string;
  verify(token: string, form: FormName, boundTo: readonly string[]): boolean;
};

/** A token of one form is useless in another. */
type FormName = 'sign-in' | 'sign-up' | 'confirm-sign-up' | 'consent' | 'account' | 'reset' | 'invited';

export const createFormTokens = (masterKey: MasterKey): FormTokens => {
  const key = deriveKey(masterKey, 'form-token');
  const digest = (form: FormName, boundTo: readonly string[]): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([form, ...boundTo]))
      .digest();
  return {
    issue: (form, boundTo) => digest(form, boundTo).toString('base64url'),
    verify(token, form, boundTo) {
      const given = Buffer.from(token, 'base64url');
      const expected = digest(form, boundTo);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
};
