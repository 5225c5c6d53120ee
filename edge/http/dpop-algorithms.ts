/** Asymmetric, and fast to verify; the authorization server accepts the same. */
export const DPOP_ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA'] as const;
