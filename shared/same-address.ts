import { domainToUnicode } from 'node:url';

/**
 * The normal form of an e-mail address: lower case and NFC, with the domain in Unicode, which browsers send
 * in ASCII. To use an address as a key, hash this with a secret.
 */
export const sameAddress = (email: string): string => {
  const address = email.normalize('NFC').toLowerCase().normalize('NFC');
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return INTERNATIONAL.test(domain) ? address.slice(0, at) + (domainToUnicode(domain) || domain) : address;
};

/** Others stay as they are: a URL parser would take some of them for IP addresses. */
const INTERNATIONAL = /\P{ASCII}|(?:^|\.)xn--/u;
