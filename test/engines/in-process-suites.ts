/**
 * The end-to-end suites that do not go through an installation, and why; all others run in copies as well.
 * `npm run test:engines` prints them, and `test/topologies.test.ts` holds this list to what the suites do.
 */
export const IN_PROCESS_SUITES: Readonly<Record<string, string>> = {
  'account-consent': 'reads the events of sign-ins out of the log',
  'account-device': 'comes from many addresses, which the ingress takes over from no client',
  'account-guessing': 'comes from many addresses, which the ingress takes over from no client',
  'account-sign-in': 'comes from many addresses, which the ingress takes over from no client',
  'account-sign-out': 'reads the events of sign-outs out of the log',
  'account-sign-up': 'comes from many addresses, which the ingress takes over from no client',
  'auth-device': 'turns the clock of polling forward in the database',
  'auth-dpop': 'holds two servers against each other',
  'auth-introspection': 'holds two servers against each other, and signs with the server’s own key',
  'auth-keys': 'turns the clock of signing keys forward in the database',
  'auth-mutual-tls': 'speaks as an ingress itself, truly and falsely',
  'auth-outage': 'stops one server under another',
  'auth-races': 'holds transactions open in the database',
  'auth-role': 'starts single roles itself',
  'auth-token': 'reads the events of tokens out of the log',
  'auth-user-info': 'holds two servers against each other',
  'disk-full': 'fills the disk of one process',
  'first-minute': 'is about the first start of one process',
  ingress: 'is about the ingress before roles that only echo',
  'ingress-routes': 'is about the ingress before roles that only echo',
  readiness: 'starts single roles itself, and takes away what they need in the database',
  'resource-server': 'holds two servers against each other',
  run: 'is about the life of a process',
  start: 'is about the start of one process',
  'start-database': 'is about the start of one process',
  'webhooks-queue-broken': 'takes the queue away in the database',
  workers: 'is about the processes of one start',
};

/** What goes through an installation, but only where all of it is in PostgreSQL, and why. */
export const EMBEDDED_SUITES: Readonly<Record<string, string>> = {
  'erasure-restored': 'restores a backup of the database, in which the log is',
};
