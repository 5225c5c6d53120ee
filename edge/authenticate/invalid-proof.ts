/** The reason why a proof of possession (DPoP) is invalid; clients may see its message. */
export class InvalidProof extends Error {
  readonly code = 'invalid_dpop_proof';
}
