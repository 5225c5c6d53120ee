import { domainToUnicode } from 'node:url';

/**
 * The normal form of an e-mail address: lower case and NFC, with the domain in Unicode, which browsers send
 * in ASCII. To use an address as a key, hash this with a secret. Addresses with the same form are one mailbox.
 */
export const sameAddress = (email: string): string => formOf(email, 'NFC');

/**
 * The form that an address shares with those that look like it, such as in full-width letters (NFKC). They may
 * be other mailboxes, so this decides only whether an address is taken, and never where mail goes.
 */
export const lookAlikeAddress = (email: string): string => formOf(email, 'NFKC');

const formOf = (email: string, form: 'NFC' | 'NFKC'): string => {
  const address = email.normalize(form).toLowerCase().normalize(form);
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return INTERNATIONAL.test(domain) ? address.slice(0, at) + (domainToUnicode(domain) || domain) : address;
};

/** Others stay as they are: a URL parser would take some of them for IP addresses. */
const INTERNATIONAL = /\P{ASCII}|(?:^|\.)xn--/u;
