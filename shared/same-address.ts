import { domainToUnicode } from 'node:url';

/**
 * Lower case and NFC, with the domain in Unicode, which browsers send in ASCII: what counts as the same
 * e-mail address. Hash this, with a key, where an address is a name of something.
 */
export const sameAddress = (email: string): string => {
  const address = email.normalize('NFC').toLowerCase().normalize('NFC');
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return INTERNATIONAL.test(domain) ? address.slice(0, at) + (domainToUnicode(domain) || domain) : address;
};

/** Others stay as they are: to a parser of URLs some of them would be numbers of hosts. */
const INTERNATIONAL = /\P{ASCII}|(?:^|\.)xn--/u;
