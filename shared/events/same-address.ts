/** Lower case and NFC: what counts as the same e-mail address. Hash this, with a key, where an address is a name of something. */
export const sameAddress = (email: string): string => email.normalize('NFC').toLowerCase().normalize('NFC');
