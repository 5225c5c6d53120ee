/** Why no answer came, for the owner of the webhook: what happened, and nothing about our own network. */
export const failureInWords = (error: unknown): string => {
  for (const code of codesOf(error)) {
    const words = WORDS[code] ?? FAMILIES.find(([start]) => code.startsWith(start))?.[1];
    if (words !== undefined) return words;
  }
  return 'The request failed.';
};

/** Whether no receiver has to do with it: this process or machine has no more files, memory or buffers. */
export const isOurs = (error: unknown): boolean => codesOf(error).some((code) => EXHAUSTED.has(code));

const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

const WORDS: Readonly<Record<string, string>> = {
  INSIDE_ADDRESS: 'The name leads to an inside address, where nothing is sent.',
  ENOTFOUND: 'The name of the host was not found.',
  ENODATA: 'The name of the host has no address.',
  EAI_AGAIN: 'The name of the host could not be looked up.',
  ESERVFAIL: 'The name server of the host failed.',
  EREFUSED: 'The name server of the host refused to answer.',
  ETIMEOUT: 'The name server of the host did not answer in time.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was broken off.',
  EPIPE: 'The connection was broken off.',
  UND_ERR_SOCKET: 'The connection was closed before there was an answer.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  EADDRNOTAVAIL: 'The host cannot be reached.',
  ETIMEDOUT: 'The connection was not made in time.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection was not made in time.',
  HTTPParserError: 'The answer was no HTTP.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too long.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer has another length than it says.',
  UND_ERR_INVALID_ARG: 'The request cannot be made with these headers.',
  CERT_HAS_EXPIRED: 'The certificate of the host has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the host is for another name.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the host is signed by itself alone.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the host is not signed by a known authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate of the host is not signed by a known authority, or comes without those between.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the host is not signed by a known authority, or comes without those between.',
};

const FAMILIES: readonly (readonly [start: string, words: string])[] = [
  ['ERR_SSL', 'No secure connection could be made.'],
  ['ERR_TLS', 'No secure connection could be made.'],
  ['CERT_', 'The certificate of the host is not valid.'],
];

/** The codes, or else names, of the error, of what caused it, and of the attempts at several addresses that it stands for. */
const codesOf = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [error.name];
  const parts = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...own, ...parts, ...codesOf(error.cause)];
};
